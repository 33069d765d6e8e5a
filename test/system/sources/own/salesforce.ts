import { beforeEach, describe, expect, test } from '@jest/globals';

import { ORGANIZATION_HOST, sfId } from '../../../emulators/salesforce.js';
import type { SalesforceFixture } from '../../../support/sourceFixtures/salesforce.js';
import { type Catalogue, Customer } from '../../../support/sourceFixtures/catalogue.js';

const CREATED = '2026-01-07T09:00:00.000+0000';

interface CrmList {
  readonly count: number;
  readonly next_cursor: string | null;
  readonly data: readonly Readonly<Record<string, unknown>>[];
}

/** Tests that salesforce_domain selects the Salesforce organization. */
export function defineSalesforceAddressTests(catalogue: Catalogue): void {
  describe('the salesforce_domain of SALESFORCE', () => {
    const customer = new Customer(catalogue, 'SALESFORCE');
    const emulator = () => (customer.fixture as SalesforceFixture).emulator;
    beforeEach(() => customer.resetAndCreateUser());

    test.each([
      ['harbour.my.salesforce.com', { salesforce_domain: 'harbour.my.salesforce.com' }],
      ['harbour--test.sandbox.my.salesforce.com', { salesforce_domain: 'harbour--test.sandbox.my.salesforce.com' }],
      ['login.salesforce.com', {}],
      ['login.salesforce.com', { salesforce_domain: null }],
    ])(
      'sends users to %s for consent; the content is read from the host that consent returns',
      async (host, fields) => {
        emulator().oauth.requests.length = 0;
        await customer.connect(fields);
        expect(new Set(emulator().oauth.requests.map(({ path }) => path.split('/')[1]))).toEqual(new Set([host]));
        const apiRequests = emulator().requests.filter((path) => !/\/(?:authorize|token)\b/.test(path));
        expect(new Set(apiRequests.map((path) => path.split('/')[1]))).toEqual(new Set([ORGANIZATION_HOST]));
      },
    );

    test('is rejected with 422 if it is not a login or API host of Salesforce', async () => {
      for (const domain of ['harbour.lightning.force.com', 'evil.com', 'evil.com/#', '127.0.0.1:8080', 'a@b']) {
        const body = { service: 'SALESFORCE', salesforce_domain: domain };
        expect(await customer.user.post('/integrations/oauth_url', body)).toMatchObject({
          status: 422,
          body: { detail: [{ loc: ['body', 'salesforce_domain'] }] },
        });
      }
    });
  });
}

