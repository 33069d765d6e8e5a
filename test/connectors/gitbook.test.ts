import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import type { Account } from '../../connectors/account.js';
import type { Egress } from '../../egress/types.js';
import { type GitBookEmulator, ORGANIZATION, startGitBook, TOKEN } from '../emulators/gitbook.js';
import { nextRequests } from '../emulators/emulator.js';
import { accountWith, readListing, loopbackEgress, NEVER, textOf, versionsOf } from './account.js';
import { faultOf } from '../support/faultOf.js';
import { acceptedBrokenAnswers } from './brokenAnswers.js';

let egress: Egress;
let gitbook: GitBookEmulator;
let account: Account;

const accountOf = (credentials: object = {}, timeLimitMs = 30_000): Account =>
  accountWith(
    'GITBOOK',
    gitbook.settings,
    { organization: ORGANIZATION, accessToken: TOKEN, ...credentials },
    egress,
    timeLimitMs,
  );
const descendantsOf = (id: string) => readListing((cursor) => account.listDescendants(id, cursor, NEVER));
const roots = () => readListing((cursor) => account.listRoots(cursor, NEVER));

beforeAll(async () => {
  egress = loopbackEgress();
  gitbook = await startGitBook();
});
afterAll(async () => {
  await egress.close();
  await gitbook.close();
});
beforeEach(() => {
  gitbook.reset();
  gitbook.tokens.set(TOKEN, ORGANIZATION);
  for (const id of Object.keys(gitbook.spaces)) delete gitbook.spaces[id];
  for (const id of ['boats', 'crews', 'docks', 'eels']) gitbook.spaces[id] = { title: `Space ${id}`, pages: {} };
  gitbook.spaces['atlas'] = {
    title: 'Atlas',
    pages: {
      sights: {
        type: 'group',
        title: 'Sights',
        pages: {
          lighthouse: {
            title: 'Lighthouse',
            text: 'A light.',
            pages: { keeper: { title: 'Keeper', text: 'Aurelia.' } },
          },
          away: { type: 'link', title: 'Elsewhere' },
        },
      },
      interface: { type: 'computed', title: 'Interface' },
    },
  };
  account = accountOf();
});

describe('credentials', () => {
  test('are checked against the user and the organization', async () => {
    expect(await account.identify(NEVER)).toEqual({
      account: ORGANIZATION,
      metadata: { organization: ORGANIZATION, organization_name: 'The harbour', user_name: 'Ada' },
    });
    expect(gitbook.requests).toEqual(['/v1/user', `/v1/orgs/${ORGANIZATION}`]);
  });

  test('with a revoked token, or a token that is invalid in a header, make every call fail with access_revoked', async () => {
    gitbook.tokens.delete(TOKEN);
    const calls = {
      identify: account.identify(NEVER),
      roots: account.listRoots(null, NEVER),
      below: account.listDescendants('atlas', null, NEVER),
      open: account.open('atlas/lighthouse', NEVER),
      'header injection': accountOf({ accessToken: 'gb\r\nx-other: 1' }).identify(NEVER),
    };
    const kinds = Object.entries(calls).map(async ([name, call]) => `${name}: ${(await faultOf(call)).kind}`);
    expect(await Promise.all(kinds)).toEqual(Object.keys(calls).map((name) => `${name}: access_revoked`));
  });

  test('with another organization, or a path as the organization, are reported as not found', async () => {
    for (const organization of ['another', '..', `${ORGANIZATION}/spaces`])
      expect(await faultOf(accountOf({ organization }).identify(NEVER))).toMatchObject({ kind: 'not_found' });
  });
});

