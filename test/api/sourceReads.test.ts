/**
 * Tests of the operations that read a connected account during a request, with an account in memory: which account is
 * called, with which requests and pages, and with which status its refusals are answered.
 */
import { expect, test } from '@jest/globals';

import { listConfluence } from '../../api/integrations/confluence/list.js';
import { gitBookSpaces } from '../../api/integrations/gitbook/spaces.js';
import { gitHubLiveReads } from '../../api/integrations/github/liveReads.js';
import { gitHubRepos } from '../../api/integrations/github/repos.js';
import { sharePointSites } from '../../api/integrations/sharePoint/sites.js';
import { slackConversations } from '../../api/integrations/slack/conversations.js';
import type { DocumentedOperation } from '../../api/http/operation.js';
import { Fault } from '../../contract/failures.js';
import { everyRow } from '../support/everyRow.js';

const CALLER = { organizationId: 1, userId: 2, customerId: 'ann' };

interface Connected {
  readonly _id: number;
  readonly type: string;
  readonly userId?: number;
  readonly revokedAccess?: boolean;
  readonly sealedCredentials?: string | null;
}

/** Calls an operation with the data sources of user 2 and an account whose methods are given. */
async function call(
  operation: DocumentedOperation,
  { query = {}, body = {}, params = {} }: { query?: object; body?: object; params?: object },
  account: object,
  sources: readonly Connected[],
) {
  const own = sources
    .map((source) => ({ userId: 2, revokedAccess: false, sealedCredentials: 's', ...source }))
    .filter(({ userId }) => userId === 2);
  const opened: unknown[] = [];
  const dataSources = {
    find: ({ userId }: { userId: number }, id: number) =>
      Promise.resolve(own.find((source) => source._id === id && source.userId === userId) ?? null),
    findSingle(_caller: object, type: string) {
      const matches = own.filter((source) => source.type === type);
      return Promise.resolve(matches.length > 1 ? { several: true } : { source: matches[0] ?? null });
    },
  };
  const deps = {
    store: { dataSources, accountCredentials: () => null, ...(account as { store?: object }).store },
    connectors: { account: (type: string, id: string) => (opened.push([type, id]), account) },
  };
  const valid = (schema: typeof operation.query, value: object): unknown => {
    const result = schema?.validate(value) ?? { value: {} };
    if ('error' in result && result.error) throw result.error;
    return result.value;
  };
  const request = { query: valid(operation.query, query), body: valid(operation.body, body), params };
  const answer = await operation.handle({ caller: CALLER, ...request, given: new Set(), deps } as never);
  return { answer, opened };
}
/** Returns an account whose `read` records its requests. */
function reading(answer: unknown = { results: [], next_cursor: null }) {
  const reads: unknown[] = [];
  const read = (kind: string, request: object) => (reads.push([kind, request]), Promise.resolve(answer));
  return { account: { read }, reads };
}
const one = (type: string): Connected[] => [{ _id: 4, type }];

test('the spaces of GitBook are read from every page', async () => {
  const cursors: unknown[] = [];
  const pages = new Map([
    [null, { items: ['a', 'b'], next: 'p2' }],
    ['p2', { items: [], next: 'p3' }],
    ['p3', { items: ['c'], next: null }],
  ]);
  const listRoots = (cursor: string | null) => {
    cursors.push(cursor);
    const { items, next } = pages.get(cursor)!;
    const found = items.map((id) => ({ externalId: id, name: `name ${id}`, externalUrl: `http://${id}` }));
    return Promise.resolve({ items: found, next });
  };
  const { answer, opened } = await call(gitBookSpaces, { query: { data_source_id: 4 } }, { listRoots }, one('GITBOOK'));
  const results = ['a', 'b', 'c'].map((id) => ({ id, name: `name ${id}`, url: `http://${id}` }));
  expect([answer, cursors, opened]).toEqual([{ results }, [null, 'p2', 'p3'], [['GITBOOK', '4']]]);
});

test('the repositories of GitHub are read by page, of at most 100', async () => {
  const pages: unknown[] = [];
  const listContainers = (page: object) => {
    pages.push(page);
    return Promise.resolve({ containers: [{ id: 9, externalId: 'o/r', url: 'http://r' }], next: null });
  };
  const list = (query: object) => call(gitHubRepos, { query }, { listContainers }, one('GITHUB'));
  expect((await list({})).answer).toEqual([{ id: '9', name: 'o/r', url: 'http://r' }]);
  await list({ per_page: 500, page: 3 });
  await list({ per_page: 7 });
  expect(pages).toEqual([
    { number: 1, size: 30 },
    { number: 3, size: 100 },
    { number: 1, size: 7 },
  ]);
});

/** Requests for the conversations of Slack, and what is read. */
const CONVERSATIONS: readonly (readonly [query: object, read: object])[] = [
  [{}, { types: 'public_channel', cursor: null, excludeArchived: true }],
  [
    { types: '', cursor: '' },
    { types: 'public_channel', cursor: null, excludeArchived: true },
  ],
  [
    { types: 'im, mpim', cursor: 'c', exclude_archived: false },
    { types: 'im,mpim', cursor: 'c', excludeArchived: false },
  ],
];

