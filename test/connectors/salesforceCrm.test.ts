/** Tests of the live CRM queries of Salesforce: the SOQL that they send, and the records that they return. */
import { expect, test } from '@jest/globals';

import { crmReads } from '../../connectors/salesforce/crm.js';
import { createSourceCache } from '../../connectors/sourceCache.js';
import type { CrmListQuery, LiveReads } from '../../contract/sources/liveReads.js';
import { Fault } from '../../contract/failures.js';
import { everyRow } from '../support/everyRow.js';
import { faultOf } from '../support/faultOf.js';
import { scriptedClient, type ScriptedRequest } from './scripted.js';

const GRANT = { accessToken: 'token', facts: {} };
const ID = '001000000000001AAA';
const LIST: CrmListQuery = {
  ...{ filters: {}, includes: [], remote: false, orderBy: null, orderDir: 'asc', pageSize: 2, cursor: null },
};
type Row = Readonly<Record<string, unknown>>;
interface Listed {
  readonly count: number;
  readonly next_cursor: string | null;
  readonly data: readonly Row[];
}

/** Scripts an organization that has these records of every object. */
const organization = (records: readonly Row[], { done = true, total = 9 } = {}) =>
  scriptedClient(GRANT, ({ query }) =>
    String(query['q']).startsWith('SELECT COUNT()')
      ? { records: [], done: true, totalSize: total }
      : { records, done, totalSize: records.length },
  );
/** Lists records. Returns the answer, and the queries without their fields. */
async function list(
  kind: 'accounts' | 'opportunities' | 'leads' | 'contacts',
  query: Partial<CrmListQuery>,
  records: readonly Row[] = [],
) {
  const { client, requests } = organization(records);
  const answer = (await crmReads[kind]!(client, { ...LIST, ...query })) as Listed;
  const queries = requests.map(({ query: { q } }) =>
    String(q).replace(/^SELECT (?!COUNT).* FROM (?=[A-Z]\w+ ?)/, 'FROM '),
  );
  return { answer, selected: queries[0] ?? '', counted: queries[1] ?? '' };
}
const read = (kind: 'accounts' | 'contacts' | 'opportunities', row: Row, more: object = {}) =>
  crmReads[`one of ${kind}`]!(organization([row]).client, {
    ...{ id: ID, includes: [], remote: false, ...more },
  } as LiveReads['one of accounts']['query']) as Promise<Row | null>;

test('a list is filtered and sorted by Salesforce, and counts the records of all its pages', async () => {
  const filters = { owner_id: ID, name: "O'Neil_", unknown: 'x', stage: '' };
  const first = await list('accounts', { filters, orderBy: 'name', orderDir: 'desc' }, [
    { Id: ID, Name: 'B' },
    { Id: '001000000000002AAA', Name: 'A' },
  ]);
  const where = `WHERE OwnerId = '${ID}' AND Name LIKE '%O\\'Neil\\_%'`;
  expect(first.selected).toBe(`FROM Account ${where} ORDER BY Name DESC NULLS LAST, Id LIMIT 2`);
  expect(first.counted).toBe(`SELECT COUNT() FROM Account ${where}`);
  expect(first.answer).toMatchObject({ count: 9, next_cursor: expect.any(String) });
  const second = await list('accounts', {
    filters,
    orderBy: 'name',
    orderDir: 'desc',
    cursor: first.answer.next_cursor,
  });
  const after = "(Name < 'A' OR (Name = 'A' AND Id > '001000000000002AAA') OR Name = null)";
  expect(second.selected).toBe(`FROM Account ${where} AND ${after} ORDER BY Name DESC NULLS LAST, Id LIMIT 2`);
  expect(second.counted).toBe(first.counted);
  expect(second.answer.next_cursor).toBeNull();
});

/** The condition of the page after a record that has this value. */
const AFTER: readonly (readonly [
  order: string | null,
  direction: 'asc' | 'desc',
  value: unknown,
  condition: string,
])[] = [
  [null, 'asc', 'x', `Id > '${ID}'`],
  ['name', 'asc', "a'b", `(Name > 'a\\'b' OR (Name = 'a\\'b' AND Id > '${ID}') OR Name = null)`],
  ['name', 'asc', null, `(Name = null AND Id > '${ID}')`],
  ['amount', 'desc', 7, `(Amount < 7 OR (Amount = 7 AND Id > '${ID}') OR Amount = null)`],
  [
    ...(['created_at', 'asc', '2026-01-07T09:00:00.000+0000'] as const),
    `(CreatedDate > 2026-01-07T09:00:00.000Z OR (CreatedDate = 2026-01-07T09:00:00.000Z AND Id > '${ID}') OR CreatedDate = null)`,
  ],
];
const FIELDS: Readonly<Record<string, string>> = { name: 'Name', amount: 'Amount', created_at: 'CreatedDate' };
test('the next page continues after the last record, and includes the records without a value, which come last', () =>
  everyRow(AFTER, String, async ([orderBy, orderDir, value, condition]) => {
    const rows = [{ Id: 'x' }, { Id: ID, [FIELDS[orderBy ?? ''] ?? 'Name']: value }];
    const { answer } = await list('opportunities', { orderBy, orderDir }, rows);
    const { selected } = await list('opportunities', { orderBy, orderDir, cursor: answer.next_cursor });
    expect(selected).toContain(`FROM Opportunity WHERE ${condition} ORDER BY`);
  }));

