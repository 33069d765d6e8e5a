/**
 * Tests of operations that read from the source during the request, which test/system/sources/own tests in detail, and
 * of every list with a cursor.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { DataSourceRecord } from '../../contract/files/records.js';
import { siteId } from '../emulators/graph/sites.js';
import { CLIENT_ID, CLIENT_SECRET } from '../emulators/oauthProvider.js';
import { sfId } from '../emulators/salesforce.js';
import { type Site, startSampleSite } from '../emulators/site.js';
import { apiClient, type Listed, type TestUser } from '../support/client.js';
import { answerFault, choices, ourDocument } from '../support/contract.js';
import { everyRow } from '../support/everyRow.js';
import { startService, type TestService } from '../support/service.js';
import { waitFor } from '../support/waitFor.js';
import { type GitHubFixture, fixtureForGitHub } from '../support/sourceFixtures/github.js';
import { discussionsOfAtlas } from '../support/sourceFixtures/githubDiscussions.js';
import { type MicrosoftFixture, fixtureForSharePoint } from '../support/sourceFixtures/microsoft.js';
import { type SalesforceFixture, fixtureForSalesforce } from '../support/sourceFixtures/salesforce.js';
import { fixtureForSlack } from '../support/sourceFixtures/slack.js';
import type { SourceFixture } from '../support/sourceFixtures/fixture.js';

const RECORD = {
  OwnerId: sfId('005', 'ada'),
  IsDeleted: false,
  CreatedDate: '2026-01-07T09:00:00.000+0000',
  LastModifiedDate: '2026-01-07T09:00:00.000+0000',
};
const CRM = {
  accounts: { object: 'Account', id: sfId('001', 'boats'), fields: { Name: 'Boats' } },
  contacts: { object: 'Contact', id: sfId('003', 'ben'), fields: { Name: 'Ben Low', LastName: 'Low' } },
  leads: {
    object: 'Lead',
    id: sfId('00Q', 'eel'),
    fields: { Name: 'Eel Lang', LastName: 'Lang', Company: 'Lantern', Status: 'Open' },
  },
  opportunities: {
    object: 'Opportunity',
    id: sfId('006', 'won'),
    fields: { Name: 'Won', StageName: 'Closed', CloseDate: '2026-03-01', IsClosed: true, IsWon: true },
  },
};
/** Lists of a GitHub repository: end of the path, further fields of the request, and minimum number of entries. */
const GITHUB_LISTS: readonly [string, object, number][] = [
  ['issues', {}, 3],
  ['pull_requests', {}, 1],
  ['pull_requests/comments', { pull_number: 2 }, 1],
  ['pull_requests/commits', { pull_number: 2 }, 1],
  ['pull_requests/files', { pull_number: 2 }, 1],
];

let service: TestService;
let user: TestUser;
let salesforce: SalesforceFixture;
let github: GitHubFixture;
let slack: SourceFixture;
let sharePoint: MicrosoftFixture;
let site: Site;
let ids: { salesforce: number; github: number; slack: number; sharePoint: number };

