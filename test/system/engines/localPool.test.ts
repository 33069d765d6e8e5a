import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import {
  createLocalPool,
  LONG_QUERY_CHARACTERS,
  type LocalPool,
  type LocalPoolOptions,
} from '../../../providers/embeddings/providers/localPool.js';
import type { LocalRequest } from '../../../providers/embeddings/providers/localProcess.js';
import { loadProduct } from '../../support/product.js';
import { thoroughly } from '../../support/thorough.js';
import { TIME_LIMIT_MS, waitFor } from '../../support/waitFor.js';
import { modelFiles } from '../../providers/embeddings/modelFiles.js';

const { startLocalProcess } = await loadProduct();

interface ObservedPool {
  readonly pool: LocalPool;
  /** Texts that the pool sends to its processes. */
  readonly sent: string[];
  readonly children: ChildProcess[];
  /** The child processes for long queries. */
  readonly longChildren: ChildProcess[];
}

/**
 * Returns a pool of real processes with the real model, which records the texts that it sends to them. The caller
 * closes it.
 */
function openPool(size: number, options: Partial<LocalPoolOptions> = {}): ObservedPool {
  const sent: string[] = [];
  const children: ChildProcess[] = [];
  const longChildren: ChildProcess[] = [];
  const startProcess = (): ChildProcess => {
    const child = startLocalProcess(modelFiles);
    const send = child.send.bind(child) as (request: unknown, callback: () => void) => boolean;
    child.send = (request: LocalRequest, callback: unknown): boolean => {
      sent.push(request.slice);
      return send(request, callback as () => void);
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
  return { pool, sent, children, longChildren };
}

const pools: LocalPool[] = [];
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
});

/** Returns a pool for one test. */
function observedPool(...args: Parameters<typeof openPool>): ObservedPool {
  const observed = openPool(...args);
  pools.push(observed.pool);
  return observed;
}

const shared = openPool(1);
afterAll(() => shared.pool.close());

/**
 * Returns a pool of one process that other tests use too, because each start of a process loads the model. Texts of
 * earlier tests are not in `sent`.
 */
function sharedPool(): Pick<ObservedPool, 'pool' | 'sent'> {
  shared.sent.length = 0;
  return shared;
}

const LONG = 'the river runs through the old town and past the market '.repeat(400);

test('serves callers with documents round-robin, one window each', async () => {
  const { pool, sent } = sharedPool();
  await Promise.all([
    pool.embed(['a1', 'a2', 'a3', 'a4'], 'document'),
    pool.embed(['b1', 'b2'], 'document'),
    pool.embed(['c1'], 'document'),
  ]);
  expect(sent).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
});

test('embeds a query before waiting documents, also between two windows of the current document', async () => {
  const { pool, sent } = sharedPool();
  await pool.embed(['warm up'], 'query');
  const finished: string[] = [];
  const documents = pool.embed([LONG, 'next', 'last'], 'document').then(() => finished.push('documents'));
  await waitFor(() => sent.length > 2, Boolean);
  const queries = pool.embed(['q1', 'q2'], 'query').then(() => {
    finished.push('queries');
    // The first document, which has about twenty windows, is not finished yet.
    expect(sent.filter((text) => !LONG.includes(text))).toEqual(['warm up', 'q1', 'q2']);
  });
  await Promise.all([documents, queries]);
  expect(finished).toEqual(['queries', 'documents']);
});

thoroughly('distributes work over processes, and starts a process only when needed', async () => {
  const { pool, children } = observedPool(2);
  expect(children).toHaveLength(0);
  await pool.embed(['one'], 'document');
  expect(children).toHaveLength(1);
  await pool.embed(['one', 'two', 'three'], 'document');
  expect(children).toHaveLength(2);
});