describe('a listing', () => {
  test('follows next.page through all spaces and leaves out deleted ones', async () => {
    gitbook.spaces['crews']!.deletedAt = '2026-03-04T10:00:00.000Z';
    const { ids, pages } = await roots();
    expect(ids).toEqual(['boats', 'docks', 'eels', 'atlas']);
    expect(pages).toBe(3);
    expect(gitbook.requests[1]).toBe(`/v1/orgs/${ORGANIZATION}/spaces?limit=100&page=p2`);
    expect(await faultOf(descendantsOf('crews'))).toMatchObject({ kind: 'not_found' });
  });

  test('of a space contains its tree of groups, pages and links, and reports computed pages as skipped', async () => {
    const { items } = await descendantsOf('atlas');
    expect(items.map((item) => [item.externalId, item.parentExternalId, item.itemType, item.hasContent])).toEqual([
      ['atlas', null, 'SPACE', false],
      ['atlas/sights', 'atlas', 'GROUP', false],
      ['atlas/lighthouse', 'atlas/sights', 'SHEET', true],
      ['atlas/keeper', 'atlas/lighthouse', 'SHEET', true],
      ['atlas/away', 'atlas/sights', 'LINK', false],
    ]);
    expect(items.at(-1)).toMatchObject({ isSelectable: false, skipReason: expect.stringMatching(/link/) });
    expect((await account.listDescendants('atlas', null, NEVER)).skipped).toMatchObject([
      { externalId: 'atlas/interface', name: 'Interface', reason: expect.stringMatching(/computes/) },
    ]);
  });

  test('of a page contains the page and its subpages', async () => {
    expect((await descendantsOf('atlas/lighthouse')).ids).toEqual(['atlas/lighthouse', 'atlas/keeper']);
    expect((await descendantsOf('atlas/keeper')).ids).toEqual(['atlas/keeper']);
    const computed = await account.listDescendants('atlas/interface', null, NEVER);
    expect(computed).toMatchObject({ items: [], skipped: [{ externalId: 'atlas/interface' }] });
    expect(await faultOf(descendantsOf('atlas/nothing'))).toMatchObject({ kind: 'not_found' });
    expect(await faultOf(descendantsOf('nowhere'))).toMatchObject({ kind: 'not_found' });
  });

  test('gives a changed page a new version and leaves out a deleted page', async () => {
    const before = versionsOf((await descendantsOf('atlas')).items);
    const { pages } = gitbook.spaces['atlas']!.pages['sights']!;
    pages!['lighthouse']!.text = 'Another light.';
    delete pages!['lighthouse']!.pages!['keeper'];
    const after = versionsOf((await descendantsOf('atlas')).items);
    expect(Object.keys(after)).toEqual(Object.keys(before).filter((id) => id !== 'atlas/keeper'));
    expect(Object.keys(after).filter((id) => after[id] !== before[id])).toEqual(['atlas/lighthouse']);
  });

  test('never treats a broken response as the end of a list', async () => {
    const list = async () => [(await roots()).items, (await descendantsOf('atlas')).items];
    expect(await acceptedBrokenAnswers(gitbook, list)).toEqual([]);
  });
});

describe('content', () => {
  test('of a page is its Markdown below its title', async () => {
    const { format, name, contentType, url, fileMetadata } = await account.open('atlas/lighthouse', NEVER);
    expect({ format, name, contentType, url }).toEqual({
      ...{ format: 'GITBOOK', name: 'Lighthouse', contentType: 'text/markdown; charset=utf-8' },
      url: 'https://app.gitbook.com/s/atlas/sights/lighthouse',
    });
    expect(fileMetadata).toMatchObject({ type: 'PAGE', space_id: 'atlas', updated_at: expect.any(String) });
    expect(await textOf(account, 'atlas/lighthouse')).toBe('# Lighthouse\n\nA light.');
  });

  test('is never replaced by a broken response', async () => {
    expect(await acceptedBrokenAnswers(gitbook, () => account.open('atlas/lighthouse', NEVER))).toEqual([]);
  });

  test('is unsupported for spaces, groups and links, and not found for missing items', async () => {
    const kinds: Record<string, string> = {};
    for (const id of ['atlas', 'atlas/sights', 'atlas/away', 'atlas/nothing', 'nowhere', 'atlas/..'])
      kinds[id] = (await faultOf(account.open(id, NEVER))).kind;
    expect(kinds).toEqual({
      ...{ atlas: 'unsupported_type', 'atlas/sights': 'unsupported_type', 'atlas/away': 'unsupported_type' },
      ...{ 'atlas/nothing': 'not_found', nowhere: 'not_found', 'atlas/..': 'not_found' },
    });
  });
});

describe('the rate limit', () => {
  // A time in seconds since 1970: https://gitbook.com/docs/developers/gitbook-api/rate-limiting
  const limited = (inS: number) => () => ({
    status: 429,
    headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(Math.floor(Date.now() / 1000) + inS) },
  });

  test('delays the retry until X-RateLimit-Reset', async () => {
    gitbook.injectFault(nextRequests(1, limited(0)));
    expect((await roots()).ids).toHaveLength(5);
    expect(gitbook.requests).toHaveLength(4);
  });

  test('throws a Fault with the remaining time if that is longer than the maximum wait', async () => {
    gitbook.injectFault(nextRequests(1, limited(600)));
    const fault = await faultOf(accountOf({}, 100).listRoots(null, NEVER));
    expect(fault.kind).toBe('rate_limited');
    expect(fault.retryAfterMs).toBeGreaterThan(500_000);
    expect(fault.retryAfterMs).toBeLessThanOrEqual(600_000);
    expect(gitbook.requests).toHaveLength(1);
  });

  test.each([
    ['X-RateLimit-Reset in milliseconds', { 'x-ratelimit-reset': String(Date.now()) }],
    ['a distant X-RateLimit-Reset', { 'x-ratelimit-reset': '99999999999' }],
    ['Retry-After in seconds since 1970', { 'retry-after': String(Math.floor(Date.now() / 1000)) }],
  ])('causes a Fault with a wait of one hour if its header gives a longer one: %s', async (_what, headers) => {
    gitbook.injectFault(nextRequests(1, () => ({ status: 429, headers })));
    const fault = await faultOf(accountOf({}, 100).listRoots(null, NEVER));
    expect(fault.retryAfterMs).toBe(3_600_000);
    expect(fault.message).toContain('Try again after 3600 s.');
  });
});