test('a list continues after a short page that Salesforce cut, but not after a short last page', async () => {
  const cut = organization([{ Id: ID }], { done: false });
  expect(((await crmReads['accounts']!(cut.client, LIST)) as Listed).next_cursor).not.toBeNull();
  expect((await list('accounts', {}, [{ Id: ID }])).answer.next_cursor).toBeNull();
});

test('a cursor cannot add conditions to a query', async () => {
  const cursor = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  for (const value of [[`${ID}' OR Name != '`, null], [ID, 'null OR Name != null'], ['x', 1], 'x'])
    expect((await faultOf(list('accounts', { orderBy: 'created_at', cursor: cursor(value) }))).kind).toBe(
      'bad_response',
    );
});

test('opportunities are open until they are won or lost, also as a filter', async () => {
  const statusOf = async (row: Row) => (await read('opportunities', { Id: ID, ...row }))?.['status'];
  expect(await statusOf({ IsClosed: false, IsWon: false })).toBe('OPEN');
  expect(await statusOf({ IsClosed: true, IsWon: true })).toBe('WON');
  expect(await statusOf({ IsClosed: true, IsWon: false })).toBeNull();
  expect((await list('opportunities', { filters: { status: 'OPEN' } })).selected).toContain('WHERE IsClosed = false ');
  expect((await list('opportunities', { filters: { status: 'WON' } })).selected).toContain('WHERE IsWon = true ');
});

test('an account has its addresses with all lines of the street, its telephone numbers, and its times', async () => {
  const account = await read('accounts', {
    ...{ Id: ID, OwnerId: '005', Name: 'Boats', NumberOfEmployees: 7.6, Fax: '2', IsDeleted: true },
    ...{ CreatedDate: '2026-01-07T09:00:00.000+0000', LastModifiedDate: '2026-01-08T09:00:00.000+0200' },
    BillingAddress: { street: 'Pier 1\r\nShed 2\nDoor 3', city: 'Kiel', postalCode: '24103', country: 'DE' },
    ShippingAddress: { street: null, city: null },
  });
  expect(account).toMatchObject({
    ...{ id: ID, owner: { id: '005' }, name: 'Boats', number_of_employees: 8, is_deleted: true },
    ...{ created_at: '2026-01-07T09:00:00.000Z', updated_at: '2026-01-08T07:00:00.000Z', remote_data: null },
    phone_numbers: [{ phone_number: '2', phone_number_type: 'FAX' }],
    addresses: [
      {
        ...{ street_1: 'Pier 1', street_2: 'Shed 2, Door 3', city: 'Kiel', state: null, postal_code: '24103' },
        ...{ country: 'DE', address_type: 'BILLING' },
      },
    ],
  });
});

test('tasks and events are included if requested, each with its contact unless its person is a lead', async () => {
  const task = { Id: 't', OwnerId: '005', WhoId: '003000000000001AAA', AccountId: ID, Subject: 'Call' };
  const event = { Id: 'e', WhoId: '00Q000000000001AAA', IsAllDayEvent: true, ActivityDate: '2026-02-01' };
  const row = { Id: ID, Tasks: { records: [task] }, Events: { records: [event] } };
  const remote = await read('contacts', row, { includes: ['Tasks', 'Events'], remote: true });
  expect(remote).toMatchObject({
    remote_data: row,
    tasks: [{ id: 't', contact: { id: '003000000000001AAA' }, account: { id: ID }, remote_data: task }],
    events: [{ id: 'e', contact: null, account: null, is_all_day: true, start_date: '2026-02-01', remote_data: event }],
  });
  const own = await read('contacts', row, { includes: ['Tasks'] });
  expect(own).toMatchObject({ remote_data: null, tasks: [{ id: 't', remote_data: null }] });
  expect(own).not.toHaveProperty('events');
});

test('a record is null without a request if its id is invalid, and null if it does not exist', async () => {
  const { client, requests } = organization([]);
  const one = (id: string) => crmReads['one of accounts']!(client, { id, includes: [], remote: false });
  expect([await one("x' OR Name != '"), requests.length]).toEqual([null, 0]);
  expect([await one(ID), requests.length]).toEqual([null, 1]);
  expect(requests[0]!.query['q']).toMatch(new RegExp(`WHERE Id = '${ID}' LIMIT 1$`));
});

test('fields that are hidden from one connection are requested by another one', async () => {
  const cache = createSourceCache();
  const refuses = ({ path, query }: ScriptedRequest) => {
    if (path.endsWith('describe')) return { fields: [{ name: 'Id' }, { name: 'Name' }] };
    if (String(query['q']).includes('Industry')) return new Fault('bad_response', 'No such column');
    return { records: [{ Id: ID, Name: 'Boats' }], done: true };
  };
  const request = { id: ID, includes: [], remote: false };
  const limited = scriptedClient(GRANT, refuses, cache);
  expect(await crmReads['one of accounts']!(limited.client, request)).toMatchObject({ name: 'Boats', industry: null });
  await crmReads['one of accounts']!(limited.client, request);
  expect(limited.requests.map(({ path }) => path)).toEqual(['query', 'sobjects/Account/describe', 'query', 'query']);
  const other = scriptedClient({ ...GRANT, accessToken: 'another' }, () => ({ records: [], done: true }), cache);
  await crmReads['one of accounts']!(other.client, request);
  expect(other.requests[0]!.query['q']).toContain('Industry');
});