thoroughly('uses a prepared process for the first text, and prepares at most one', async () => {
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

/** A text of eight windows, in which each word is one word piece. */
const LONG_QUERY = 'river '.repeat(254 * 8);
/** A text of two windows that also exceeds LONG_QUERY_CHARACTERS. */
const SHORT_LONG_QUERY = 'river '.repeat(254 * 2);
const [fairnessKey, otherKey] = [{ organizationId: 1 }, { organizationId: 2 }];

test('embeds a short query without waiting for long queries or documents', async () => {
  const { pool, sent } = sharedPool();
  await pool.embed(['warm up'], 'query');
  const finished: string[] = [];
  const long = [LONG_QUERY, LONG_QUERY].map((text) =>
    pool.embed([text], 'query', undefined, fairnessKey).then(() => finished.push('long')),
  );
  const document = pool.embed([LONG_QUERY], 'document').then(() => finished.push('document'));
  await waitFor(() => sent.length > 3, Boolean);
  const short = pool.embed(['short'], 'query', undefined, otherKey).then(() => finished.push('short'));
  // The query is sent immediately, while other windows are in progress.
  expect(sent.at(-1)).toBe('short');
  await short;
  expect(finished).toEqual(['short']);
  await Promise.all([...long, document]);
});

test('embeds long queries of two organizations in turn, window by window', async () => {
  const { pool, longChildren } = observedPool(2);
  await pool.embed(['warm up'], 'query');
  const finished: string[] = [];
  const embedQuery = (name: string, windows: number, owner: typeof fairnessKey) =>
    pool.embed(['river '.repeat(254 * windows)], 'query', undefined, owner).then(() => finished.push(name));
  await Promise.all([
    embedQuery('first 1', 5, fairnessKey),
    embedQuery('first 2', 5, fairnessKey),
    embedQuery('second', 2, otherKey),
  ]);
  expect(finished).toEqual(['second', 'first 1', 'first 2']);
  // All long queries share one process.
  expect(longChildren).toHaveLength(1);
});

describe('the process for long queries', () => {
  const hasExited = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

  test('embeds only queries above the length limit, with identical vectors', async () => {
    const { pool, children, longChildren } = observedPool(1);
    // Thai has no spaces between words, so the text is a single slice.
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

  /** Waits until the pool has sent a process the signal to end. The process may exit later. */
  const untilEnded = async (child: ChildProcess | undefined): Promise<void> => {
    const timeout = AbortSignal.timeout(TIME_LIMIT_MS);
    while (!child?.killed) await setImmediate(undefined, { signal: timeout });
  };

  thoroughly('ends after the idle time, and starts again with the next long query', async () => {
    const { pool, children, longChildren } = observedPool(1, { longQueryIdleMs: 100 });
    await pool.embed(['short', SHORT_LONG_QUERY], 'query');
    // The query takes longer than the idle time, which does not end a busy process.
    await pool.embed([LONG_QUERY], 'query');
    expect(longChildren).toHaveLength(1);
    await untilEnded(longChildren[0]);
    // The next query follows immediately, and must not be sent to the process that is ending.
    await pool.embed([SHORT_LONG_QUERY], 'query');
    expect(longChildren).toHaveLength(2);
    expect(children.filter(({ killed }) => !killed)).toHaveLength(2);
  });

  thoroughly(
    'fails its current query when it is killed, and is replaced, without affecting short queries',
    async () => {
      const { pool, sent, longChildren, children } = observedPool(1);
      await pool.embed(['warm up'], 'query');
      const long = [fairnessKey, otherKey].map((owner) => pool.embed([LONG_QUERY], 'query', undefined, owner));
      await waitFor(() => sent.length > 2, Boolean);
      const short = pool.embed(['short'], 'query', undefined, otherKey);
      longChildren[0]?.kill('SIGKILL');
      // The windows of the two queries alternate. The query whose window was in progress fails.
      const outcomes = await Promise.allSettled(long);
      expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
      expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({
        reason: { name: 'Fault', kind: 'embedding_failed', retryable: true },
      });
      expect(await short).toHaveLength(1);
      expect(longChildren).toHaveLength(2);
      expect(children).toHaveLength(3);
    },
  );

  thoroughly('fails only long queries if it cannot load the model', async () => {
    const startLongQueryProcess = () => startLocalProcess({ ...modelFiles, modelPath: '/nowhere/model.onnx' });
    const { pool } = observedPool(1, { startLongQueryProcess });
    await pool.embed(['warm up'], 'query');
    const document = pool.embed([LONG_QUERY], 'document');
    const queries = [LONG_QUERY, LONG_QUERY].map((text) => pool.embed([text], 'query'));
    for (const query of await Promise.allSettled(queries))
      expect(query).toMatchObject({ status: 'rejected', reason: { kind: 'embedding_failed' } });
    expect(await document).toHaveLength(1);
  });

  test('that is busy has exited when close() resolves, and current and later calls fail', async () => {
    const { pool, longChildren } = observedPool(1);
    const failsAsClosed = { kind: 'embedding_failed' };
    const lost = ['query', 'document'].map((kind) =>
      expect(pool.embed([LONG_QUERY.repeat(20)], kind as 'query' | 'document')).rejects.toMatchObject(failsAsClosed),
    );
    await pool.embed(['short'], 'query');
    await pool.close();
    await Promise.all(lost);
    expect(longChildren).toHaveLength(1);
    expect(longChildren.every(hasExited)).toBe(true);
    await expect(pool.embed(['later'], 'document')).rejects.toMatchObject(failsAsClosed);
  });

  thoroughly('that is already ending after its idle time has exited when close() resolves', async () => {
    const { pool, longChildren } = observedPool(1, { longQueryIdleMs: 1 });
    await pool.embed([SHORT_LONG_QUERY], 'query');
    await untilEnded(longChildren[0]);
    await pool.close();
    expect(longChildren.length).toBeGreaterThan(0);
    expect(longChildren.every(hasExited)).toBe(true);
  });
});

test('embeds no further window of an aborted text', async () => {
  const { pool, sent } = sharedPool();
  const abort = new AbortController();
  const aborted = pool.embed([LONG_QUERY], 'query', abort.signal, fairnessKey);
  await waitFor(() => sent.length > 0, Boolean);
  abort.abort(new Error('the caller disconnected'));
  await expect(aborted).rejects.toThrow('the caller disconnected');
  const sentBefore = sent.length;
  // Both queries wait for the same process: remaining windows of the aborted query would be sent before this one ends.
  await pool.embed([SHORT_LONG_QUERY], 'query', undefined, fairnessKey);
  expect(sent.slice(sentBefore).join('')).toBe(SHORT_LONG_QUERY);
});

test('drops the waiting texts of an aborted call, and rejects with the reason of its signal', async () => {
  const { pool, sent } = sharedPool();
  const abort = new AbortController();
  const reason = new Error('cancelled by the user');
  const dropped = pool.embed(['a1', 'a2', 'a3'], 'document', abort.signal);
  abort.abort(reason);
  await expect(dropped).rejects.toBe(reason);
  await expect(pool.embed(['never'], 'query', abort.signal)).rejects.toBe(reason);
  expect(await pool.embed(['b1'], 'document')).toHaveLength(1);
  expect(sent).toEqual(['a1', 'b1']);
});

test('fails the current call of a process that dies, and continues others with a new process', async () => {
  const { pool, sent, children } = observedPool(1);
  await pool.embed(['warm up'], 'document');
  const running = pool.embed([LONG, 'never'], 'document');
  const waiting = pool.embed(['waits'], 'document');
  await waitFor(() => sent.length > 1, Boolean);
  children[0]?.kill('SIGKILL');
  await expect(running).rejects.toMatchObject({ name: 'Fault', kind: 'embedding_failed', retryable: true });
  expect(await waiting).toHaveLength(1);
  expect(await pool.embed(['later'], 'query')).toHaveLength(1);
  expect(children).toHaveLength(2);
  expect(sent.filter((text) => !LONG.includes(text))).toEqual(['warm up', 'waits', 'later']);
});

thoroughly('replaces an idle process that dies', async () => {
  const { pool, children } = observedPool(1);
  await pool.embed(['first'], 'query');
  children[0]?.kill('SIGKILL');
  // The exit may not be reported yet, so this call may fail.
  await pool.embed(['lost'], 'query').catch(() => []);
  expect(await pool.embed(['second'], 'query')).toHaveLength(1);
});

test('ignores SIGINT and SIGTERM of the process group in its processes', async () => {
  const { pool } = sharedPool();
  await pool.embed(['warm up'], 'document');
  const [child, ...others] = shared.children.filter(({ exitCode, killed }) => exitCode === null && !killed);
  const running = pool.embed([SHORT_LONG_QUERY, 'more'], 'document');
  process.kill(child?.pid ?? 0, 'SIGINT');
  process.kill(child?.pid ?? 0, 'SIGTERM');
  expect(await running).toHaveLength(2);
  // The next text needs the same process again.
  expect(await pool.embed(['later'], 'document')).toHaveLength(1);
  expect([child?.exitCode, child?.signalCode]).toEqual([null, null]);
  expect(shared.children.filter(({ exitCode, killed }) => exitCode === null && !killed)).toEqual([child, ...others]);
});

test('ends a process whose parent has ended, even while it embeds a text', async () => {
  const { pool, children } = observedPool(1);
  await pool.embed(['warm up'], 'document');
  // The whole text would take at least about twenty seconds.
  const lost = pool.embed([LONG.repeat(60)], 'document').catch(() => {});
  await pool.embed(['it has begun'], 'query');
  const [child] = children as [ChildProcess];
  child.disconnect();
  await once(child, 'exit', { signal: AbortSignal.timeout(10_000) });
  expect({ code: child.exitCode, signal: child.signalCode }).toEqual({ code: 0, signal: null });
  await lost;
});
