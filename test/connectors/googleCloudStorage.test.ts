import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import type { Account } from '../../connectors/account.js';
import type { Egress } from '../../egress/types.js';
import { type GoogleCloudStorageEmulator, startGoogleCloudStorage } from '../emulators/googleCloudStorage.js';
import { grantedAccount, readListing, loopbackEgress, NEVER } from './account.js';
import { faultOf } from '../support/faultOf.js';
import { Fault } from '../../contract/failures.js';
import { acceptedBrokenAnswers } from './brokenAnswers.js';

let egress: Egress;
let storage: GoogleCloudStorageEmulator;
let account: Account;

const accountWith = (scopes: readonly string[] = []): Account => {
  const { accessToken } = storage.oauth.grant('ada@harbour.example', scopes);
  return grantedAccount('GOOGLE_CLOUD_STORAGE', storage.settings, accessToken, egress, 1_000);
};

beforeAll(async () => {
  egress = loopbackEgress();
  storage = await startGoogleCloudStorage();
});
afterAll(async () => {
  await egress.close();
  await storage.close();
});
beforeEach(() => {
  storage.buckets.clear();
  for (const id of Object.keys(storage.projects)) delete storage.projects[id];
  Object.assign(storage.projects, { closed: null, north: ['atlas'], south: ['boats', 'crews'], east: [] });
  for (const bucket of ['atlas', 'boats', 'crews', 'docks', 'eels.example.com'])
    storage.buckets.set(bucket, new Map([[`${bucket}.md`, { content: `On ${bucket}.` }]]));
  storage.reset();
  account = accountWith();
});

const put = (bucket: string, key: string, content: string | Buffer, type?: string): void =>
  void storage.buckets.get(bucket)?.set(key, type === undefined ? { content } : { content, type });
const descendantsOf = (id: string) => readListing((cursor) => account.listDescendants(id, cursor, NEVER));
const opened = async (id: string) => {
  const content = await account.open(id, NEVER);
  return { ...content, text: Buffer.from(content.bytes).toString() };
};

describe('listing', () => {
  test('lists the buckets of all visible projects as roots', async () => {
    const { items, ids } = await readListing((cursor) => account.listRoots(cursor, NEVER));
    expect(ids).toEqual(['atlas', 'boats', 'crews', 'docks', 'eels.example.com']);
    expect(items[0]).toMatchObject({ itemType: 'FOLDER', externalUrl: 'gs://atlas/', isExpandable: true });
  });

  test('denies the list of roots without access to projects, and still lists a bucket by name', async () => {
    account = accountWith(['https://www.googleapis.com/auth/devstorage.read_only']);
    expect(await faultOf(account.listRoots(null, NEVER))).toMatchObject({ kind: 'access_denied' });
    expect((await descendantsOf('atlas')).ids).toEqual(['atlas', 'atlas/atlas.md']);
  });

  test.each([
    ['SERVICE_DISABLED', 'not_configured'],
    ['IAM_PERMISSION_DENIED', 'access_denied'],
    ['RATE_LIMIT_EXCEEDED', 'rate_limited'],
  ])('reports a refused list of projects with the reason %s as %s', async (reason, kind) => {
    storage.injectFault((path) =>
      path === '/crm/v1/projects' ? { status: 403, reason, isNew: true, headers: { 'retry-after': '3600' } } : null,
    );
    expect(await faultOf(account.listRoots(null, NEVER))).toMatchObject({ kind });
  });

  test('lists each prefix once as a folder, across all pages', async () => {
    for (const key of ['a/1.md', 'a/2.md', 'a/b/3.md', 'a/b/4.md', 'a.md', 'z/']) put('boats', key, key);
    const { ids, pages, items } = await descendantsOf('boats');
    const inside = ['a.md', 'a/', 'a/1.md', 'a/2.md', 'a/b/', 'a/b/3.md', 'a/b/4.md', 'boats.md', 'z/'];
    expect(ids).toEqual(['boats', ...inside.map((key) => `boats/${key}`)]);
    expect(pages).toBe(3);
    expect(items.find(({ externalId }) => externalId === 'boats/a/b/3.md')).toMatchObject({
      parentExternalId: 'boats/a/b/',
      rootExternalId: 'boats',
      fileFormat: 'MD',
    });
    expect((await descendantsOf('boats/a/b/')).ids).toEqual(['boats/a/b/', 'boats/a/b/3.md', 'boats/a/b/4.md']);
    expect((await descendantsOf('boats/a.md')).ids).toEqual(['boats/a.md']);
  });

  test('restarts after an expired page token', async () => {
    for (let nth = 0; nth < 7; nth += 1) put('boats', `${nth}.md`, 'x');
    const first = await account.listDescendants('boats', null, NEVER);
    storage.pages.expire();
    const remainder = await readListing((cursor) => account.listDescendants('boats', cursor ?? first.next, NEVER));
    expect(new Set([...first.items.map((item) => item.externalId), ...remainder.ids]).size).toBe(9);
  });

  test.each(['nowhere', 'atlas/nothing.md', 'atlas/none/', 'up/..', '../b', 'B/x', '', '/atlas/q'])(
    'rejects %s as not found',
    async (id) => {
      expect(await faultOf(account.listDescendants(id, null, NEVER))).toMatchObject({ kind: 'not_found' });
    },
  );

  test('gives a replaced object a new version', async () => {
    const version = async () => (await descendantsOf('atlas/atlas.md')).items[0]?.version;
    const first = await version();
    expect(first).toMatch(/^\d{16,}$/);
    expect(await version()).toBe(first);
    put('atlas', 'atlas.md', 'Another');
    expect(await version()).not.toBe(first);
  });
});

