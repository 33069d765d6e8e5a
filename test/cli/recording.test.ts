/** Tests of the parts of a recording with a simulated account, provider and user. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';

import { withClock } from '../../cli/recording/clock.js';
import { consentOnLoopback } from '../../cli/recording/consent.js';
import { createRecorder } from '../../cli/recording/exchanges.js';
import { runSteps } from '../../cli/recording/steps.js';
import { Fault } from '../../contract/failures.js';

const item = (externalId: string, fields: object = {}) => ({
  ...{ externalId, itemType: 'FILE', fileFormat: 'TXT', version: '1' },
  ...{ hasContent: true, isSelectable: true, isExpandable: false, ...fields },
});

/** Returns a page of a list. Its cursor is the number of the page. */
const pages = (list: readonly (readonly object[])[], cursor: string | null) => {
  const page = Number(cursor ?? 0);
  return Promise.resolve({ items: list[page] ?? [], next: page + 1 < list.length ? String(page + 1) : null });
};

const LIMITS = { containers: 2, pages: 2, items: 3 };
const ROOTS = [
  [item('c1', { isExpandable: true, hasContent: false }), item('a'), item('b')],
  [item('c2', { isExpandable: true, hasContent: false }), item('c3', { isExpandable: true, hasContent: false })],
  [item('page 3')],
];

async function runAccount(account: object, change: ((targets: object, attempt: number) => Promise<void>) | null) {
  const outcomes: [string, unknown][] = [];
  const opened: string[] = [];
  const base = {
    identify: () => Promise.resolve({ name: 'n' }),
    listRoots: (cursor: string | null) => pages(ROOTS, cursor),
    listDescendants: (id: string, cursor: string | null) =>
      id === 'c2'
        ? Promise.reject(new Fault('access_denied', 'refused'))
        : pages([[item('d', { fileFormat: 'PDF' }), item('a')], [item('e')], [item('f')]], cursor),
    open: (id: string) => {
      opened.push(id);
      return id === 'b'
        ? Promise.reject(new Fault('not_found', 'gone'))
        : Promise.resolve({ name: id, bytes: new Uint8Array() });
    },
    changes: null,
    ...account,
  };
  const ended = runSteps(base as never, LIMITS, new AbortController().signal, {
    enter: () => undefined,
    leave: (step, outcome) => void outcomes.push([step, outcome]),
    change: change as never,
  }).then(
    () => null,
    (error: Error) => error.message,
  );
  return { error: await ended, outcomes: new Map(outcomes), steps: outcomes.map(([step]) => step), opened };
}

test('lists and reads no more than the limits, one item of each kind first, and records refusals', async () => {
  const { error, outcomes, steps, opened } = await runAccount({}, null);
  expect([error, steps]).toEqual([null, ['connect', 'list', 'read']]);
  const listed = outcomes.get('list') as { roots: { pages: { hasNext: boolean }[] }; containers: object[] };
  expect(listed.roots.pages.map(({ hasNext }) => hasNext)).toEqual([true, true]);
  expect(listed.containers).toEqual([
    { of: 'c1', listing: { pages: [expect.anything(), expect.anything()] } },
    { of: 'c2', listing: { fault: 'access_denied' } },
  ]);
  expect(opened).toEqual(['a', 'd', 'b']);
  expect((outcomes.get('read') as { content: object }[])[2]?.content).toEqual({ fault: 'not_found' });
});

test('reads all pages of the feed after the prepared cursor, again until they contain the change and the deletion by the user', async () => {
  const asked: unknown[] = [];
  const prepared = ['p1', 'p2'];
  let attempts = 0;
  const changes = {
    now: () => Promise.resolve('p0'),
    prepare: (point: string) => {
      asked.push(`prepare ${point}`);
      return Promise.resolve({ next: prepared.shift() ?? 'p2', more: prepared.length > 0 });
    },
    since: (cursor: string) => {
      asked.push(cursor);
      if (cursor === 'p2') return Promise.resolve({ changes: [{ item: item('a') }], next: 'p3', more: true });
      return Promise.resolve({ changes: attempts > 1 ? [{ gone: 'd' }] : [], next: 'p4', more: false });
    },
  };
  const { error, outcomes, steps } = await runAccount({ changes }, async (targets, attempt) => {
    attempts = attempt;
    expect(targets).toMatchObject({ changed: { externalId: 'a' }, deleted: { externalId: 'd' } });
    await Promise.resolve();
  });
  expect([error, attempts]).toEqual([null, 2]);
  expect(steps).toEqual(['connect', 'list', 'read', 'point', 'changes', 'changes']);
  expect(asked).toEqual(['prepare p0', 'prepare p1', 'p2', 'p3', 'p2', 'p3']);
  expect((outcomes.get('changes') as { feed: object[] }).feed).toHaveLength(2);
});

