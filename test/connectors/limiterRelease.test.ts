import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose, { type Connection } from 'mongoose';

import { createFileSlots } from '../../activities/ingest/fileSlots.js';
import { createHostLimiter, sleepUntilAborted } from '../../connectors/hostLimiter.js';
import { createRateLimiters } from '../../connectors/rateLimiter.js';
import { createSharedHostLimiter } from '../../connectors/sharedHostLimiter.js';
import { Fault } from '../../contract/failures.js';
import type { PoolDocument } from '../../documents/answerTask.js';
import { createReaderQueue } from '../../documents/readerQueue.js';
import { orAborted } from '../../egress/deadline.js';
import { createLocalPool } from '../../providers/embeddings/providers/localPool.js';
import type { LocalReply, LocalRequest } from '../../providers/embeddings/providers/localProcess.js';
import { createRemoteKey } from '../../providers/embeddings/remote/remoteKey.js';
import { createHostRateLimits } from '../../store/hostRateLimits.js';
import { testEngines } from '../support/engines.js';
import { everyRow } from '../support/everyRow.js';
import { waitFor } from '../support/waitFor.js';

const CAPACITY = 4;
/** A wait that does not end during the test. */
const HOUR_MS = 3_600_000;
/** Time to wait before checking that no further work has begun. */
const SETTLE_MS = 50;

type Hold = (signal: AbortSignal, work: () => Promise<void>) => Promise<unknown>;

/** A limiter with CAPACITY slots. */
interface Limiter {
  /** Waits for a slot and runs the work within it. */
  readonly hold: Hold;
  /** Takes a slot and waits within it until the signal aborts. Absent if the limiter has no such wait. */
  readonly stall?: (signal: AbortSignal) => Promise<unknown>;
  /** Advances the clock past the start times that the aborted waits of `stall` reserved. */
  readonly endStall?: () => void;
  readonly close?: () => Promise<void>;
}

let connection: Connection;

beforeAll(async () => {
  const uri = new URL(testEngines().mongodbUri);
  uri.pathname = `/slots${String(Date.now())}`;
  connection = await mongoose.createConnection(uri.href).asPromise();
  await createHostRateLimits(connection).createIndexes();
});
afterAll(async () => {
  await connection.dropDatabase();
  await connection.close();
});

/** Returns `hold` for a limiter that returns a release function with each slot. */
const holdWith =
  (enter: (signal: AbortSignal) => Promise<() => void>): Hold =>
  async (signal, work) => {
    const leave = await enter(signal);
    try {
      await work();
    } finally {
      leave();
    }
  };

const never = new AbortController().signal;
const SITE = 'site.example';

/**
 * Returns the limiter of an embedding provider's key. Each request embeds one text. If the work of a request fails, the
 * provider answers with the status; if that is null, the request itself fails.
 */
