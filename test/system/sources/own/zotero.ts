import { beforeEach, describe, expect, test } from '@jest/globals';

import type { DataSourceRecord } from '../../../../contract/files/records.js';
import { apiClient, type Answer } from '../../../support/client.js';
import { answerConsent, consentTo, openPage } from '../../../support/consent.js';
import { waitFor } from '../../../support/waitFor.js';
import type { ZoteroFixture } from '../../../support/sourceFixtures/zotero.js';
import { zoteroKey } from '../../../emulators/zotero.js';
import { CLIENT_ID, CLIENT_SECRET } from '../../../emulators/oauthProvider.js';
import { ALIAS, type Catalogue, Customer } from '../../../support/sourceFixtures/catalogue.js';

const OWN = 'users/475';
const ADDED = '2026-01-07T09:00:00Z';

export function defineZoteroTests(catalogue: Catalogue): void {
  const customer = new Customer(catalogue, 'ZOTERO');
  const emulated = () => (customer.fixture as ZoteroFixture).emulator;
  const idOf = (name: string): string => `${OWN}/items/${zoteroKey(name)}`;

  describe('consent of ZOTERO by OAuth 1.0a', () => {
    const urlFor = (body: object = {}): Promise<Answer<{ oauth_url: string; detail: string }>> =>
      customer.user.post('/integrations/oauth_url', {
        ...{ service: 'ZOTERO', connecting_new_account: true, sync_source_items: false },
        ...body,
      });
    beforeEach(async () => {
      await customer.resetAndCreateUser();
      emulated().oauth.requests.length = 0;
    });

    test('signs the requests for a temporary and an access token, and requests the access token once', async () => {
      const { body } = await urlFor();
      const url = new URL(body.oauth_url);
      expect(Object.fromEntries(url.searchParams)).toMatchObject({
        ...{ library_access: '1', notes_access: '1', all_groups: 'read', write_access: '0' },
        oauth_token: expect.stringMatching(/^request-/),
      });
      const callbackUrl = await answerConsent(body.oauth_url);
      expect(callbackUrl).toMatch(new RegExp(`^${customer.user.baseUrl}/integrations/zotero\\?state=`));
      expect((await openPage(callbackUrl)).status).toBe(200);
      expect(await customer.source()).toMatchObject({
        data_source_external_id: 'ZOTERO|475',
        data_source_metadata: { user_id: '475', username: 'ada' },
      });
      // Opening the callback URL again requests no token.
      expect((await openPage(callbackUrl)).status).toBe(200);
      const tokens = emulated().oauth.requests.filter(({ kind }) => kind === 'token');
      expect(tokens.map(({ path, outcome }) => [path, outcome])).toEqual([
        ['/oauth/request', 'granted'],
        ['/oauth/access', 'granted'],
      ]);
      expect(tokens[0]?.parameters['oauth_callback']).toContain('/integrations/zotero?state=');
    });

    test('requests exactly the permissions given as scopes', async () => {
      const { body } = await urlFor({ scopes: ['library_access=1', 'identity'] });
      const { searchParams } = new URL(body.oauth_url);
      expect([searchParams.get('library_access'), searchParams.get('identity')]).toEqual(['1', '1']);
      expect([searchParams.get('notes_access'), searchParams.get('all_groups')]).toEqual([null, null]);
    });

    test('connects no account after a denied consent, or with an invalid verifier', async () => {
      const denied = await consentTo((await urlFor()).body.oauth_url, { deny: true });
      expect(denied.html).not.toMatch(/is connected</);
      const back = new URL(await answerConsent((await urlFor()).body.oauth_url));
      back.searchParams.set('oauth_verifier', 'guessed');
      expect((await openPage(back.href)).status).not.toBe(200);
      const { body } = await customer.user.post<{ count: number }>('/user_data_sources', {});
      expect(body.count).toBe(0);
    });

    test('answers 503 if the provider fails before the consent; the next request succeeds', async () => {
      emulated().oauth.failNext(1);
      expect(await urlFor()).toMatchObject({ status: 503, body: { detail: expect.stringMatching(/Zotero failed/) } });
      expect((await urlFor()).status).toBe(200);
    });

    test("signs with the organization's own client, and returns users to its redirect_uri", async () => {
      const { service } = catalogue;
      const { apiKey } = await service.store.organizations.create('Zotero white label');
      const key = apiClient(service.url, { authorization: `Bearer ${apiKey}` });
      const user = await service.user('white zotero', apiKey);
      const redirect = `${ALIAS}/integrations/zotero`;
      const create = (secret: string) =>
        key.post('/white_label/create', [
          {
            data_source_type: 'ZOTERO',
            credentials: { client_id: CLIENT_ID, client_secret: secret, redirect_uri: redirect },
          },
        ]);
      const requestUrl = () =>
        user.post<{ oauth_url: string; detail: string }>('/integrations/oauth_url', {
          ...{ service: 'ZOTERO', sync_source_items: false },
        });
      await create('not-the-secret');
      expect(await requestUrl()).toMatchObject({ status: 400, body: { detail: expect.stringMatching(/white label/) } });
      await create(CLIENT_SECRET);
      const back = new URL(await answerConsent((await requestUrl()).body.oauth_url));
      expect(`${back.origin}${back.pathname}`).toBe(redirect);
      expect((await openPage(`${service.url}${back.pathname}${back.search}`)).status).toBe(200);
      const { body } = await user.post<{ results: DataSourceRecord[] }>('/user_data_sources', {});
      expect(body.results).toMatchObject([{ data_source_external_id: 'ZOTERO|475' }]);
    });

    test('accepts an API key that the caller provides', async () => {
      const authentication = {
        source: 'ZOTERO',
        access_token: emulated().oauth.grant(),
        username: 'ada',
        zotero_id: '475',
      };
      const answer = await customer.user.post<{ data_source: DataSourceRecord }>('/integrations/connect', {
        authentication: { ...authentication, access_token_secret: 'x' },
        sync_options: { sync_source_items: false },
      });
      expect(answer).toMatchObject({ status: 200, body: { data_source: { data_source_external_id: 'ZOTERO|475' } } });
    });
  });

  describe('items and attachments of ZOTERO', () => {
    beforeEach(() => customer.resetAndCreateUser());
    const addItem = (name: string, data: object, file?: string): void =>
      emulated().put(OWN, 'items', zoteroKey(name), { dateAdded: ADDED, ...data }, file);

    test('contain creators and publication of items and the text of notes; linked attachments cannot be selected', async () => {
      addItem('paper', {
        ...{ itemType: 'bookSection', title: 'On lamps', abstractNote: 'Of oil.', bookTitle: 'Light', DOI: '10.1/2' },
        creators: [
          { creatorType: 'author', firstName: 'Ada', lastName: 'Lee' },
          { creatorType: 'editor', name: 'The Crew' },
        ],
        tags: [{ tag: 'lamps' }],
      });
      addItem('note', { itemType: 'note', note: '<p>Oil &amp; wick.</p>', parentItem: zoteroKey('paper') });
      addItem('web', {
        itemType: 'attachment',
        linkMode: 'linked_url',
        title: 'Elsewhere',
        parentItem: zoteroKey('paper'),
      });
      addItem('mark', { itemType: 'annotation', annotationText: 'x', parentItem: zoteroKey('keeper') });
      await customer.connect({ sync_source_items: true });
      const { items } = await customer.items({ parent_id: idOf('paper') });
      expect(new Map(items.map((item) => [item.external_id, item.is_selectable]))).toEqual(
        new Map([
          [idOf('note'), true],
          [idOf('web'), false],
        ]),
      );
      expect((await customer.items({ filters: { external_ids: [idOf('mark')] } })).count).toBe(0);
      await customer.syncFiles([idOf('paper'), idOf('web')]);
      const made = await customer.settledFiles(2);
      expect(made.map((file) => file.external_file_id).toSorted()).toEqual([idOf('note'), idOf('paper')]);
      const text = await customer.textOf(idOf('paper'));
      for (const part of [
        'On lamps',
        'Ada Lee, The Crew (editor)',
        'In: Light',
        'DOI: 10.1/2',
        'Tags: lamps',
        'Of oil.',
      ])
        expect(text).toContain(part);
      expect(await customer.textOf(idOf('note'))).toContain('Oil & wick.');
    });

    test('are synced from the changes of the library; after a collection is deleted, a full listing keeps its items', async () => {
      await customer.connect({ sync_source_items: true });
      await customer.syncFiles(customer.content.containers);
      await customer.settledFiles(customer.documents.length);
      const isFullListing = (path: string) =>
        path.startsWith(`/${OWN}/items?`) && !path.includes('since=') && !path.includes('limit=1&');
      emulated().reset();
      addItem('lighthouse', { ...emulated().libraries.get(OWN)!.items.get(zoteroKey('lighthouse'))!.data, deleted: 1 });
      addItem('fresh', { itemType: 'journalArticle', title: 'Fresh', abstractNote: 'New.' });
      await customer.listItems();
      expect(emulated().requests.some(isFullListing)).toBe(false);
      const ids = async () => (await customer.items()).items.map((item) => item.external_id);
      // The lighthouse was trashed; its attachment, the keeper, is deleted as well.
      expect(await ids()).not.toContain(customer.content.lighthouse);
      expect(await ids()).not.toContain(customer.content.keeper);
      expect(await ids()).toContain(idOf('fresh'));
      addItem('kept', {
        itemType: 'journalArticle',
        title: 'Kept',
        abstractNote: 'Kept.',
        collections: [zoteroKey('sights')],
      });
      await customer.listItems();
      emulated().drop(OWN, 'collections', zoteroKey('sights'));
      await customer.listItems();
      expect(emulated().requests.some(isFullListing)).toBe(true);
      expect(await ids()).toContain(idOf('kept'));
      expect(await ids()).not.toContain(customer.content.branch);
    });

    test('of a group that the account has left are deleted; those of a new group are listed', async () => {
      await customer.connect({ sync_source_items: true });
      const [itemOfLeftGroup] = customer.content.others;
      emulated().libraries.delete('groups/12');
      await customer.listItems();
      const ids = async () => (await customer.items()).items.map((item) => item.external_id);
      expect(await ids()).not.toContain(itemOfLeftGroup);
      expect(await ids()).not.toContain('groups/12');
      emulated().libraries.set('groups/99', {
        ...{ name: 'new', version: 0, collections: new Map(), items: new Map(), deleted: [] },
      });
      emulated().put('groups/99', 'items', zoteroKey('gulls'), { itemType: 'note', note: 'Gulls.', dateAdded: ADDED });
      await customer.listItems();
      expect(await ids()).toContain(`groups/99/items/${zoteroKey('gulls')}`);
    });

    test('are only those of groups if the key has no access to the personal library', async () => {
      emulated().rights.hasLibrary = false;
      await customer.connect({ sync_source_items: true });
      const { items } = await customer.items({ filters: { root_files_only: true } });
      expect(items.map((item) => item.external_id).toSorted()).toEqual(customer.content.containers.slice(1).toSorted());
    });

    test('are requested no earlier than a Backoff header allows', async () => {
      await customer.connect();
      emulated().backoff.seconds = 1;
      emulated().reset();
      const { id } = await customer.source();
      await customer.user.post('/integrations/items/sync', { data_source_id: id });
      await waitFor(
        () => emulated().requests.length,
        (requestCount) => requestCount >= 2,
      );
      const begun = Date.now();
      const before = emulated().requests.length;
      await waitFor(
        () => emulated().requests.length,
        (requestCount) => requestCount > before,
      );
      expect(Date.now() - begun).toBeGreaterThan(300);
      emulated().backoff.seconds = 0;
      expect(await customer.listed()).toMatchObject({ sync_status: 'READY' });
    });
  });
}
