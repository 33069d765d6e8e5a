import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import type { SourceItem } from '../../connectors/sourceItem.js';
import { readSourceUrls } from '../../connectors/readSourceUrls.js';
import type { Account } from '../../connectors/account.js';
import { changedFileOf, pullOf } from '../../connectors/github/records.js';
import { createConnectors } from '../../connectors/registry.js';
import type { Fault } from '../../contract/failures.js';
import type { Egress } from '../../egress/types.js';
import { GITHUB_TOKEN, type GitHubEmulator, LOGIN, type InjectedFault, startGitHub } from '../emulators/github.js';
import { acceptedBrokenAnswers } from './brokenAnswers.js';
import { faultOf } from '../support/faultOf.js';
import { readListing, loopbackEgress, NEVER } from './account.js';

const REPOSITORY = 'ada/atlas';
let egress: Egress;
let github: GitHubEmulator;
let account: Account;

beforeAll(async () => {
  egress = loopbackEgress();
  github = await startGitHub();
});
afterAll(async () => {
  await egress.close();
  await github.close();
});
beforeEach(() => {
  github.repositories[REPOSITORY] = { id: 1, branch: 'main', files: {} };
  github.limits.entries = 100_000;
  github.requests.length = 0;
  github.injectFault(() => null);
  const connectors = createConnectors({ egress, urls: readSourceUrls(github.settings), maxItemBytes: 1_000_000 });
  account = connectors.account('GITHUB', '1', JSON.stringify({ username: LOGIN, accessToken: GITHUB_TOKEN }));
});

const put = (path: string, content: string | Buffer, mode: '100644' | '120000' | '160000' = '100644'): void => {
  github.repositories[REPOSITORY]!.files[path] = { content, mode };
};

const listDescendants = (externalId: string) =>
  readListing((cursor) => account.listDescendants(externalId, cursor, NEVER));

describe('trees', () => {
  const fill = () => {
    for (const path of ['a/1.md', 'a/b/2.md', 'a/b/c/3.md', 'd/4.md', '5.md']) put(path, path);
  };

  test('that GitHub truncates are listed in parts with the same items', async () => {
    fill();
    const untruncated = await listDescendants(REPOSITORY);
    expect(untruncated.pages).toBe(1);
    expect(untruncated.items).toHaveLength(10);
    github.limits.entries = 3;
    const parts = await listDescendants(REPOSITORY);
    expect(parts.pages).toBeGreaterThan(2);
    const byId = (items: SourceItem[]) => items.toSorted((a, b) => (a.externalId < b.externalId ? -1 : 1));
    expect(byId(parts.items)).toEqual(byId(untruncated.items));
  });

  test('with a directory larger than GitHub lists are denied, so that no item counts as deleted', async () => {
    fill();
    github.limits.entries = 1;
    expect(await faultOf(listDescendants(REPOSITORY))).toMatchObject({ kind: 'access_denied' });
  });

  test('are listed below a directory, or for one file', async () => {
    fill();
    const ids = async (id: string) => (await listDescendants(id)).items.map(({ externalId }) => externalId).toSorted();
    const inB = ['ada/atlas/a/b', 'ada/atlas/a/b/2.md', 'ada/atlas/a/b/c', 'ada/atlas/a/b/c/3.md'];
    expect(await ids(`${REPOSITORY}/a/b`)).toEqual(inB);
    expect(await ids(`${REPOSITORY}/d/4.md`)).toEqual(['ada/atlas/d/4.md']);
  });

  test('of a repository without commits are empty', async () => {
    expect((await listDescendants(REPOSITORY)).items).toMatchObject([
      { externalId: REPOSITORY, itemType: 'REPOSITORY' },
    ]);
  });

  test.each(['ada/nowhere', 'ada', 'ada/atlas/nothing', 'ada/atlas/../../user', 'ada/atlas/a//1.md'])(
    'of %s are not found',
    async (id) => {
      fill();
      expect(await faultOf(listDescendants(id))).toMatchObject({ kind: 'not_found' });
    },
  );
});

test('decides by extension and size which files have content', async () => {
  put('a.md', 'x');
  put('b.PDF', 'x');
  put('Makefile', 'x');
  put('main.rs', 'x');
  put('long.rs', 'x'.repeat(1_000_001));
  put('long.csv', 'x'.repeat(1_000_001));
  put('icon.png', 'x');
  put('song.mp3', 'x');
  put('code.wasm', 'x');
  put('empty.md', '');
  put('link.md', 'a.md', '120000');
  put('module', 'c0ffee', '160000');
  const { items } = await listDescendants(REPOSITORY);
  const formats = Object.fromEntries(items.map(({ name, fileFormat }) => [name, fileFormat]));
  expect(formats).toEqual({
    ...{ 'ada/atlas': null, 'a.md': 'MD', 'b.PDF': 'PDF', Makefile: 'TXT', 'main.rs': 'TXT', 'long.csv': 'CSV' },
    ...{ 'long.rs': null, 'icon.png': null, 'song.mp3': null, 'code.wasm': null },
    ...{ 'empty.md': null, 'link.md': null, module: null },
  });
  for (const item of items.filter(({ itemType }) => itemType === 'FILE'))
    expect(item).toMatchObject({ hasContent: item.fileFormat !== null, isSelectable: item.fileFormat !== null });
});

