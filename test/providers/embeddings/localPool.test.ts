import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { joinWindows } from '../../../providers/embeddings/joinWindows.js';
import { startLocalProcess } from '../../../providers/embeddings/providers/local.js';
import {
  createLocalPool,
  LONG_QUERY_CHARACTERS,
  type LocalPool,
  type LocalPoolOptions,
} from '../../../providers/embeddings/providers/localPool.js';
import type { LocalRequest } from '../../../providers/embeddings/providers/localProcess.js';
import { PATIENCE_MS, waitFor } from '../../support/waitFor.js';
import { modelFiles } from './modelFiles.js';

interface ObservedPool {
  readonly pool: LocalPool;
  /** What the pool sends to its processes. */
  readonly given: string[];
  readonly children: ChildProcess[];
  /** Those of the children that are for long queries. */
  readonly longChildren: ChildProcess[];
}

/** A pool of real processes with the real model. */
function observedPool(size: number, options: Partial<LocalPoolOptions> = {}): ObservedPool {
  const given: string[] = [];
  const children: ChildProcess[] = [];
  const longChildren: ChildProcess[] = [];
  const startProcess = (): ChildProcess => {
    const child = startLocalProcess(modelFiles);
    const send = child.send.bind(child) as (request: unknown, sent: () => void) => boolean;
    child.send = (request: LocalRequest, sent: unknown): boolean => {
      given.push(request.slice);
      return send(request, sent as () => void);
    };
    children.push(child);
    return child;
  };
  const startLongQueryProcess = (): ChildProcess => {
    const child = startProcess();
    longChildren.push(child);
    return child;
  };
  const pool = createLocalPool({ size, startProcess, startLongQueryProcess, ...options });
  pools.push(pool);
  return { pool, given, children, longChildren };
}

const pools: LocalPool[] = [];
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
});

const LONG = 'the river runs through the old town and past the market '.repeat(400);

test('callers with documents take turns, a window each', async () => {
  const { pool, given } = observedPool(1);
  await Promise.all([
    pool.embed(['a1', 'a2', 'a3', 'a4'], 'document'),
    pool.embed(['b1', 'b2'], 'document'),
    pool.embed(['c1'], 'document'),
  ]);
  expect(given).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
});

test('a query goes first: before waiting documents, and between the windows of the one under way', async () => {
  const { pool, given } = observedPool(1);
  await pool.embed(['warm up'], 'query');
  const finished: string[] = [];
  const documents = pool.embed([LONG, 'next', 'last'], 'document').then(() => finished.push('documents'));
  await waitFor(() => given.length > 2, Boolean);
  const queries = pool.embed(['q1', 'q2'], 'query').then(() => {
    finished.push('queries');
    // Not even the first document is done: it has some twenty windows.
    expect(given.filter((text) => !LONG.includes(text))).toEqual(['warm up', 'q1', 'q2']);
  });
  await Promise.all([documents, queries]);
  expect(finished).toEqual(['queries', 'documents']);
});

test('work is spread over the processes, which start only when there is work for them', async () => {
  const { pool, children } = observedPool(2);
  expect(children).toHaveLength(0);
  await pool.embed(['one'], 'document');
  expect(children).toHaveLength(1);
  await pool.embed(['one', 'two', 'three'], 'document');
  expect(children).toHaveLength(2);
});

test('a process that was asked for ahead loads the model before the first text, and takes it', async () => {
  const { pool, children } = observedPool(2);
  pool.prepare();
  pool.prepare();
  expect(children).toHaveLength(1);
  await pool.embed(['one'], 'document');
  pool.prepare();
  expect(children).toHaveLength(1);
  await pool.close();
  pool.prepare();
  expect(children).toHaveLength(1);
});

/** Eight windows, of words that are one word piece each. */
const LONG_QUERY = 'river '.repeat(254 * 8);
const [ours, theirs] = [{ organizationId: 1 }, { organizationId: 2 }];

test('a short query waits neither for long queries nor for documents', async () => {
  const { pool, given } = observedPool(1);
  await pool.embed(['warm up'], 'query');
  const finished: string[] = [];
  const long = [LONG_QUERY, LONG_QUERY].map((text) =>
    pool.embed([text], 'query', undefined, ours).then(() => finished.push('long')),
  );
  const document = pool.embed([LONG_QUERY], 'document').then(() => finished.push('document'));
  await waitFor(() => given.length > 3, Boolean);
  const short = pool.embed(['short'], 'query', undefined, theirs).then(() => finished.push('short'));
  // Sent at once, beside the windows under way.
  expect(given.at(-1)).toBe('short');
  await short;
  expect(finished).toEqual(['short']);
  await Promise.all([...long, document]);
});