test('the conversations of Slack are read by kind and cursor, with or without archived ones', async () => {
  await everyRow(CONVERSATIONS, JSON.stringify, async ([query, read]) => {
    const { account, reads } = reading();
    await call(slackConversations, { query }, account, one('SLACK'));
    expect(reads).toEqual([['conversations', read]]);
  });
  const wrong = call(slackConversations, { query: { types: 'im,other' } }, reading().account, one('SLACK'));
  await expect(wrong).rejects.toMatchObject({ status: 422 });
});

test('the sites of SharePoint are read by cursor; an empty one is the first page', async () => {
  const { account, reads } = reading();
  for (const query of [{}, { cursor: '' }, { cursor: 'c' }])
    await call(sharePointSites, { query }, account, one('SHAREPOINT'));
  expect(reads).toEqual([null, null, 'c'].map((cursor) => ['sites', { cursor }]));
});

test('records of GitHub are read by repository and number; a record that GitHub does not have is 404', async () => {
  const [, issue] = gitHubLiveReads;
  const get = (answer: unknown) => {
    const { account, reads } = reading(answer);
    const request = { query: { repository: 'o/r', include_remote_data: true }, params: { issue_number: '12' } };
    return { reads, got: call(issue!, request, account, one('GITHUB')) };
  };
  const { reads, got } = get({ number: 12 });
  expect((await got).answer).toEqual({ number: 12 });
  expect(reads).toEqual([['one of issues', { number: 12, repository: 'o/r', remote: true }]]);
  await expect(get(null).got).rejects.toMatchObject({ status: 404 });
});

test('the tree of Confluence has root items or the children of an item, with has_children and is_synced', async () => {
  const listings: { filters: object; page: object }[] = [];
  const row = (externalId: string, fileId: number | null) => ({ item: { externalId, name: externalId }, fileId });
  const items = {
    async *list(_source: object, listing: (typeof listings)[number]) {
      listings.push(listing);
      yield await Promise.resolve([row('a', 1), row('b', null)]);
      yield [row('c', null)];
    },
    parents: (_source: object, ids: string[]) => Promise.resolve(new Set(ids.filter((id) => id !== 'b'))),
  };
  const list = (body: object) =>
    call(listConfluence, { body: { data_source_id: 4, ...body } }, { store: { items } }, one('CONFLUENCE'));
  expect((await list({ parent_id: '' })).answer).toEqual({
    data: [
      { id: 'a', name: 'a', has_children: true, is_synced: true },
      { id: 'b', name: 'b', has_children: false, is_synced: false },
      { id: 'c', name: 'c', has_children: true, is_synced: false },
    ],
  });
  await list({ parent_id: 'x' });
  expect(listings.map(({ filters }) => filters)).toEqual([{ rootsOnly: true }, { parentExternalId: 'x' }]);
});

/** Data sources, the requested id, and the status, or the id of the account that is called. */
const ACCOUNTS: readonly (readonly [sources: Connected[], id: number | undefined, expected: number | string])[] = [
  [one('SLACK'), undefined, '4'],
  [[...one('SLACK'), { _id: 5, type: 'SLACK' }], undefined, 400],
  [[...one('SLACK'), { _id: 5, type: 'SLACK' }], 5, '5'],
  [[...one('SLACK'), { _id: 5, type: 'GITHUB' }], 5, 404],
  [[{ _id: 4, type: 'SLACK', userId: 3 }], 4, 404],
  [[{ _id: 4, type: 'SLACK', userId: 3 }], undefined, 404],
  [[{ _id: 4, type: 'SLACK', revokedAccess: true }], 4, 409],
  [[{ _id: 4, type: 'SLACK', revokedAccess: true }], undefined, 409],
  [[{ _id: 4, type: 'SLACK', sealedCredentials: null }], 4, 409],
];

test('the account of a read is the named one, or the only one of its source, of the caller', () =>
  everyRow(ACCOUNTS, JSON.stringify, async ([sources, id, expected]) => {
    const query = id === undefined ? {} : { data_source_id: id };
    const called = call(slackConversations, { query }, reading().account, sources);
    if (typeof expected === 'number') await expect(called).rejects.toMatchObject({ status: expected });
    else expect((await called).opened).toEqual([['SLACK', expected]]);
  }));

test('a refusal of a source is 503 with Retry-After if it is temporary, else 400, also for invalid credentials', () =>
  everyRow(
    [
      [new Fault('rate_limited', 'later', { retryAfterMs: 1_500 }), 503, 2],
      [new Fault('access_revoked', 'no'), 400, null],
      [new Fault('access_denied', 'no'), 400, null],
    ] as const,
    ([fault]) => fault.kind,
    async ([fault, status, retryAfterSeconds]) => {
      const account = { read: () => Promise.reject(fault) };
      const called = call(slackConversations, {}, account, one('SLACK'));
      await expect(called).rejects.toMatchObject({ status, retryAfterSeconds });
    },
  ));