describe('content', () => {
  test('has the stored media type, else the type of its extension', async () => {
    put('boats', 'plain', 'a,b', 'text/csv');
    put('boats', 'named.csv', 'a,b');
    expect(await opened('boats/plain')).toMatchObject({ text: 'a,b', contentType: 'text/csv', name: 'plain' });
    expect(await opened('boats/named.csv')).toMatchObject({
      contentType: 'text/csv',
      url: 'gs://boats/named.csv',
      // The stored ETag, not the generation of the object, which is a number.
      fileMetadata: { bucket: 'boats', etag: expect.stringMatching(/^C/) },
    });
  });

  test.each(['a b+c.md', 'ümläut/日本.md', `it's (1) & "2" <3>.md`, '100%/#1?.md', 'twice//slashed.md', '!*.md'])(
    'is read for the key %s',
    async (key) => {
      put('boats', key, `Of ${key}`);
      expect(await opened(`boats/${key}`)).toMatchObject({ text: `Of ${key}` });
      expect((await descendantsOf(`boats/${key}`)).ids).toEqual([`boats/${key}`]);
    },
  );

  test('is rejected above the size limit, for folders, and for missing objects, folders and buckets', async () => {
    put('boats', 'large.txt', Buffer.alloc(1_001, 'a'));
    put('boats', 'a/1.md', 'x');
    expect(await faultOf(account.open('boats/large.txt', NEVER))).toMatchObject({ kind: 'too_large' });
    expect(await faultOf(account.open('boats/a/', NEVER))).toMatchObject({ kind: 'unsupported_type' });
    for (const id of ['boats/none.md', 'boats/none/', 'nowhere'])
      expect(await faultOf(account.open(id, NEVER))).toMatchObject({ kind: 'not_found' });
  });
});

describe('the account', () => {
  test('is identified by the user who consented, until the token expires', async () => {
    expect(await account.identify(NEVER)).toEqual({
      account: 'ada@harbour.example',
      metadata: { email: 'ada@harbour.example', user_name: 'Ada' },
    });
    storage.oauth.expireAll();
    expect(await faultOf(account.identify(NEVER))).toMatchObject({ kind: 'access_revoked' });
  });

  test.each([
    [429, 'rateLimitExceeded', 'rate_limited'],
    [403, 'forbidden', 'access_denied'],
    [503, 'backendError', 'server_error'],
  ])('reports HTTP %s %s as %s', async (status, reason, kind) => {
    storage.injectFault(() => ({ status, reason, headers: { 'retry-after': '3600' } }));
    expect(await faultOf(account.open('atlas/atlas.md', NEVER))).toMatchObject({ kind });
  });
});

test('skips projects whose buckets it may not list, and does not mark the list of roots as partial', async () => {
  let refused = 0;
  storage.injectFault((path) => {
    if (!path.endsWith('/storage/v1/b')) return null;
    refused += 1;
    return { status: 403, reason: 'forbidden' };
  });
  const found: unknown[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page: Awaited<ReturnType<typeof account.listRoots>> = await account.listRoots(cursor ?? null, NEVER);
    found.push(...page.items, ...(page.isPartial ? ['partial'] : []));
    cursor = page.next;
  }
  expect(found).toEqual([]);
  expect(refused).toBeGreaterThan(0);
});

test('never treats a broken response as the end of a list', async () => {
  // A failed list of projects makes the page partial: it deletes nothing, so it counts as a rejected response here.
  const listAllRoots = async (cursor: string | null) => {
    const page = await account.listRoots(cursor, NEVER);
    if (page.isPartial) throw new Fault('server_error', 'The list is partial.');
    return page;
  };
  const list = async () => [(await readListing(listAllRoots)).items, (await descendantsOf('boats')).items];
  expect(await acceptedBrokenAnswers(storage, list)).toEqual([]);
});
