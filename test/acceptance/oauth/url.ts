/** Tests of the URL at which a user connects an account or chooses items, and of connections by credentials. */
import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';

import type { DataSourceRecord, FileRecord } from '../../../contract/files/records.js';
import { isConnectedSource } from '../../../contract/sources/connectedSources.js';
import { OAUTH_SOURCES } from '../../../contract/accounts/whiteLabel.js';
import { apiClient, type Listed, type TestUser } from '../../support/client.js';
import { consentTo, openPage } from '../../support/consent.js';
import { thoroughRows } from '../../support/thorough.js';
import { waitFor } from '../../support/waitFor.js';
import { drive, OWN_CLIENT, OWN_SECRET, service } from './service.js';

export const testOAuthUrl = (): void =>
  describe('connecting by a URL or by credentials', () => {
    let user: TestUser;
    let customers = 0;

    beforeEach(async () => {
      customers += 1;
      user = await service.user(`asker ${customers}`);
    });

    interface UrlAnswer {
      readonly oauth_url: string;
      readonly detail?: unknown;
    }
    const requestUrl = (body: Record<string, unknown> = {}) =>
      user.post<UrlAnswer>('/integrations/oauth_url', { service: 'GOOGLE_DRIVE', ...body });
    const urlFor = async (body: Record<string, unknown> = {}): Promise<URL> => {
      const answer = await requestUrl(body);
      expect(answer).toMatchObject({ status: 200 });
      return new URL(answer.body.oauth_url);
    };
    const sources = async (): Promise<DataSourceRecord[]> =>
      (await user.post<Listed<DataSourceRecord>>('/user_data_sources', { order_by: 'created_at' })).body.results;
    const connect = async (person = 'ada@harbour.example'): Promise<DataSourceRecord> => {
      await consentTo((await urlFor({ connecting_new_account: true, sync_source_items: false })).href, { person });
      return (await sources()).at(-1)!;
    };
    const isConsent = (url: URL): boolean => url.searchParams.get('response_type') === 'code';
    const isPicker = (url: URL): boolean => url.href.startsWith(`${service.url}/connections/`);

    test('refuses sources of the contract that this version cannot connect', async () => {
      for (const name of OAUTH_SOURCES.filter((source) => !isConnectedSource(source)))
        expect(await requestUrl({ service: name, zendesk_subdomain: 'harbour' })).toMatchObject({ status: 400 });
    });

    // test/system/sources/rows/connectionOptions.ts tests the fields and provider requests of each source.
    test('refuses unknown sources', async () => {
      for (const name of ['GITBOOK', 'WEB_SCRAPE', 'google', null])
        expect(await requestUrl({ service: name })).toMatchObject({ status: 422 });
    });

    describe('returned URL', () => {
      test('is 404 for a data_source_id that is unknown, foreign or of another service', async () => {
        const { id } = await connect();
        expect(await requestUrl({ data_source_id: id + 1_000_000 })).toMatchObject({ status: 404 });
        expect(await requestUrl({ data_source_id: id, service: 'DROPBOX' })).toMatchObject({ status: 404 });
        user = await service.user(`asker ${customers} too`);
        expect(await requestUrl({ data_source_id: id })).toMatchObject({ status: 404 });
      });

      describe.each([
        {},
        ...thoroughRows([{ connecting_new_account: false }, { connecting_new_account: null, data_source_id: null }]),
      ])('with %j', (body) => {
        test('is consent for no account, the page of a single account, and a 400 for several without data_source_id', async () => {
          expect(isConsent(await urlFor(body))).toBe(true);
          await connect();
          expect(isPicker(await urlFor(body))).toBe(true);
          const { id } = await connect('ben@harbour.example');
          const refused = await requestUrl(body);
          expect(refused).toMatchObject({ status: 400 });
          expect(refused.body.detail).toContain('data_source_id');
          for (const isNew of [false, null])
            expect(isPicker(await urlFor({ connecting_new_account: isNew, data_source_id: id }))).toBe(true);
          // A request for a new account is answered with consent, regardless of connected accounts.
          expect(isConsent(await urlFor({ connecting_new_account: true }))).toBe(true);
          expect(isConsent(await urlFor({ connecting_new_account: true, data_source_id: id }))).toBe(true);
        });
      });

      test('ignores revoked accounts if there is an active one, and requests consent for a revoked one', async () => {
        const { id } = await connect();
        const revoke = (revoked: number) => user.post('/revoke_access_token', { data_source_id: revoked });
        await revoke(id);
        expect(isConsent(await urlFor())).toBe(true);
        expect(isConsent(await urlFor({ data_source_id: id }))).toBe(true);
        const activeSource = await connect('ben@harbour.example');
        expect(isPicker(await urlFor())).toBe(true);
        expect(isConsent(await urlFor({ data_source_id: id }))).toBe(true);
        await revoke(activeSource.id);
        // The consent restores one of the two revoked accounts.
        expect(isConsent(await urlFor())).toBe(true);
      });
    });

    test('the page of a connected account needs no consent, and syncs the choice with the requested options', async () => {
      const { id } = await connect();
      drive.oauth.requests.length = 0;
      const url = await urlFor({ chunk_size: 88, tags: { from: 'page' }, data_source_tags: { team: 'red' } });
      const chooser = await openPage(url.href);
      expect(chooser.html).toContain('Choose from Google Drive');
      // Nothing is listed yet, so the page shows the current roots.
      expect(chooser.html).toContain('name="ids"');
      await fetch(url, { method: 'POST', body: new URLSearchParams({ action: 'choose', ids: 'b' }) });
      const [file] = await waitFor(
        async () => (await user.post<Listed<FileRecord>>('/user_files_v2', {})).body.results,
        (results) => results[0]?.sync_status === 'READY',
      );
      expect(file).toMatchObject({ chunk_size: 88, tags: { from: 'page', team: 'red' } });
      expect((await sources()).find((source) => source.id === id)).toMatchObject({
        last_sync_action: 'UPDATE',
        tags: { team: 'red' },
      });
      expect(drive.oauth.requests).toEqual([]);
    });

    // oauthConnect.test.ts tests that files get tags of an object.
    test.each([
      [['a', 1], {}],
      ...thoroughRows([
        [{ team: 'red' }, { team: 'red' }],
        ['text', {}],
        [5, {}],
        [true, {}],
        [null, {}],
      ]),
    ])('tags %j give files the tags %j', async (tags, expected) => {
      await consentTo((await urlFor({ tags, sync_source_items: false })).href);
      const [source] = await sources();
      expect(source?.tags).toEqual({});
      const selection = { data_source_id: source!.id, ids: ['b'], file_sync_config: { skip_file_processing: true } };
      expect((await user.post('/integrations/files/sync', selection)).status).toBe(200);
      const [file] = await waitFor(
        async () => (await user.post<Listed<FileRecord>>('/user_files_v2', {})).body.results,
        ([first]) => first?.sync_status === 'READY_TO_SYNC',
      );
      expect(file?.tags ?? {}).toEqual(expected);
    });

    test('refuses tags that files cannot have, and data_source_tags that are not an object', async () => {
      for (const body of [{ tags: { a: { b: 'c' } } }, { tags: { organization_id: '1' } }, { data_source_tags: ['a'] }])
        expect(await requestUrl(body)).toMatchObject({ status: 422 });
    });

    test('ignores fields of other sources, even with invalid values', async () => {
      for (const field of ['zendesk_subdomain', 'microsoft_tenant', 'salesforce_domain', 'confluence_subdomain'])
        expect(isConsent(await urlFor({ [field]: 'evil.com/#' }))).toBe(true);
    });

    describe('OAuth clients', () => {
      test('of the organization override those of the deployment, also for token refreshes', async () => {
        const { apiKey } = await service.store.organizations.create(`white ${customers}`);
        user = await service.user('white', apiKey);
        const key = apiClient(service.url, { authorization: `Bearer ${apiKey}` });
        // Another name of the same host, like the custom domain of an organization.
        const redirect = `${service.url.replace('127.0.0.1', 'localhost')}/integrations/google`;
        expect(redirect).not.toContain(service.url);
        const credentials = { client_id: OWN_CLIENT, client_secret: OWN_SECRET, redirect_uri: redirect };
        await key.post('/white_label/create', [{ data_source_type: 'GOOGLE_DRIVE', credentials }]);
        const url = await urlFor({ sync_source_items: false });
        expect(url.searchParams.get('client_id')).toBe(OWN_CLIENT);
        expect(url.searchParams.get('redirect_uri')).toBe(redirect);
        await consentTo(url.href);
        const [source] = await sources();
        drive.oauth.expireAll();
        drive.oauth.requests.length = 0;
        await user.post('/integrations/items/sync', { data_source_id: source!.id });
        await waitFor(sources, ([listedSource]) => listedSource!.source_items_synced_at !== null);
        expect(drive.oauth.requests).toMatchObject([{ outcome: 'granted', parameters: { client_id: OWN_CLIENT } }]);
      });

      test('must be configured; otherwise the error names the setting and the white label operation', async () => {
        const refused = await requestUrl({ service: 'DROPBOX' });
        expect(refused).toMatchObject({ status: 400 });
        expect(refused.body.detail).toContain('OAUTH_CLIENTS');
        expect(refused.body.detail).toContain('/white_label/create');
      });
    });

    test('sends the provider a PKCE challenge that matches our verifier', async () => {
      drive.oauth.requests.length = 0;
      await consentTo((await urlFor({ sync_source_items: false })).href);
      const [authorization] = drive.oauth.requests;
      const token = drive.oauth.requests.find(({ kind }) => kind === 'token');
      const answer = createHash('sha256')
        .update(token?.parameters['code_verifier'] ?? '')
        .digest('base64url');
      expect(authorization?.parameters['code_challenge']).toBe(answer);
    });

    describe('POST /integrations/connect', () => {
      const connectBy = (authentication: Record<string, unknown>, sync_options: Record<string, unknown> = {}) =>
        user.post<{ data_source: DataSourceRecord; sync_url: string | null; detail?: unknown }>(
          '/integrations/connect',
          {
            authentication: { source: 'GOOGLE_DRIVE', ...authentication },
            sync_options: { sync_source_items: false, ...sync_options },
          },
        );

      test('connects with tokens of the caller, and refreshes them with our client', async () => {
        const { accessToken, refreshToken } = drive.oauth.grant();
        const connected = await connectBy(
          { access_token: accessToken, refresh_token: refreshToken },
          { data_source_tags: { team: 'red' } },
        );
        expect(connected).toMatchObject({
          status: 200,
          body: { data_source: { data_source_external_id: 'GOOGLE_DRIVE|ada@harbour.example', tags: { team: 'red' } } },
        });
        expect((await openPage(connected.body.sync_url ?? '')).html).toContain('Choose from Google Drive');
        drive.oauth.expireAll();
        await user.post('/integrations/items/sync', { data_source_id: connected.body.data_source.id });
        expect(
          await waitFor(
            sources,
            ([listedSource]) => listedSource!.sync_status === 'READY' && listedSource!.source_items_synced_at !== null,
          ),
        ).toMatchObject([{ revoked_access: false }]);
      });

      test('refuses invalid credentials with 400, and incomplete ones with 422', async () => {
        expect(await connectBy({ access_token: 'unknown' })).toMatchObject({ status: 400 });
        for (const wrong of [
          {},
          { access_token: 5 },
          { source: 'WEB_SCRAPE', access_token: 'a' },
          { source: 'GITHUB' },
        ])
          expect(await connectBy(wrong)).toMatchObject({ status: 422 });
        expect(await connectBy({ source: 'FRESHDESK', domain: 'evil.com/#', api_key: 'b' })).toMatchObject({
          status: 422,
        });
        expect(await sources()).toEqual([]);
      });
    });
  });
