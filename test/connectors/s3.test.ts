import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import type { Account } from '../../connectors/account.js';
import type { Egress } from '../../egress/types.js';
import { nextRequests } from '../emulators/emulator.js';
import { ACCESS_KEY, ACCESS_KEY_SECRET, type S3SourceEmulator, startS3Source } from '../emulators/s3Source.js';
import { accountWith, readListing, loopbackEgress, NEVER, textOf, versionsOf } from './account.js';
import { faultOf } from '../support/faultOf.js';
import { acceptedBrokenAnswers } from './brokenAnswers.js';

let egress: Egress;
let s3: S3SourceEmulator;
let account: Account;

const accountOf = (credentials: object = {}, timeLimitMs = 30_000): Account => {
  const allCredentials = {
    accessKey: ACCESS_KEY,
    accessKeySecret: ACCESS_KEY_SECRET,
    endpointUrl: null,
    ...credentials,
  };
  return accountWith('S3', s3.settings, allCredentials, egress, timeLimitMs);
};
const descendantsOf = (id: string) => readListing((cursor) => account.listDescendants(id, cursor, NEVER));
const roots = () => readListing((cursor) => account.listRoots(cursor, NEVER));
const put = (bucket: string, ...keys: string[]): void => {
  const objects = s3.buckets.get(bucket) ?? new Map();
  s3.buckets.set(bucket, objects);
  for (const key of keys) objects.set(key, { content: `Of ${key}` });
};

beforeAll(async () => {
  egress = loopbackEgress();
  s3 = await startS3Source({ keysPerPage: 3 });
});
afterAll(async () => {
  await egress.close();
  await s3.close();
});
beforeEach(() => {
  s3.reset();
  s3.buckets.clear();
  s3.regions.clear();
  s3.keys.set(ACCESS_KEY, ACCESS_KEY_SECRET);
  for (const bucket of ['boats', 'crews', 'docks', 'eels']) put(bucket);
  put('atlas', 'a/b/1.md', 'a/b/2.md', 'a/b/3.md', 'a/b/4.md', 'a/c.txt', 'd.txt', 'e/', 'e/f.md');
  account = accountOf();
});

describe('credentials', () => {
  test('sign each request, and identify the account by key and endpoint', async () => {
    expect(await account.identify(NEVER)).toEqual({ account: ACCESS_KEY, metadata: {} });
    const endpointUrl = s3.origin;
    expect(await accountOf({ endpointUrl }).identify(NEVER)).toEqual({
      ...{ account: `${ACCESS_KEY}|${s3.host}`, metadata: { endpoint_url: endpointUrl } },
    });
  });

  test('without permission to list buckets can still read named buckets', async () => {
    s3.injectFault((path) => (path === '' ? { status: 403, code: 'AccessDenied' } : null));
    expect((await account.identify(NEVER)).account).toBe(ACCESS_KEY);
    expect(await faultOf(roots())).toMatchObject({ kind: 'access_denied' });
    expect((await descendantsOf('atlas/a/c.txt')).ids).toEqual(['atlas/a/c.txt']);
  });

  test('that are wrong, invalid in a header or revoked make every call fail with access_revoked', async () => {
    const kinds: Record<string, string> = {
      secret: (await faultOf(accountOf({ accessKeySecret: 'another' }).identify(NEVER))).kind,
      key: (await faultOf(accountOf({ accessKey: 'AKIAUNKNOWN' }).identify(NEVER))).kind,
      header: (await faultOf(accountOf({ accessKey: 'a\r\nx-other: 1' }).identify(NEVER))).kind,
    };
    s3.keys.clear();
    kinds['roots'] = (await faultOf(account.listRoots(null, NEVER))).kind;
    kinds['below'] = (await faultOf(account.listDescendants('atlas', null, NEVER))).kind;
    kinds['open'] = (await faultOf(account.open('atlas/d.txt', NEVER))).kind;
    expect(Object.entries(kinds).filter(([, kind]) => kind !== 'access_revoked')).toEqual([]);
  });

  test('for an endpoint that is not S3 fail with a hint at the address', async () => {
    s3.injectFault(() => ({ wrongBody: '<Welcome/>', contentType: 'application/xml' }));
    const fault = await faultOf(account.identify(NEVER));
    expect(fault).toMatchObject({ kind: 'bad_response', message: expect.stringMatching(/address of the store/) });
  });
});