test('long queries of two organizations take turns window by window', async () => {
  const { pool, longChildren } = observedPool(2);
  await pool.embed(['warm up'], 'query');
  const finished: string[] = [];
  const ask = (name: string, windows: number, party: typeof ours) =>
    pool.embed(['river '.repeat(254 * windows)], 'query', undefined, party).then(() => finished.push(name));
  await Promise.all([ask('ours 1', 10, ours), ask('ours 2', 10, ours), ask('theirs', 4, theirs)]);
  expect(finished).toEqual(['theirs', 'ours 1', 'ours 2']);
  // However many wait, they share one process.
  expect(longChildren).toHaveLength(1);
});

describe('the process for long queries', () => {
  const hasExited = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

  test('takes queries above the limit, and no others; the vectors are the same, bit for bit', async () => {
    const { pool, children, longChildren } = observedPool(1);
    // Thai has no spaces between words: without a place to cut, the text is one slice.
    const longest = ['ภาษาไทย', 'river '].map((word) => word.repeat(500).slice(0, LONG_QUERY_CHARACTERS));
    const longer = longest.map((text) => `${text}x`);
    await pool.embed(longest, 'query');
    const asDocuments = await pool.embed(longer, 'document');
    expect(children).toHaveLength(1);
    expect(longChildren).toHaveLength(0);
    expect(await pool.embed(longer.slice(0, 1), 'query')).toEqual(asDocuments.slice(0, 1));
    expect(longChildren).toHaveLength(1);
    expect(await pool.embed(longer, 'query')).toEqual(asDocuments);
    expect(children).toHaveLength(2);
    expect(longChildren).toHaveLength(1);
  });

  /** Waits until the pool ends a process, whose exit is reported later. */
  const untilEnded = async (child: ChildProcess | undefined): Promise<void> => {
    const tooLate = AbortSignal.timeout(PATIENCE_MS);
    while (!child?.killed) await setImmediate(undefined, { signal: tooLate });
  };

  test('ends when none come for a while, and starts again with the next', async () => {
    const { pool, children, longChildren } = observedPool(1, { longQueryIdleMs: 100 });
    await pool.embed(['short', LONG_QUERY], 'query');
    // Takes longer than a process may be idle: one that works is not ended.
    await pool.embed([LONG_QUERY], 'query');
    expect(longChildren).toHaveLength(1);
    await untilEnded(longChildren[0]);
    // At once: the process that was ended receives no more.
    await pool.embed([LONG_QUERY], 'query');
    expect(longChildren).toHaveLength(2);
    expect(children.filter(({ killed }) => !killed)).toHaveLength(2);
  });

  test('fails its query when it dies; another one starts for the next query, and short queries do not notice', async () => {
    const { pool, given, longChildren, children } = observedPool(1);
    await pool.embed(['warm up'], 'query');
    const long = [ours, theirs].map((party) => pool.embed([LONG_QUERY], 'query', undefined, party));
    await waitFor(() => given.length > 2, Boolean);
    const short = pool.embed(['short'], 'query', undefined, theirs);
    longChildren[0]?.kill('SIGKILL');
    // The two take turns: the one whose window was under way is lost.
    const ends = await Promise.allSettled(long);
    expect(ends.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(ends.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { name: 'Fault', kind: 'embedding_failed', retryable: true },
    });
    expect(await short).toHaveLength(1);
    expect(longChildren).toHaveLength(2);
    expect(children).toHaveLength(3);
  });

  test('that can not load the model fails long queries only', async () => {
    const startLongQueryProcess = () => startLocalProcess({ ...modelFiles, modelPath: '/nowhere/model.onnx' });
    const { pool } = observedPool(1, { startLongQueryProcess });
    await pool.embed(['warm up'], 'query');
    const document = pool.embed([LONG_QUERY], 'document');
    const queries = [LONG_QUERY, LONG_QUERY].map((text) => pool.embed([text], 'query'));
    for (const query of await Promise.allSettled(queries))
      expect(query).toMatchObject({ status: 'rejected', reason: { kind: 'embedding_failed' } });
    expect(await document).toHaveLength(1);
  });

  test('has ended when the pool is closed, whether it worked or was just ended', async () => {
    const [working, ended] = [observedPool(1), observedPool(1, { longQueryIdleMs: 1 })];
    const lost = working.pool.embed([LONG_QUERY.repeat(20)], 'query').catch(() => 'closed');
    await ended.pool.embed([LONG_QUERY], 'query');
    await untilEnded(ended.longChildren[0]);
    await Promise.all([working, ended].map(({ pool }) => pool.close()));
    expect(await lost).toBe('closed');
    for (const { longChildren } of [working, ended]) {
      expect(longChildren.length).toBeGreaterThan(0);
      expect(longChildren.every(hasExited)).toBe(true);
    }
  });
});