async function connect(fixture: SourceFixture, type: string): Promise<number> {
  fixture.reset();
  const quiet = { sync_source_items: false, sync_files_on_connection: false };
  expect(await fixture.connect(user, quiet)).toMatchObject({ status: 200 });
  const { id } = await waitFor(
    async () =>
      (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body.results.find(
        (source) => source.data_source_type === type,
      )!,
    (source) => source?.sync_status === 'READY',
  );
  return id;
}

beforeAll(async () => {
  [salesforce, github, slack, sharePoint, site] = await Promise.all([
    fixtureForSalesforce(),
    fixtureForGitHub(),
    fixtureForSlack(),
    fixtureForSharePoint(),
    startSampleSite(4, 1),
  ]);
  service = await startService({
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    SOURCE_URLS: [salesforce, github, slack, sharePoint].map(({ settings }) => settings).join(),
    OAUTH_CLIENTS: ['SALESFORCE', 'SLACK', 'SHAREPOINT']
      .map((source) => `${source}=${CLIENT_ID}:${CLIENT_SECRET}`)
      .join(),
  });
  user = await service.user('reader');
  ids = {
    salesforce: await connect(salesforce, 'SALESFORCE'),
    github: await connect(github, 'GITHUB'),
    slack: await connect(slack, 'SLACK'),
    sharePoint: await connect(sharePoint, 'SHAREPOINT'),
  };
  for (const { object, id, fields } of Object.values(CRM))
    salesforce.emulator.put(object, id, { ...RECORD, ...fields });
  github.emulator.repositories['ada/atlas']!.discussions = discussionsOfAtlas();
});
afterAll(async () => {
  await service.close();
  await Promise.all([salesforce, github, slack, sharePoint, site].map((closable) => closable.close()));
});

/** Expects a 200 answer that matches our OpenAPI document and the published one of Carbon's hosted service. */
function expectDescribed(
  method: 'get' | 'post',
  path: string,
  { status, body }: { status: number; body: unknown },
): void {
  const operation = { method, path, status };
  expect([status, answerFault('ours', operation, body), answerFault('theirs', operation, body)]).toEqual([
    200,
    null,
    null,
  ]);
}

test('lists the records of a CRM, and reads each by its id', () =>
  everyRow(
    Object.entries(CRM),
    ([kind]) => kind,
    async ([kind, { id }]) => {
      const path = `/integrations/data/crm/${kind}`;
      const list = await user.post<{ data: { id: string }[] }>(path, { data_source_id: ids.salesforce });
      expectDescribed('post', path, list);
      expect(list.body.data.map((record) => record.id)).toEqual([id]);
      const single = await user.get<{ id: string }>(`${path}/${id}?data_source_id=${ids.salesforce}`);
      expectDescribed('get', `${path}/{id}`, single);
      expect(single.body.id).toBe(id);
    },
  ));

test('lists issues, pull requests, and comments, commits and files of a pull request', () =>
  everyRow(
    GITHUB_LISTS,
    ([path]) => path,
    async ([listPath, fields, minEntries]) => {
      const path = `/integrations/data/github/${listPath}`;
      const request = { data_source_id: ids.github, repository: 'ada/atlas', ...fields };
      const list = await user.post<{ data: unknown[] }>(path, request);
      expectDescribed('post', path, list);
      expect(list.body.data.length).toBeGreaterThanOrEqual(minEntries);
    },
  ));

test('reads an issue and a pull request by number', async () => {
  const query = `?data_source_id=${ids.github}&repository=ada/atlas`;
  const issue = await user.get<{ number: number }>(`/integrations/data/github/issues/4${query}`);
  expectDescribed('get', '/integrations/data/github/issues/{issue_number}', issue);
  expect(issue.body.number).toBe(4);
  const pull = await user.get<{ number: number }>(`/integrations/data/github/pull_requests/2${query}`);
  expectDescribed('get', '/integrations/data/github/pull_requests/{pull_number}', pull);
  expect(pull.body.number).toBe(2);
});

/** A list that is read page by page, by the cursor of the previous page. */
interface CursorList {
  /** Method and path in the OpenAPI document. */
  readonly operation: string;
  /** Number of entries. */
  readonly entries: number;
  /** Whether a request can set the page size. */
  readonly isSized: boolean;
  /** Reads a page; null for the first. A page without a next cursor is the last. */
  readonly page: (size: number, cursor: string | null) => Promise<{ entries: unknown[]; next: string | null }>;
}

const query = (fields: Readonly<Record<string, string | number | null>>): string =>
  Object.entries(fields)
    .flatMap(([name, value]) => (value === null ? [] : [`${name}=${encodeURIComponent(value)}`]))
    .join('&');

async function eventsList(): Promise<CursorList> {
  const { organizationId, apiKey } = await service.store.organizations.create('with events');
  const { store } = service;
  const rows = [1, 2, 3, 4, 5].map((id) => ({
    kind: 'FILE_READY',
    customerId: 'ada',
    objectId: String(id),
    info: null,
  }));
  await store.transaction((session) =>
    store.events.write(
      rows.map((row) => ({ ...row, organizationId, kind: 'FILE_READY' as const })),
      session,
    ),
  );
  await waitFor(
    async () => {
      await store.events.number();
      return store.events.after(organizationId, 0, 10);
    },
    ({ length }) => length === rows.length,
  );
  const key = apiClient(service.url, { authorization: `Bearer ${apiKey}` });
  type Page = { results: { event_id: string }[]; next_cursor: number; has_more: boolean };
  return {
    operation: 'get /events',
    entries: rows.length,
    isSized: true,
    async page(limit, after) {
      const { results, next_cursor, has_more } = (await key.get<Page>(`/events?${query({ limit, after })}`)).body;
      return { entries: results.map((event) => event.event_id), next: has_more ? String(next_cursor) : null };
    },
  };
}

async function itemsList(): Promise<CursorList> {
  const { request_id } = await user.settled((await user.scrape({ url: site.url('/sitemap.xml') })).id);
  type Run = { id: number; finished_at: string | null };
  const run = await waitFor(
    async () => (await user.get<{ results: Run[] }>(`/sync_runs?request_id=${request_id}`)).body.results[0],
    (latestRun) => latestRun !== undefined && latestRun.finished_at !== null,
  );
  type Page = { results: { id: string }[]; next_cursor: string | null };
  return {
    operation: 'get /sync_runs/{sync_run_id}/items',
    entries: 4,
    isSized: true,
    async page(limit, after) {
      const { body } = await user.get<Page>(`/sync_runs/${run!.id}/items?${query({ limit, after })}`);
      return { entries: body.results.map((item) => item.id), next: body.next_cursor };
    },
  };
}

const listByPost = (path: string, entries: number, request: object): CursorList => ({
  operation: `post ${path}`,
  entries,
  isSized: true,
  async page(page_size, next_cursor) {
    const pageRequest = { ...request, page_size, next_cursor };
    const { body } = await user.post<{ data: unknown[]; next_cursor: string | null }>(path, pageRequest);
    return { entries: body.data.map((entry) => JSON.stringify(entry)), next: body.next_cursor };
  },
});
const listByGet = (
  path: string,
  entries: number,
  request: Readonly<Record<string, string | number>>,
  field: 'results' | 'sites',
): CursorList => ({
  operation: `get ${path}`,
  entries,
  isSized: false,
  async page(_size, cursor) {
    type Page = { results?: { id: string }[]; sites?: { id: string }[]; next_cursor: string | null };
    const { body } = await user.get<Page>(`${path}?${query({ ...request, cursor })}`);
    return { entries: (body[field] ?? []).map(({ id }) => id), next: body.next_cursor };
  },
});

/** Reads a list to its end by pages of one size. */
async function readPages({ page, entries: maxPages }: CursorList, size: number): Promise<unknown[][]> {
  const pages: unknown[][] = [];
  for (let cursor: string | null = null; pages.length <= maxPages + 1;) {
    const { entries, next } = await page(size, cursor);
    pages.push(entries);
    if (next === null) return pages;
    cursor = next;
  }
  throw new Error(`the list has no end: it returned ${pages.length} pages of size ${size}`);
}

test('a list read by cursors has each entry once, in the same order for any page size', async () => {
  const atlas = { data_source_id: ids.github, repository: 'ada/atlas' };
  for (const { object, id, fields } of Object.values(CRM))
    for (const suffix of ['b', 'c'])
      salesforce.emulator.put(object, sfId(id.slice(0, 3), suffix), { ...RECORD, ...fields });
  for (const name of ['Marketing', 'Crew', 'Boats']) {
    const { sites } = sharePoint.graph;
    sites.set(`sites/${name}`, { id: siteId(sites.size), displayName: name, drives: [], pages: new Map() });
  }
  const counts: Readonly<Record<string, number>> = {
    ...{ issues: 4, pull_requests: 2, 'pull_requests/comments': 3, 'pull_requests/commits': 2 },
    'pull_requests/files': 3,
  };
  const states: Readonly<Record<string, object>> = {
    issues: { filters: { state: 'all' } },
    pull_requests: { filters: { state: 'all' } },
  };
  const lists = [
    await eventsList(),
    await itemsList(),
    ...Object.keys(CRM).map((kind) =>
      listByPost(`/integrations/data/crm/${kind}`, 3, { data_source_id: ids.salesforce }),
    ),
    ...GITHUB_LISTS.map(([listPath, fields]) =>
      listByPost(`/integrations/data/github/${listPath}`, counts[listPath] ?? 0, {
        ...atlas,
        ...fields,
        ...states[listPath],
      }),
    ),
    listByGet(
      '/integrations/slack/conversations',
      5,
      { data_source_id: ids.slack, types: 'public_channel,private_channel,im,mpim' },
      'results',
    ),
    listByGet('/integrations/sharepoint/sites/list', 5, { data_source_id: ids.sharePoint }, 'sites'),
  ];
  const byCursor = Object.entries(ourDocument.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { responses }]) =>
      choices(ourDocument, responses['200']?.content['application/json']?.schema ?? {}).some(
        ({ properties }) => properties && 'next_cursor' in properties,
      )
        ? [`${method} ${path}`]
        : [],
    ),
  );
  expect(lists.map(({ operation }) => operation).toSorted()).toEqual(byCursor.toSorted());

  await everyRow(
    lists,
    ({ operation }) => operation,
    async (list) => {
      const sizes = list.isSized ? Array.from({ length: list.entries + 1 }, (_, at) => list.entries + 1 - at) : [1];
      let firstReading: unknown[] | null = null;
      for (const size of sizes) {
        const pages = await readPages(list, size);
        const entries = pages.flat();
        firstReading ??= entries;
        expect({ size, entries }).toEqual({ size, entries: firstReading });
        expect(new Set(entries).size).toBe(list.entries);
        expect(entries).toHaveLength(list.entries);
        // Pages of a provider may be shorter than requested.
        if (list.isSized) expect(Math.max(...pages.map(({ length }) => length))).toBeLessThanOrEqual(size);
        else expect(pages.length).toBeGreaterThan(1);
      }
    },
  );
});