describe('a listing', () => {
  test('contains the buckets of all pages', async () => {
    const { ids, pages } = await roots();
    expect(ids).toEqual(['boats', 'crews', 'docks', 'eels', 'atlas']);
    expect(pages).toBe(3);
  });

  test('of a bucket contains each folder once, before its contents, across all pages', async () => {
    const { items, pages } = await descendantsOf('atlas');
    expect(items.map((item) => [item.externalId, item.parentExternalId])).toEqual([
      ...[['atlas', null]],
      ...[
        ['atlas/a/', 'atlas'],
        ['atlas/a/b/', 'atlas/a/'],
      ],
      ...['1', '2', '3', '4'].map((name) => [`atlas/a/b/${name}.md`, 'atlas/a/b/']),
      ...[
        ['atlas/a/c.txt', 'atlas/a/'],
        ['atlas/d.txt', 'atlas'],
        ['atlas/e/', 'atlas'],
        ['atlas/e/f.md', 'atlas/e/'],
      ],
    ]);
    expect(pages).toBe(3);
    // The listing continues from the last key, because continuation tokens expire.
    expect(s3.requests.map((one) => new URL(one, s3.origin).searchParams.get('start-after'))).toEqual([
      ...[null, 'a/b/3.md', 'd.txt'],
    ]);
  });

  test('of a folder, a prefix or an object contains its descendants only', async () => {
    expect((await descendantsOf('atlas/e/')).ids).toEqual(['atlas/e/', 'atlas/e/f.md']);
    expect((await descendantsOf('/atlas/a/b')).ids.filter((id) => id.endsWith('.md'))).toHaveLength(4);
    expect((await descendantsOf('atlas/d.txt')).ids).toEqual(['atlas/d.txt']);
    expect((await descendantsOf('docks')).ids).toEqual(['docks']);
  });

  test('contains keys with any characters, which can be read unless no URL can express them', async () => {
    const keys = [
      'a b+c.md',
      'ümläut/日本.md',
      `it's (1) & "2" <3>.md`,
      '100%/#1?.md',
      'twice//slashed.md',
      'tab\t.md',
    ];
    put('odd', ...keys, 'up/../away.md');
    const files = (await descendantsOf('odd')).items
      .filter(({ hasContent }) => hasContent)
      .map(({ externalId }) => externalId);
    expect(files.toSorted()).toEqual([...keys, 'up/../away.md'].map((key) => `odd/${key}`).toSorted());
    const wrong: string[] = [];
    for (const key of keys) if ((await textOf(account, `odd/${key}`)) !== `Of ${key}`) wrong.push(key);
    expect(wrong).toEqual([]);
    // No URL can express this key: the path would resolve to another object.
    expect(await faultOf(account.open('odd/up/../away.md', NEVER))).toMatchObject({ kind: 'bad_response' });
  });

  test('requests a bucket in its region and caches the region', async () => {
    s3.regions.set('eels', 'eu-central-1');
    put('eels', 'x.md');
    expect((await descendantsOf('eels')).ids).toEqual(['eels', 'eels/x.md']);
    const requestsBefore = s3.requests.length;
    expect(await textOf(account, 'eels/x.md')).toBe('Of x.md');
    expect(s3.requests).toHaveLength(requestsBefore + 1);
  });

  test('continues after a page without objects, and never treats one as the end', async () => {
    // Deleted keys of a versioned bucket count towards the page size: https://github.com/s3ql/s3ql/pull/170
    const deletedKeys = Array.from({ length: 7 }, (_, index) => `a/a${index}.md`);
    for (const key of deletedKeys) s3.buckets.get('atlas')!.set(key, { content: '', isDeleted: true });
    const { ids } = await descendantsOf('atlas');
    expect(ids.filter((id) => id.endsWith('.md'))).toHaveLength(5);
    expect(ids.filter((id) => deletedKeys.some((key) => id.endsWith(key)))).toEqual([]);
    expect((await descendantsOf('/atlas/a/')).ids).toContain('atlas/a/c.txt');
    // Without a new continuation token, the next page cannot be requested.
    const list = (more: string) =>
      `<ListBucketResult><IsTruncated>true</IsTruncated>${more}<KeyCount>0</KeyCount></ListBucketResult>`;
    for (const wrongBody of [list(''), list('<NextContinuationToken>again</NextContinuationToken>')]) {
      s3.injectFault(() => ({ wrongBody, contentType: 'application/xml' }));
      expect(await faultOf(descendantsOf('atlas'))).toMatchObject({ kind: 'server_error' });
    }
  });

  test('gives a changed object a new version and leaves out a deleted one', async () => {
    const before = versionsOf((await descendantsOf('atlas')).items);
    s3.buckets.get('atlas')!.get('d.txt')!.content = 'Another.';
    s3.buckets.get('atlas')!.delete('a/b/2.md');
    const after = versionsOf((await descendantsOf('atlas')).items);
    expect(Object.keys(after)).toEqual(Object.keys(before).filter((id) => id !== 'atlas/a/b/2.md'));
    expect(Object.keys(after).filter((id) => after[id] !== before[id])).toEqual(['atlas/d.txt']);
  });

  test('of a missing item or an invalid bucket name is not found', async () => {
    const wrong: string[] = [];
    for (const id of [
      '',
      '..',
      'a/../b',
      'ab',
      'docks?list-type=2',
      'nowhere',
      'atlas/nothing',
      'atlas/a/c',
      'atlas/b/',
      '/atlas/z',
    ])
      for (const call of [() => descendantsOf(id), () => account.open(id, NEVER)]) {
        const { kind } = await faultOf(call());
        if (kind !== 'not_found') wrong.push(`${id}: ${kind}`);
      }
    expect(wrong).toEqual([]);
  });
});

