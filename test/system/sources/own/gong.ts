import { beforeEach, describe, expect, test } from '@jest/globals';

import type { DataSourceRecord } from '../../../../contract/files/records.js';
import { CUSTOMER } from '../../../emulators/gong.js';
import type { Listed } from '../../../support/client.js';
import { consentTo } from '../../../support/consent.js';
import { GONG_EMAIL, type GongFixture } from '../../../support/sourceFixtures/gong.js';
import { waitFor } from '../../../support/waitFor.js';
import { type Catalogue, Customer, type Item } from '../../../support/sourceFixtures/catalogue.js';

/** Tests of gong_account_email, which determines the external id of the data source. */
export function defineGongAccountTests(catalogue: Catalogue): void {
  describe('the gong_account_email of GONG', () => {
    const customer = new Customer(catalogue, 'GONG');
    beforeEach(() => customer.resetAndCreateUser());
    const sources = async (): Promise<(string | null)[]> => {
      const { body } = await customer.user.post<Listed<DataSourceRecord>>('/user_data_sources', {
        order_by: 'created_at',
      });
      return body.results.map((one) => one.data_source_external_id);
    };
    const connect = async (email?: unknown) => {
      const body = { gong_account_email: email, sync_source_items: false };
      expect(await customer.fixture.connect(customer.user, body)).toMatchObject({ status: 200 });
    };

    test('forms the external id GONG|<gong_account_email>: one data source per e-mail address, ignoring case', async () => {
      await connect('ada@harbour.example');
      const [first] = (await customer.user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body.results;
      expect(first).toMatchObject({
        data_source_external_id: 'GONG|ada@harbour.example',
        data_source_metadata: { email: 'ada@harbour.example' },
        last_sync_action: 'ADD',
      });
      await connect('ben@harbour.example');
      await connect('Ada@Harbour.example');
      expect(await sources()).toEqual(['GONG|ada@harbour.example', 'GONG|ben@harbour.example']);
    });

    test('separates files: a call in two data sources is two files; neither data source changes or deletes the file of the other', async () => {
      const gong = (customer.fixture as GongFixture).gong;
      const emails = ['ada@harbour.example', 'ben@harbour.example'] as const;
      for (const email of emails) await connect(email);
      const { results } = (
        await customer.user.post<Listed<DataSourceRecord>>('/user_data_sources', { order_by: 'created_at' })
      ).body;
      const [ada, ben] = results.map(({ id }) => id);
      const { lighthouse, keeper } = customer.content;
      const sync = (id: number | undefined, ids: readonly string[]) =>
        customer.user.post('/integrations/files/sync', { data_source_id: id, ids });
      await sync(ada, [lighthouse]);
      const [first] = await customer.settledFiles(1);
      await sync(ben, [lighthouse, keeper]);
      const filesOf = async () =>
        (await customer.settledFiles(3)).map((file) => [
          file.organization_user_data_source_id,
          file.external_file_id,
          file.sync_status,
        ]);
      const three = [
        [ada, lighthouse, 'READY'],
        [ben, lighthouse, 'READY'],
        [ben, keeper, 'READY'],
      ];
      expect(await filesOf()).toEqual(expect.arrayContaining(three));
      // An account that is connected again keeps its file.
      await connect('ADA@harbour.example');
      await sync(ada, [lighthouse]);
      await customer.selectionsDone();
      expect(await filesOf()).toEqual(expect.arrayContaining(three));
      expect(await customer.fileWhen(first?.id ?? 0, (file) => file.sync_status === 'READY')).toMatchObject({
        organization_user_data_source_id: ada,
      });
      const list = async (id: number | undefined) => {
        await customer.user.post('/integrations/items/sync', { data_source_id: id });
        return waitFor(
          async () =>
            (
              await customer.user.post<{ items: Item[] }>('/integrations/items/list', {
                data_source_id: id,
                filters: { external_ids: [lighthouse, keeper] },
              })
            ).body.items,
          (items) => items.length > 0,
        );
      };
      const linked = async (id: number | undefined) =>
        new Map((await list(id)).map((item) => [item.external_id, item.organization_user_file_to_sync_id]));
      const linkedFileIds = await linked(ada);
      expect([linkedFileIds.get(lighthouse), linkedFileIds.get(keeper)]).toEqual([first?.id, null]);
      // Only a data source whose calls are listed detects the deletion.
      gong.calls.delete(lighthouse);
      await list(ben);
      const remainingFiles = await customer.settledFiles(2);
      expect(remainingFiles.map(({ id }) => id)).toContain(first?.id);
    });

    test('is optional: without it, the external id contains the first workspace; an invalid e-mail is 422', async () => {
      await connect(null);
      expect(await sources()).toEqual(['GONG|workspace:1']);
      for (const wrong of ['evil.com/#', '127.0.0.1:8080', 'ada', 'a|b@c', 'a b@c'])
        expect(
          await customer.user.post('/integrations/oauth_url', {
            ...{ service: 'GONG', connecting_new_account: true, gong_account_email: wrong },
          }),
        ).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'gong_account_email'] }] } });
    });

    test('is ignored by other services', async () => {
      const body = { service: 'BOX', gong_account_email: 'evil.com/#', sync_source_items: false };
      const { status, body: answer } = await customer.user.post<{ oauth_url: string }>('/integrations/oauth_url', body);
      expect(status).toBe(200);
      catalogue.fixtures.BOX.reset();
      await consentTo(answer.oauth_url);
      expect(await sources()).toEqual([catalogue.fixtures.BOX.externalId]);
    });
  });
}