/** Tests the listed files and articles, and the CRM records that are read from the account at each request. */
export function defineSalesforceTests(catalogue: Catalogue): void {
  const customer = new Customer(catalogue, 'SALESFORCE');
  const emulator = () => (customer.fixture as SalesforceFixture).emulator;
  const accountId = (name: string) => sfId('001', name);

  describe('the items of SALESFORCE', () => {
    beforeEach(() => customer.resetAndCreateUser());

    test('include files outside of libraries, of which later listings request only the changed and deleted ones', async () => {
      const putFile = (name: string, more: object = {}) =>
        emulator().put('ContentDocument', sfId('069', name), {
          ...{ Title: name, FileExtension: 'md', CreatedDate: CREATED, ParentId: null },
          ...{ LatestPublishedVersionId: sfId('068', name), LatestPublishedVersion: { ContentLocation: 'S' } },
          ...more,
        });
      const idOf = (name: string) => `file:${sfId('069', name)}`;
      for (const name of ['kept', 'lost', 'moved', 'back']) putFile(name);
      await customer.connect({ sync_source_items: true });
      const parentsById = async () =>
        new Map((await customer.items()).items.map((item) => [item.external_id, item.parent_external_id]));
      const before = await parentsById();
      emulator().reset();
      const minutesAgo = Date.now() - 120_000;
      for (const name of ['lost', 'back']) emulator().drop('ContentDocument', sfId('069', name), minutesAgo);
      for (const name of ['back', 'new']) putFile(name);
      const library = sfId('058', 'atlas');
      putFile('moved', { ParentId: library });
      const folder = emulator().records.get('ContentWorkspace')!.get(library)!['RootContentFolderId'] as string;
      emulator().put('ContentFolderItem', sfId('069', 'moved'), {
        ...{ Title: 'Moved', IsFolder: false, ParentContentFolderId: folder },
      });
      customer.fixture.remove(customer.content.keeper);
      expect(await customer.listItems()).toMatchObject({ sync_status: 'READY' });
      const after = new Map(before);
      for (const deletedId of [idOf('lost'), customer.content.keeper]) after.delete(deletedId);
      after.set(idOf('new'), 'files').set(idOf('moved'), `library:${library}`);
      expect(await parentsById()).toEqual(after);
      const looseFileQueries = emulator().queries.filter((query) => query.includes('ParentId = null'));
      expect(looseFileQueries.length).toBeGreaterThan(0);
      expect(looseFileQueries.filter((query) => !query.includes('SystemModstamp > '))).toEqual([]);
      // If Salesforce no longer reports all deletions since the last listing, a full listing detects them.
      emulator().reset();
      emulator().records.get('ContentDocument')!.delete(sfId('069', 'kept'));
      emulator().deletions.purgedUntil = Date.now();
      await customer.listItems();
      emulator().deletions.purgedUntil = 0;
      expect([...(await parentsById()).keys()]).not.toContain(idOf('kept'));
      expect(emulator().queries.some((query) => /WHERE ParentId = null ORDER/.test(query))).toBe(true);
    });

    test('include published articles only, whose text has the custom fields of their organization', async () => {
      const putArticle = (name: string, more: object) =>
        emulator().put('Knowledge__kav', sfId('ka0', name), {
          ...{
            KnowledgeArticleId: sfId('kA0', name),
            Title: `About ${name}`,
            Language: 'en_US',
            Summary: `${name} & more`,
          },
          ...{ PublishStatus: 'Online', CreatedDate: CREATED, SystemModstamp: CREATED },
          ...more,
        });
      putArticle('gulls', { Answer__c: '<p>Gulls <b>dive</b>.</p>', Hint__c: 'a < b' });
      putArticle('drafts', { PublishStatus: 'Draft' });
      putArticle('moewen', { KnowledgeArticleId: sfId('kA0', 'gulls'), Language: 'de', Title: 'Von Möwen' });
      const connected = await customer.connect({ sync_source_items: true, sync_files_on_connection: true });
      const syncedFiles = await customer.settledFiles(customer.documents.length + 2);
      expect(new Set(syncedFiles.map((file) => file.sync_status))).toEqual(new Set(['READY']));
      const gulls = `article:${sfId('kA0', 'gulls')}/en_US`;
      const text = await customer.textOf(gulls);
      for (const part of ['About gulls', 'gulls & more', 'Gulls dive.', 'a < b']) expect(text).toContain(part);
      expect(syncedFiles.find((file) => file.external_file_id === gulls)).toMatchObject({
        organization_user_data_source_id: connected.id,
        file_metadata: { type: 'ARTICLE', language: 'en_US' },
        file_statistics: { file_format: 'SALESFORCE' },
        external_url: expect.stringContaining(`/lightning/r/Knowledge__kav/${sfId('ka0', 'gulls')}/view`),
      });
      const { items } = await customer.items({ parent_id: 'knowledge' });
      expect(items.map((item) => [item.external_id, item.item_type])).toEqual([
        [gulls, 'ARTICLE'],
        [`article:${sfId('kA0', 'gulls')}/de`, 'ARTICLE'],
      ]);
    });

    test('include files that are links, which are not selectable', async () => {
      const link = sfId('069', 'link');
      emulator().put('ContentDocument', link, {
        ...{ Title: 'Link', FileType: 'LINK', ParentId: null, CreatedDate: CREATED },
        ...{ LatestPublishedVersionId: sfId('068', 'link'), LatestPublishedVersion: { ContentLocation: 'L' } },
      });
      await customer.connect({ sync_source_items: true });
      const { items } = await customer.items({ filters: { external_ids: [`file:${link}`] } });
      expect(items).toMatchObject([{ is_selectable: false, parent_external_id: 'files' }]);
    });
  });

  describe('requests for CRM records of SALESFORCE', () => {
    const OWNER = sfId('005', 'ada');
    let dataSourceId = 0;
    const accounts = (body: object = {}) =>
      customer.user.post<CrmList>('/integrations/data/crm/accounts', { data_source_id: dataSourceId, ...body });
    const names = async (body: object) => (await accounts(body)).body.data.map(({ name }) => name);

    beforeEach(async () => {
      await customer.resetAndCreateUser();
      const common = { OwnerId: OWNER, IsDeleted: false, CreatedDate: CREATED, LastModifiedDate: CREATED };
      const putAccount = (name: string, more: object = {}) =>
        emulator().put('Account', accountId(name), { ...common, Name: name, NumberOfEmployees: null, ...more });
      putAccount("O'Hare 100%", {
        ...{ Industry: 'Ports', Website: 'https://harbour.example', NumberOfEmployees: 12, Phone: '1', Fax: '2' },
        BillingAddress: { street: '1 Quay\nFloor 2', city: 'Kiel', state: null, postalCode: '24103', country: 'DE' },
        Tasks: [
          {
            ...{
              Id: sfId('00T', 'call'),
              OwnerId: OWNER,
              WhoId: sfId('003', 'ben'),
              AccountId: accountId("O'Hare 100%"),
            },
            ...{ Subject: 'Call', Status: 'Open', Priority: 'High', Description: null, ...common },
          },
        ],
      });
      putAccount('Boats', { NumberOfEmployees: 30, OwnerId: sfId('005', 'ben') });
      putAccount('Crews', { CreatedDate: '2026-02-01T09:00:00.000+0000' });
      putAccount('Docks', { NumberOfEmployees: 12 });
      dataSourceId = (await customer.connect()).id;
    });

    test("return all fields of an account, and Salesforce's own data with include_remote_data", async () => {
      const account = await customer.user.get(
        `/integrations/data/crm/accounts/${accountId("O'Hare 100%")}?data_source_id=${dataSourceId}&includes=Tasks&includes=Events`,
      );
      expect(account).toMatchObject({ status: 200 });
      const billing = { state: null, address_type: 'BILLING' };
      expect(account.body).toEqual({
        ...{
          id: accountId("O'Hare 100%"),
          owner: { id: OWNER },
          name: "O'Hare 100%",
          description: null,
          industry: 'Ports',
        },
        ...{ website: 'https://harbour.example', number_of_employees: 12, last_activity_at: null },
        addresses: [
          { street_1: '1 Quay', street_2: 'Floor 2', city: 'Kiel', postal_code: '24103', country: 'DE', ...billing },
        ],
        phone_numbers: [
          { phone_number: '1', phone_number_type: 'PRIMARY' },
          { phone_number: '2', phone_number_type: 'FAX' },
        ],
        ...{ created_at: '2026-01-07T09:00:00.000Z', updated_at: '2026-01-07T09:00:00.000Z', is_deleted: false },
        tasks: [
          {
            ...{ id: sfId('00T', 'call'), owner: { id: OWNER }, subject: 'Call', status: 'Open', priority: 'High' },
            ...{ account: { id: accountId("O'Hare 100%") }, contact: { id: sfId('003', 'ben') }, description: null },
            ...{ created_at: '2026-01-07T09:00:00.000Z', updated_at: '2026-01-07T09:00:00.000Z' },
            ...{ is_deleted: false, remote_data: null },
          },
        ],
        events: [],
        remote_data: null,
      });
      const remote = await customer.user.get(
        `/integrations/data/crm/accounts/${accountId('Boats')}?data_source_id=${dataSourceId}&include_remote_data=true`,
      );
      expect(remote.body).toMatchObject({ name: 'Boats', remote_data: { Name: 'Boats', NumberOfEmployees: 30 } });
      expect(remote.body).not.toHaveProperty('tasks');
    });

    test('filter lists, sort missing values last, and page by cursor', async () => {
      expect(await names({ filters: { name: "o'hare 100%" } })).toEqual(["O'Hare 100%"]);
      expect(await names({ filters: { name: '%' } })).toEqual(["O'Hare 100%"]);
      expect(await names({ filters: { name: "' OR Name != '" } })).toEqual([]);
      expect(await names({ filters: { owner_id: sfId('005', 'ben') } })).toEqual(['Boats']);
      expect((await accounts({ filters: { owner_id: OWNER } })).body.count).toBe(3);
      const paged = async (body: object): Promise<unknown[]> => {
        const listedNames: unknown[] = [];
        for (let cursor: string | null | undefined; cursor !== null;) {
          const { status, body: page } = await accounts({ ...body, page_size: 1, next_cursor: cursor ?? null });
          expect({ status, count: page.count }).toEqual({ status: 200, count: 4 });
          listedNames.push(...page.data.map(({ name }) => name));
          cursor = page.next_cursor;
        }
        return listedNames;
      };
      const byName = ['Boats', 'Crews', 'Docks', "O'Hare 100%"];
      expect(await paged({ order_by: 'name' })).toEqual(byName);
      expect(await paged({ order_by: 'name', order_dir: 'desc' })).toEqual(byName.toReversed());
      expect(await paged({ order_by: 'number_of_employees' })).toEqual(['Docks', "O'Hare 100%", 'Boats', 'Crews']);
      expect(await paged({ order_by: 'created_at', order_dir: 'desc' })).toEqual([
        'Crews',
        'Boats',
        'Docks',
        "O'Hare 100%",
      ]);
      expect(new Set(await paged({}))).toEqual(new Set(byName));
    });

    test('return leads, contacts and opportunities with the fields of their type', async () => {
      const common = { OwnerId: OWNER, IsDeleted: false, CreatedDate: CREATED, LastModifiedDate: CREATED };
      const address = { street: 'Pier 1', city: null, state: null, postalCode: null, country: null };
      emulator().put('Lead', sfId('00Q', 'eel'), {
        ...{
          ...common,
          Name: 'Eel Lang',
          FirstName: 'Eel',
          LastName: 'Lang',
          Email: 'eel@harbour.example',
          Address: address,
        },
        ...{
          Company: 'Lantern',
          Status: 'Open',
          LeadSource: 'Web',
          ConvertedAccountId: accountId('Boats'),
          MobilePhone: '3',
        },
      });
      emulator().put('Contact', sfId('003', 'ben'), {
        ...{
          ...common,
          Name: 'Ben Low',
          FirstName: 'Ben',
          LastName: 'Low',
          AccountId: accountId('Boats'),
          Title: 'Captain',
        },
        MailingAddress: address,
      });
      const deal = {
        ...common,
        Amount: 99.6,
        AccountId: accountId('Boats'),
        CloseDate: '2026-03-01',
        StageName: 'Closed',
      };
      emulator().put('Opportunity', sfId('006', 'won'), { ...deal, Name: 'Won', IsClosed: true, IsWon: true });
      emulator().put('Opportunity', sfId('006', 'lost'), { ...deal, Name: 'Lost', IsClosed: true, IsWon: false });
      emulator().put('Opportunity', sfId('006', 'open'), { ...deal, Name: 'Open', IsClosed: false, IsWon: false });
      const read = async (kind: string, filters: object) =>
        (await customer.user.post<CrmList>(`/integrations/data/crm/${kind}`, { data_source_id: dataSourceId, filters }))
          .body.data;
      expect(await read('leads', { converted_account_id: accountId('Boats') })).toMatchObject([
        {
          ...{
            first_name: 'Eel',
            source: 'Web',
            converted_account: { id: accountId('Boats') },
            converted_contact: null,
          },
          emails: [{ email: 'eel@harbour.example' }],
          phone_numbers: [{ phone_number: '3', phone_number_type: 'MOBILE' }],
          addresses: [{ street_1: 'Pier 1', street_2: null }],
        },
      ]);
      expect(await read('contacts', { account_id: accountId('Boats') })).toMatchObject([
        { name: 'Ben Low', title: 'Captain', account: { id: accountId('Boats') }, emails: [] },
      ]);
      expect(await read('opportunities', { status: 'WON' })).toMatchObject([
        { name: 'Won', status: 'WON', amount: 100, close_date: '2026-03-01', contact: null },
      ]);
      expect(await read('opportunities', { status: 'OPEN' })).toMatchObject([{ name: 'Open', status: 'OPEN' }]);
      const lost = await customer.user.get(
        `/integrations/data/crm/opportunities/${sfId('006', 'lost')}?data_source_id=${dataSourceId}`,
      );
      expect(lost.body).toMatchObject({ name: 'Lost', stage: 'Closed', status: null });
      expect(await read('opportunities', { stage: 'Nowhere' })).toEqual([]);
    });

    test('return 404 for missing records, 422 for invalid fields, 400 for forged cursors, 409 if revoked', async () => {
      const get = (path: string) => customer.user.get(`/integrations/data/crm/${path}`);
      for (const wrong of [accountId('Nobody'), "x' OR Id != '", '1'])
        expect((await get(`accounts/${encodeURIComponent(wrong)}?data_source_id=${dataSourceId}`)).status).toBe(404);
      expect((await get(`accounts/${accountId('Boats')}?data_source_id=${2 ** 40}`)).status).toBe(404);
      for (const query of ['', '?data_source_id=x', `?data_source_id=${dataSourceId}&includes=Cases`])
        expect((await get(`accounts/${accountId('Boats')}${query}`)).status).toBe(422);
      for (const [field, value] of Object.entries({ order_by: 'Name', order_dir: 'up', page_size: 0, includes: ['x'] }))
        expect(await accounts({ [field]: value })).toMatchObject({
          status: 422,
          body: { detail: [{ loc: expect.arrayContaining(['body', field]) }] },
        });
      expect((await accounts({ filters: 'x' })).status).toBe(422);
      for (const cursor of ['x', Buffer.from(JSON.stringify([accountId('Boats'), '1 OR 1'])).toString('base64url')])
        expect(await accounts({ next_cursor: cursor, order_by: 'created_at' })).toMatchObject({
          status: 400,
          body: { detail: expect.stringContaining('next_cursor') },
        });
      const { user } = customer;
      await user.post('/revoke_access_token', { data_source_id: dataSourceId });
      expect((await accounts()).status).toBe(409);
    });
  });
}