test('gives up if the changes never become visible, or if there are not two items', async () => {
  let attempts = 0;
  const never = await runAccount({}, async (_targets, attempt) => void (await Promise.resolve((attempts = attempt))));
  expect([never.error, attempts]).toEqual([expect.stringContaining('did not report the change'), 10]);
  const small = await runAccount({ listRoots: () => pages([[item('a')]], null) }, () => Promise.resolve());
  expect(small.error).toContain('fewer than two items');
});

test('records no response after which the connector repeats a request, and only the last attempt at a step', async () => {
  const answers = [
    ...[{ status: 200 }, { status: 429 }, { status: 500 }, { status: 403, headers: { 'retry-after': '1' } }],
    ...[{ status: 403 }, { status: 200 }],
  ];
  const recorder = createRecorder({
    request: () =>
      Promise.resolve({ headers: {}, bytes: () => Promise.resolve(Buffer.from('b')), ...answers.shift() }) as never,
  });
  const request = () => recorder.egress.request({ url: 'https://x.example/', headers: { 'X-Name': 'v' } } as never);
  recorder.enter('list');
  await request();
  recorder.enter('list');
  for (let sent = 0; sent < 4; sent += 1) await request();
  recorder.enter('read');
  expect(Buffer.from(await (await request()).bytes()).toString()).toBe('b');
  const recorded = [...recorder.steps].map(([step, exchanges]) => [
    step,
    exchanges.map(({ answered }) => answered.status),
  ]);
  expect(recorded).toEqual([
    ['list', [403]],
    ['read', [200]],
  ]);
  expect(recorder.steps.get('read')?.[0]?.asked).toMatchObject({
    method: 'GET',
    headers: { 'x-name': 'v' },
    body: null,
  });
});

test('restores the clock after work that failed', async () => {
  const real = Date.now;
  const failed = withClock(async (clock) => {
    clock.set(5_000);
    expect(Math.floor(Date.now() / 1_000)).toBe(5);
    await Promise.resolve();
    throw new Error('failed');
  });
  await expect(failed).rejects.toThrow('failed');
  expect(Date.now).toBe(real);
});

/** Starts a consent. `answer` requests the callback with parameters, and returns the status. */
function beginConsent(signal: AbortSignal, requestToken: object | null = null, port = 0) {
  const exchanged: object[] = [];
  let callback: (query: object) => Promise<number> = () => Promise.reject(new Error('not begun'));
  let shown: () => void = () => undefined;
  const isShown = new Promise<void>((resolve) => (shown = resolve));
  const consent = {
    spec: { scopes: ['read'] },
    begin: (_facts: object, { redirectUri, state }: { redirectUri: string; state: string }) => {
      callback = async (query) =>
        (await fetch(`${redirectUri}?${new URLSearchParams({ state, ...query }).toString()}`)).status;
      return Promise.resolve({ url: 'https://consent.example/', requestToken });
    },
    exchange: (given: object) => {
      exchanged.push(given);
      return Promise.resolve({ accessToken: 'token', refreshToken: 'secret', facts: { site: 's' } });
    },
  };
  const ended = consentOnLoopback({
    consent: consent as never,
    client: { id: 'i', secret: 's' },
    ...{ facts: {}, port, signal, show: () => shown() },
  });
  ended.catch(() => undefined);
  return { ended, exchanged, answer: async (query: object) => (await isShown, callback(query)) };
}

test('accepts only the callback with its own state, and returns the access token without the refresh token', async () => {
  const { ended, exchanged, answer } = beginConsent(new AbortController().signal);
  expect([await answer({ state: 'other', code: 'x' }), await answer({ code: 'c' })]).toEqual([404, 200]);
  expect(await ended).toEqual({ accessToken: 'token', facts: { site: 's' } });
  expect(exchanged).toEqual([expect.objectContaining({ code: 'c', requestToken: null, keepsClient: false })]);
  const oauth1 = beginConsent(new AbortController().signal, { token: 't', secret: 'z' });
  await oauth1.answer({ code: 'no', oauth_verifier: 'v' });
  await oauth1.ended;
  expect(oauth1.exchanged).toEqual([expect.objectContaining({ code: 'v', requestToken: { token: 't', secret: 'z' } })]);
});

test('ends a consent that is refused, stopped, or whose port is in use, and releases the port', async () => {
  const denied = beginConsent(new AbortController().signal);
  await denied.answer({ error: 'access_denied' });
  await expect(denied.ended).rejects.toThrow('did not grant access (access_denied)');
  await expect(denied.answer({ code: 'late' })).rejects.toThrow('fetch failed');
  const stopping = new AbortController();
  const stopped = beginConsent(stopping.signal);
  expect(await stopped.answer({ state: 'other' })).toBe(404);
  stopping.abort();
  await expect(stopped.ended).rejects.toThrow('Stopped. Nothing was saved.');
  const other = createServer().listen(0, 'localhost');
  await new Promise((resolve) => other.once('listening', resolve));
  const { port } = other.address() as AddressInfo;
  await expect(beginConsent(new AbortController().signal, null, port).ended).rejects.toThrow(`Port ${port} is in use`);
  await new Promise((resolve) => other.close(resolve));
});