export function defineGongTests(catalogue: Catalogue): void {
  describe('the specific behaviour of GONG', () => {
    const customer = new Customer(catalogue, 'GONG');
    beforeEach(() => customer.resetAndCreateUser());
    const gong = () => (customer.fixture as GongFixture).gong;

    test('requests go to the host issued with tokens, or to the common host if the caller provides tokens', async () => {
      await customer.connect({ sync_source_items: true });
      const customers = () => new Set(gong().customers);
      expect(customers()).toEqual(new Set([CUSTOMER]));
      gong().reset();
      const { accessToken } = gong().oauth.grant();
      const credentials = { source: 'GONG', access_token: accessToken, gong_account_email: 'eve@harbour.example' };
      const answer = await customer.user.post('/integrations/connect', {
        authentication: credentials,
        sync_options: { sync_source_items: false },
      });
      expect(answer).toMatchObject({
        status: 200,
        body: { data_source: { data_source_external_id: 'GONG|eve@harbour.example' } },
      });
      expect(customers()).toEqual(new Set(['api']));
    });

    test('a call becomes a file with its transcript and speakers, or SYNC_ERROR without a transcript', async () => {
      gong().calls.set('100', {
        title: 'Lighthouse',
        workspace: '1',
        parties: [
          { name: 'Ada', affiliation: 'Internal' },
          { name: 'Ben', affiliation: 'External' },
        ],
        monologues: [
          { speaker: '1', text: 'The lighthouse was lit in 1901.', atMs: 61_000 },
          { speaker: '2', text: 'By whom?', atMs: 65_000 },
        ],
      });
      gong().calls.set('101', { title: 'Keeper', workspace: '1' });
      await customer.connect();
      await customer.syncFiles(['folder:11']);
      const syncedFiles = await customer.settledFiles(2);
      const fileWithId = (id: string) => syncedFiles.find((file) => file.external_file_id === id);
      expect(fileWithId('100')).toMatchObject({
        ...{ sync_status: 'READY', name: 'Lighthouse', external_url: 'https://app.gong.io/call?id=100' },
        ...{
          file_statistics: { file_format: 'GONG' },
          source_created_at: expect.stringMatching(/^2026-03-03T10:00:00/),
        },
        file_metadata: { type: 'CALL', participants: [{ name: 'Ada' }, { name: 'Ben' }] },
      });
      const text = await customer.textOf('100');
      expect(text).toContain('Ada, 1:01: The lighthouse was lit in 1901.');
      expect(text).toContain('Ben, 1:05: By whom?');
      expect(fileWithId('101')).toMatchObject({
        sync_status: 'SYNC_ERROR',
        sync_error_message: expect.stringMatching(/no transcript of this call/),
      });
    });

    test('after a refresh of the tokens, requests still go to the API host issued at the consent', async () => {
      await customer.connect();
      expect(customer.fixture.externalId).toBe(`GONG|${GONG_EMAIL.toLowerCase()}`);
      gong().oauth.expireAll();
      gong().reset();
      expect(await customer.listItems()).toMatchObject({ sync_status: 'READY', revoked_access: false });
      expect(gong().requests.some((path) => path.startsWith('calls?'))).toBe(true);
      expect(new Set(gong().customers)).toEqual(new Set([CUSTOMER]));
    });
  });
}