function providerKey(failureStatus: number | null): Limiter {
  const works = new Map<string, () => Promise<void>>();
  const vector = Float32Array.of(1);
  const { provider } = createRemoteKey(
    { name: 'Provider', credentials: 'KEY', address: 'URL' },
    {
      egress: {
        async request({ body, signal }) {
          const bytes = (text: string) => ({ bytes: () => Promise.resolve(Buffer.from(text)) });
          const common = { headers: {}, url: '', body: (async function* none() {})(), discard: async () => undefined };
          try {
            await orAborted(works.get(JSON.parse(body as string) as string)!(), signal!);
            return { ...common, status: 200, ...bytes('"right"') };
          } catch (error) {
            signal!.throwIfAborted();
            if (failureStatus === null) throw error;
            // Longer than the limiter waits for a rate limit, so that the request is not retried.
            const headers = { ...common.headers, ...(failureStatus === 429 ? { 'retry-after': '1' } : {}) };
            return { ...common, headers, status: failureStatus, ...bytes('"wrong"') };
          }
        },
      },
      keyLimits: { minConcurrency: CAPACITY, maxConcurrency: CAPACITY, tries: 1, timeoutMs: HOUR_MS, timeLimitMs: 0 },
      loadCounter: async () => (text) => text.length,
      onUsage: () => undefined,
    },
  );
  const model = provider({
    space: { name: 'space', dimensions: 1 } as never,
    request: { inputs: 1, tokens: 100, bytes: 1000 },
    input: { tokens: 100, bytes: 1000 },
    createRequest: async ([input]) => ({ url: '', headers: {}, body: (input as { text: string }).text }),
    read: (answer) => ({ vectors: answer === 'right' ? [vector] : [], tokens: null }),
  });
  return {
    async hold(signal, work) {
      const text = `text ${works.size}`;
      let isSent = false;
      works.set(text, () => {
        isSent = true;
        return work();
      });
      for (;;) {
        try {
          await model.embed([text], 'document', signal);
          return;
        } catch (error) {
          signal.throwIfAborted();
          // During the pause that a rate limit starts, texts are rejected before they are sent.
          const pauseMs = error instanceof Fault && !isSent ? error.retryAfterMs : null;
          if (pauseMs === null) throw new Error('failed', { cause: error });
          await wait(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
        }
      }
    },
    close: () => model.close(),
  };
}

/**
 * Returns the limiter of the embedded model, whose fake processes embed one window (part) of a text at a time.
 * @param dies whether a process exits if its work fails
 */
function modelProcesses(dies: boolean): Limiter {
  const works = new Map<string, () => Promise<void>>();
  const startProcess = (): ChildProcess => {
    const child = new EventEmitter();
    const kill = (): boolean => setImmediate(() => child.emit('exit', null, 'SIGKILL')) !== null;
    const send = ({ workload, slice }: LocalRequest): void => {
      const answer = (reply: LocalReply): boolean => child.emit('message', reply);
      // The pool does not cancel a window in progress: the process completes it, even if the caller has aborted.
      works.get(slice)!().then(
        () => answer({ kind: 'window', workload, vector: Float32Array.of(1), tokens: 1, carry: [] }),
        (error: Error) =>
          dies && error.message === 'failed'
            ? child.emit('exit', 1, null)
            : answer({ kind: 'failed', workload, reason: error.message }),
      );
    };
    return Object.assign(child, { kill, send }) as unknown as ChildProcess;
  };
  const pool = createLocalPool({ size: CAPACITY, startProcess, startLongQueryProcess: startProcess });
  return {
    async hold(signal, work) {
      const text = `text ${works.size}`;
      works.set(text, work);
      try {
        await pool.embed([text], 'document', signal);
      } catch (error) {
        throw signal.aborted ? error : new Error('failed', { cause: error });
      }
    },
    close: () => pool.close(),
  };
}

const LIMITERS: Readonly<Record<string, () => Limiter | Promise<Limiter>>> = {
  async 'slots at a host, in one process'() {
    let passedMs = 0;
    const limiter = createHostLimiter(CAPACITY, () => performance.now() + passedMs, sleepUntilAborted);
    return {
      hold: holdWith((signal) => limiter.enter(SITE, 0, signal)),
      // The first call enters at once and releases its slot; the later ones wait for the Crawl-delay.
      stall: async (signal) => {
        (await limiter.enter(SITE, HOUR_MS, signal))();
      },
      endStall: () => (passedMs += 100 * HOUR_MS),
    };
  },
  async 'slots at a host, across all workers'() {
    const limiter = createSharedHostLimiter({ perHost: CAPACITY, hostRateLimits: createHostRateLimits(connection) });
    (await limiter.enter(SITE, HOUR_MS, never))();
    return {
      hold: holdWith((signal) => limiter.enter(SITE, 0, signal)),
      stall: (signal) => limiter.enter(SITE, HOUR_MS, signal),
      close: () => limiter.close(),
    };
  },
  'requests of an account'() {
    const gate = createRateLimiters('Source', CAPACITY)('account');
    return { hold: (signal, work) => gate.pass(signal, Infinity, work) };
  },
  async 'requests of accounts that share a limit'() {
    const gateOf = createRateLimiters('Source', 100, { sharedAtOnce: CAPACITY });
    let accounts = 0;
    return { hold: (signal, work) => gateOf(`account ${(accounts += 1)}`, 'app').pass(signal, Infinity, work) };
  },
  'readers of documents'() {
    const works = new Map<string, () => Promise<void>>();
    const readerQueue = createReaderQueue(
      {
        async run(documents, signal) {
          for (const { input } of documents) await orAborted(works.get(input.path ?? '')!(), signal);
          return documents.map(() => ({ document: {} as never }));
        },
        close: () => Promise.resolve(),
      },
      CAPACITY,
      () => undefined,
    );
    return {
      hold(signal, work) {
        // The queue does not batch documents that have a path.
        const path = `file ${works.size}`;
        works.set(path, work);
        return readerQueue.answer({ input: { path, owner: null }, chunking: {} } as unknown as PoolDocument, signal);
      },
      close: () => readerQueue.close(),
    };
  },
  'requests of an embedding provider that fail': () => providerKey(null),
  ...Object.fromEntries(
    // Rate limit, server error, rejected input, invalid key, and an invalid response.
    [429, 500, 400, 401, 200].map((status) => [
      `requests of an embedding provider that are answered ${status}`,
      () => providerKey(status),
    ]),
  ),
  'windows of the embedded model': () => modelProcesses(false),
  'windows of the embedded model whose process ends': () => modelProcesses(true),
  'files of a worker'() {
    const slots = createFileSlots(CAPACITY);
    let users = 0;
    return {
      hold: (signal, work) =>
        slots.run({ organizationId: 1, userId: (users += 1) }, () => {
          signal.throwIfAborted();
          return work();
        }),
    };
  },
};

/** Starts work in a slot. `end` completes it, or makes it fail with an error. */
function start({ hold }: Limiter) {
  const abort = new AbortController();
  let [isBegun, end] = [false, (_error?: Error): void => undefined];
  const worked = new Promise<void>((resolve, reject) => {
    end = (error) => (error ? reject(error) : resolve());
  });
  worked.catch(() => undefined);
  const ended = hold(abort.signal, () => {
    isBegun = true;
    return orAborted(worked, abort.signal);
  }).then(
    () => 'done',
    (error: unknown) => (error as Error).message,
  );
  return { ended, end, isBegun: () => isBegun, abort: () => abort.abort(new Error('aborted')) };
}

const times = <T>(make: () => T): T[] => Array.from({ length: CAPACITY }, make);
const countBegun = (tasks: readonly { isBegun(): boolean }[]): number => tasks.filter((task) => task.isBegun()).length;

/** Returns the results; "has not ended" for each that takes over 10 s, so that a lost slot does not hang the suite. */
const inTime = (ends: readonly Promise<string>[]): Promise<string[]> =>
  Promise.all(ends.map((end) => Promise.race([end, wait(10_000, 'has not ended', { ref: false })])));

/** Checks that all slots are free: exactly CAPACITY pieces of work begin at once. */
async function expectFree(limiter: Limiter, when: string): Promise<void> {
  // One task more than there are slots. Any of them may be the one that waits.
  const tasks = [...times(() => start(limiter)), start(limiter)];
  await waitFor(
    () => `${countBegun(tasks)} of ${CAPACITY} slots are free ${when}`,
    (message) => message.startsWith(`${CAPACITY} `),
    10_000,
  );
  await wait(SETTLE_MS);
  expect({ when, begun: countBegun(tasks) }).toEqual({ when, begun: CAPACITY });
  for (const task of tasks) task.end();
  expect(await inTime(tasks.map(({ ended }) => ended))).toEqual(tasks.map(() => 'done'));
}

test('releases every slot after an abort while waiting, an abort or an error during work, and an abort of a wait within the slot', () =>
  everyRow(
    Object.entries(LIMITERS),
    ([name]) => name,
    async ([, make]) => {
      const limiter = await make();
      try {
        const holders = times(() => start(limiter));
        await waitFor(
          () => countBegun(holders),
          (count) => count === CAPACITY,
          10_000,
        );
        const waiting = times(() => start(limiter));
        await wait(SETTLE_MS);
        for (const task of waiting) task.abort();
        for (const task of holders.slice(0, CAPACITY / 2)) task.abort();
        for (const task of holders.slice(CAPACITY / 2)) task.end(new Error('failed'));
        const ends = await inTime([...holders, ...waiting].map(({ ended }) => ended));
        expect(ends).toEqual(['aborted', 'aborted', 'failed', 'failed', ...times(() => 'aborted')]);
        expect(countBegun(waiting)).toBe(0);
        await expectFree(limiter, 'after aborts and errors');
        const { stall, endStall } = limiter;
        if (!stall) return;
        const abort = new AbortController();
        const stalled = times(() =>
          stall(abort.signal).then(
            () => 'entered',
            (error: unknown) => (error as Error).message,
          ),
        );
        await wait(SETTLE_MS);
        abort.abort(new Error('aborted'));
        expect(await Promise.all(stalled)).toContain('aborted');
        endStall?.();
        await expectFree(limiter, 'after aborts of waits within the slot');
      } finally {
        await limiter.close?.();
      }
    },
    { atOnce: 10 },
  ));