describe('contents', () => {
  const textOf = async (path: string) =>
    Buffer.from((await account.open(`${REPOSITORY}/${path}`, NEVER)).bytes).toString();

  test('are read byte for byte, through the blob API if they are too long for the contents API', async () => {
    put('ä b/#1?.md', 'Grüße');
    put('long.txt', 'y'.repeat(1_200_000));
    expect(await textOf('ä b/#1?.md')).toBe('Grüße');
    expect(await textOf('long.txt')).toBe('y'.repeat(1_200_000));
    expect(github.requests.filter((path) => path.includes('/git/blobs/'))).toHaveLength(1);
  });

  test('are unsupported for Git LFS pointers and directories, and not found for missing files', async () => {
    put('big.csv', 'version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n');
    put('a/b.md', 'x');
    for (const id of ['ada/atlas/big.csv', 'ada/atlas/a', 'ada/atlas'])
      expect(await faultOf(account.open(id, NEVER))).toMatchObject({ kind: 'unsupported_type' });
    expect(await faultOf(account.open('ada/atlas/c.md', NEVER))).toMatchObject({ kind: 'not_found' });
  });
});

test('accepts a repository as name, owner/name, page URL or clone URL; for other paths, sends no request', async () => {
  const requestsFor = async (repository: string) => {
    github.requests.length = 0;
    await account.read('one of issues', { repository, number: 1, remote: false }, NEVER);
    return [...github.requests];
  };
  const address = `https://github.com/${REPOSITORY}`;
  for (const repository of [REPOSITORY, 'atlas', address, `${address}/`, `${address}.git`, `${address}.git/`])
    expect([repository, await requestsFor(repository)]).toEqual([repository, [`/repos/${REPOSITORY}/issues/1`]]);
  for (const repository of [`${address}/issues/`, 'ada/...git', 'ada/atlas//', 'ada/', '/'])
    expect([repository, await requestsFor(repository)]).toEqual([repository, []]);
});

test('maps the status of a changed file to "changed" if the contract does not have that status', () => {
  expect(['renamed', 'typechange', null].map((status) => changedFileOf({ status })['status'])).toEqual([
    ...['renamed', 'changed', 'changed'],
  ]);
});

test('names a branch by its ref if its fork was deleted', () => {
  const head = { label: null, ref: '12.0', sha: 'c0ffee', user: null, repo: null };
  expect(pullOf({ head })['head']).toEqual({ label: '12.0', ref: '12.0', sha: 'c0ffee' });
});

describe('refusals', () => {
  const inAnHour = () => String(Math.floor(Date.now() / 1000) + 3_600);
  test.each<[string, () => InjectedFault, Fault['kind'], (waitMs: number | null) => boolean]>([
    [
      'an exhausted quota',
      () => ({ status: 403, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': inAnHour() } }),
      'rate_limited',
      (ms) => ms !== null && ms > 3_000_000,
    ],
    [
      'a secondary rate limit with Retry-After',
      () => ({ status: 403, headers: { 'retry-after': '120' } }),
      'rate_limited',
      (ms) => ms === 120_000,
    ],
    [
      'a secondary rate limit without Retry-After',
      () => ({ status: 429, message: 'You have exceeded a secondary rate limit' }),
      'rate_limited',
      (ms) => ms === 60_000,
    ],
    ['a path that the token may not read', () => ({ status: 403 }), 'access_denied', (ms) => ms === null],
    ['an expired token', () => ({ status: 401, message: 'Bad credentials' }), 'access_revoked', (ms) => ms === null],
    ['a moved repository', () => ({ status: 301, headers: { location: '/user' } }), 'not_found', (ms) => ms === null],
  ])('of %s become a Fault of the matching kind and delay', async (_name, injectedFault, kind, waits) => {
    put('a.md', 'x');
    github.injectFault(injectedFault);
    const fault = await faultOf(account.open(`${REPOSITORY}/a.md`, NEVER));
    expect(fault.kind).toBe(kind);
    expect({ waits: fault.retryAfterMs, isExpected: waits(fault.retryAfterMs) }).toMatchObject({ isExpected: true });
    expect(github.requests).toHaveLength(1);
  });
});

test('never treats a broken response as the end of a list', async () => {
  for (const path of ['a/1.md', 'a/b/2.md', '5.md']) put(path, path);
  const list = async () => [
    (await account.listRoots(null, NEVER)).items,
    (await listDescendants(REPOSITORY)).items,
    (await listDescendants(`${REPOSITORY}/a`)).items,
  ];
  expect(await acceptedBrokenAnswers(github, list)).toEqual([]);
});