test('no further window of an aborted text is embedded', async () => {
  const { pool, given } = observedPool(1);
  const abort = new AbortController();
  const aborted = pool.embed([LONG_QUERY], 'query', abort.signal, ours);
  await waitFor(() => given.length > 0, Boolean);
  abort.abort(new Error('the caller disconnected'));
  await expect(aborted).rejects.toThrow('the caller disconnected');
  const sent = given.length;
  // Another text of the lane comes after all that still waits there.
  await pool.embed([LONG_QUERY], 'query', undefined, ours);
  expect(given.slice(sent).join('')).toBe(LONG_QUERY);
});

test('the vector of a long text is the mean of its windows, weighted by their word pieces', async () => {
  const { pool } = observedPool(2);
  const windows = ['river '.repeat(254), 'market '.repeat(254), 'town '.repeat(50)];
  const [whole] = await pool.embed([windows.join('')], 'document');
  const parts = await pool.embed(windows, 'document');
  const joined = joinWindows(parts.map((vector, index) => ({ vector, tokens: [254, 254, 50][index]! })));
  whole?.forEach((value, index) => expect(value).toBeCloseTo(joined[index]!, 5));
});

test('many callers at once each get their own vectors', async () => {
  const { pool } = observedPool(2);
  const texts = Array.from({ length: 12 }, (_, i) => `document number ${i} about ${i * i} things`);
  const alone: Float32Array[] = [];
  for (const text of texts) alone.push(...(await pool.embed([text], 'document')));
  const calls = await Promise.all(
    texts.map((text, i) => pool.embed([text, texts[(i + 1) % texts.length]!], i % 3 ? 'document' : 'query')),
  );
  calls.forEach((vectors, i) => expect(vectors).toEqual([alone[i], alone[(i + 1) % texts.length]]));
});

test('an aborted call gives up what still waits and rejects with the reason of its signal', async () => {
  const { pool, given } = observedPool(1);
  const abort = new AbortController();
  const reason = new Error('cancelled by the user');
  const dropped = pool.embed(['a1', 'a2', 'a3'], 'document', abort.signal);
  abort.abort(reason);
  await expect(dropped).rejects.toBe(reason);
  await expect(pool.embed(['never'], 'query', abort.signal)).rejects.toBe(reason);
  expect(await pool.embed(['b1'], 'document')).toHaveLength(1);
  expect(given).toEqual(['a1', 'b1']);
});

test('a process that dies fails what it worked on; others go on with a new one', async () => {
  const { pool, given, children } = observedPool(1);
  await pool.embed(['warm up'], 'document');
  const running = pool.embed([LONG, 'never'], 'document');
  const waiting = pool.embed(['waits'], 'document');
  await waitFor(() => given.length > 1, Boolean);
  children[0]?.kill('SIGKILL');
  await expect(running).rejects.toMatchObject({ name: 'Fault', kind: 'embedding_failed', retryable: true });
  expect(await waiting).toHaveLength(1);
  expect(await pool.embed(['later'], 'query')).toHaveLength(1);
  expect(children).toHaveLength(2);
  expect(given.filter((text) => !LONG.includes(text))).toEqual(['warm up', 'waits', 'later']);
});

test('an idle process that dies is replaced by the next call', async () => {
  const { pool, children } = observedPool(1);
  await pool.embed(['first'], 'query');
  children[0]?.kill('SIGKILL');
  // Not even its exit is known yet: this call may be the one to find out.
  await pool.embed(['lost'], 'query').catch(() => []);
  expect(await pool.embed(['second'], 'query')).toHaveLength(1);
});

test('a Ctrl-C that reaches the whole process group leaves the work to the parent', async () => {
  const { pool, children } = observedPool(1);
  await pool.embed(['warm up'], 'document');
  const running = pool.embed([LONG, 'more'], 'document');
  children[0]?.kill('SIGINT');
  children[0]?.kill('SIGTERM');
  expect(await running).toHaveLength(2);
  expect(children).toHaveLength(1);
});

test('a process that loses its parent ends by itself, also in the middle of a text', async () => {
  const { pool, children } = observedPool(1);
  await pool.embed(['warm up'], 'document');
  // Some twenty seconds of work at the least, were it to be finished.
  const lost = pool.embed([LONG.repeat(60)], 'document').catch(() => {});
  await pool.embed(['it has begun'], 'query');
  const [child] = children as [ChildProcess];
  child.disconnect();
  await once(child, 'exit', { signal: AbortSignal.timeout(10_000) });
  expect({ code: child.exitCode, signal: child.signalCode }).toEqual({ code: 0, signal: null });
  await lost;
});

test('closing fails what is under way, and later calls', async () => {
  const { pool } = observedPool(1);
  const running = pool.embed(['a', 'b'], 'document');
  await Promise.all([expect(running).rejects.toMatchObject({ kind: 'embedding_failed' }), pool.close()]);
  await expect(pool.embed(['c'], 'document')).rejects.toMatchObject({ kind: 'embedding_failed' });
});