test('reads the bytes of an object with its stored media type, else with the type of its extension', async () => {
  s3.buckets.get('atlas')!.set('g.bin', { content: Buffer.from([0, 255, 10]), type: 'application/x-light' });
  const { bytes, mimeType, url } = await account.open('atlas/g.bin', NEVER);
  expect([...bytes]).toEqual([0, 255, 10]);
  expect({ mimeType, url }).toEqual({ mimeType: 'application/x-light', url: 's3://atlas/g.bin' });
  expect(await account.open('atlas/a/b/1.md', NEVER)).toMatchObject({
    ...{
      mimeType: 'text/markdown',
      name: '1.md',
      fileMetadata: { type: 'FILE', bucket: 'atlas', etag: expect.any(String) },
    },
  });
  for (const id of ['atlas', 'atlas/a/'])
    expect(await faultOf(account.open(id, NEVER))).toMatchObject({ kind: 'unsupported_type' });
});

describe('an object', () => {
  test.each(['archived', 'customer key'] as const)('whose content is refused (%s) is unsupported', async (refusal) => {
    s3.buckets.get('atlas')!.set('d.txt', { content: 'cold', refusal });
    expect((await descendantsOf('atlas')).ids).toContain('atlas/d.txt');
    expect(await faultOf(account.open('atlas/d.txt', NEVER))).toMatchObject({ kind: 'unsupported_type' });
  });

  test.each([
    ['RequestTimeTooSkewed', 403, 'server_error'],
    ['InvalidBucketName', 400, 'not_found'],
    ['KeyTooLongError', 400, 'not_found'],
    ['AccessDenied', 403, 'access_denied'],
    ['InvalidRequest', 400, 'bad_response'],
  ])('refused with %s, status %i, is %s', async (code, status, kind) => {
    s3.injectFault(() => ({ status, code }));
    expect(await faultOf(account.open('atlas/d.txt', NEVER))).toMatchObject({ kind });
  });

  test('of a bucket with dots in its name is requested in path style: the wildcard certificate covers no dots', async () => {
    const urls: string[] = [];
    const refusing = {
      ...egress,
      request: ({ url }: { url: string }) => {
        urls.push(url);
        return Promise.reject(new Error('no network'));
      },
    } as unknown as Egress;
    const amazon = accountWith('S3', '', { accessKey: 'a', accessKeySecret: 'b', endpointUrl: null }, refusing);
    for (const bucket of ['boats', 'a.boats']) await amazon.open(`${bucket}/x.md`, NEVER).catch(() => null);
    expect(urls.map((url) => url.replace(/\?.*/, ''))).toEqual([
      ...['https://boats.s3.us-east-1.amazonaws.com/x.md', 'https://s3.us-east-1.amazonaws.com/a.boats/x.md'],
    ]);
  });
});

test('never treats a broken response as the end of a list', async () => {
  const xmlAnswer = (wrongBody: string) => ({ wrongBody, contentType: 'application/xml' });
  const broken = (call: () => Promise<unknown>) =>
    acceptedBrokenAnswers(s3, call, {
      // The faults that all sources share, in the XML of S3, and faults specific to S3.
      'HTTP 500': { status: 500, code: 'InternalError' },
      'empty list': xmlAnswer('<ListBucketResult/>'),
      'list of no buckets': xmlAnswer('<ListAllMyBucketsResult/>'),
      'no body': xmlAnswer(''),
    });
  expect(await broken(async () => (await roots()).ids)).toEqual([]);
  expect(await broken(async () => (await descendantsOf('atlas')).items)).toEqual([]);
  expect(await broken(async () => (await descendantsOf('atlas/d.txt')).items)).toEqual([]);
});

describe('the rate limit', () => {
  // 503 with the code SlowDown: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
  const slowDown = (headers = {}) => nextRequests(1, () => ({ status: 503, code: 'SlowDown', headers }));

  test('delays the retry by Retry-After', async () => {
    s3.injectFault(slowDown({ 'retry-after': '0' }));
    expect((await roots()).ids).toHaveLength(5);
    expect(s3.requests).toHaveLength(4);
  });

  test('throws a Fault with the remaining time if that is longer than the maximum wait', async () => {
    s3.injectFault(slowDown({ 'retry-after': '600' }));
    const fault = await faultOf(accountOf({}, 100).listRoots(null, NEVER));
    expect(fault).toMatchObject({ kind: 'rate_limited', retryAfterMs: 600_000 });
    expect(s3.requests).toHaveLength(1);
  });
});
