import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose, { type Connection } from 'mongoose';

import { createFileSlots } from '../../activities/ingest/fileSlots.js';
import { createHostLimiter, sleepUntilAborted } from '../../connectors/hostLimiter.js';
import { createRateLimiters } from '../../connectors/rateLimiter.js';
import { createSharedHostLimiter } from '../../connectors/sharedHostLimiter.js';
import type { PoolDocument } from '../../documents/answerTask.js';
import { createLane } from '../../documents/lane.js';
import { orAborted } from '../../egress/deadline.js';
import { createLocalPool } from '../../providers/embeddings/providers/localPool.js';
import type { LocalReply, LocalRequest } from '../../providers/embeddings/providers/localProcess.js';
import { createRemoteKey } from '../../providers/embeddings/remote/remoteKey.js';
import { createHostRateLimits } from '../../store/hostRateLimits.js';
import { testEngines } from '../support/engines.js';
import { everyRow } from '../support/everyRow.js';
import { waitFor } from '../support/waitFor.js';

const CAPACITY = 4;
/** Longer than any test runs. */
const HOUR_MS = 3_600_000;
/** Time in which a turn would begin that must not. */
const SETTLE_MS = 50;

type Hold = (signal: AbortSignal, work: () => Promise<void>) => Promise<unknown>;

/** A limiter with CAPACITY turns. */
interface Limited {
  /** Waits for a turn and works in it. */
  readonly hold: Hold;
  /** Takes a turn and, in it, waits for a time that does not come. Absent: the limiter has no such wait. */
  readonly stall?: (signal: AbortSignal) => Promise<unknown>;
  /** Ends the time that stalled turns waited for. */
  readonly endStall?: () => void;
  readonly close?: () => Promise<void>;
}

let connection: Connection;

beforeAll(async () => {
  const uri = new URL(testEngines().mongodbUri);
  uri.pathname = `/turns${String(Date.now())}`;
  connection = await mongoose.createConnection(uri.href).asPromise();
  await createHostRateLimits(connection).createIndexes();
});
afterAll(async () => {
  await connection.dropDatabase();
  await connection.close();
});

/** Turns that are left by calling a function. */
const within =
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

/** Requests with the key of an embedding provider: a text each. A failed work is answered with the status. */
function providerKey(answered: number | null): Limited {
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
            if (answered === null) throw error;
            // Long enough that nothing is sent again before its patience is over.
            const headers = { ...common.headers, ...(answered === 429 ? { 'retry-after': '1' } : {}) };
            return { ...common, headers, status: answered, ...bytes('"wrong"') };
          }
        },
      },
      pace: { minConcurrency: CAPACITY, maxConcurrency: CAPACITY, tries: 1, timeoutMs: HOUR_MS, patienceMs: 0 },
      loadCounter: async () => (text) => text.length,
      onUsage: () => undefined,
    },
  );
  const model = provider({
    space: { name: 'space', dimensions: 1 } as never,
    request: { inputs: 1, tokens: 100, bytes: 1000 },
    input: { tokens: 100, bytes: 1000 },
    ask: async ([input]) => ({ url: '', headers: {}, body: (input as { text: string }).text }),
    read: (answer) => ({ vectors: answer === 'right' ? [vector] : [], tokens: null }),
  });
  return {
    async hold(signal, work) {
      const text = `text ${works.size}`;
      works.set(text, work);
      try {
        await model.embed([text], 'document', signal);
      } catch (error) {
        throw signal.aborted ? error : new Error('failed', { cause: error });
      }
    },
    close: () => model.close(),
  };
}

/** The processes of the embedded model, replaced by ones that are told what to do. @param dies at a failure, instead of an answer */
function modelProcesses(dies: boolean): Limited {
  const works = new Map<string, () => Promise<void>>();
  const startProcess = (): ChildProcess => {
    const child = new EventEmitter();
    const kill = (): boolean => setImmediate(() => child.emit('exit', null, 'SIGKILL')) !== null;
    const send = ({ lane, slice }: LocalRequest): void => {
      const answer = (reply: LocalReply): boolean => child.emit('message', reply);
      // The pool does not cancel the window that a process works on: it ends by itself, whatever became of its caller.
      works.get(slice)!().then(
        () => answer({ kind: 'window', lane, vector: Float32Array.of(1), tokens: 1, carry: [] }),
        (error: Error) =>
          dies && error.message === 'failed'
            ? child.emit('exit', 1, null)
            : answer({ kind: 'failed', lane, reason: error.message }),
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

const LIMITERS: Readonly<Record<string, () => Limited | Promise<Limited>>> = {
  async 'turns at a host, in one process'() {
    let passedMs = 0;
    const limiter = createHostLimiter(CAPACITY, () => performance.now() + passedMs, sleepUntilAborted);
    return {
      hold: within((signal) => limiter.enter(SITE, 0, signal)),
      // The turn before it starts the Crawl-delay.
      stall: async (signal) => {
        (await limiter.enter(SITE, HOUR_MS, signal))();
      },
      endStall: () => (passedMs += 100 * HOUR_MS),
    };
  },
  async 'turns at a host, over all workers'() {
    const limiter = createSharedHostLimiter({ perHost: CAPACITY, turns: createHostRateLimits(connection) });
    (await limiter.enter(SITE, HOUR_MS, never))();
    return {
      hold: within((signal) => limiter.enter(SITE, 0, signal)),
      stall: (signal) => limiter.enter(SITE, HOUR_MS, signal),
      close: () => limiter.close(),
    };
  },
  'requests of an account'() {
    const gate = createRateLimiters('Source', CAPACITY)('account');
    return { hold: (signal, work) => gate.pass(signal, Infinity, work) };
  },
  async 'requests of accounts that share a limit'() {
    const gateOf = createRateLimiters('Source', 100, undefined, CAPACITY);
    let accounts = 0;
    return { hold: (signal, work) => gateOf(`account ${(accounts += 1)}`, 'app').pass(signal, Infinity, work) };
  },
  'readers of documents'() {
    const works = new Map<string, () => Promise<void>>();
    const lane = createLane(
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
        // What has a path is read by itself.
        const path = `file ${works.size}`;
        works.set(path, work);
        return lane.answer({ input: { path, owner: null }, chunking: {} } as unknown as PoolDocument, signal);
      },
      close: () => lane.close(),
    };
  },
  'requests of an embedding provider that fail': () => providerKey(null),
  ...Object.fromEntries(
    // What each of them means: refused, failed, not taken, hopeless, a wrong answer.
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

/** Starts a hold. `end` lets its work return, or fail with an error. */
function start({ hold }: Limited) {
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
const begun = (some: readonly { isBegun(): boolean }[]): number => some.filter((one) => one.isBegun()).length;

/** The ends of holds; those that have not ended after a while are named so, because a lost turn would hang the suite. */
const inTime = (ends: readonly Promise<string>[]): Promise<string[]> =>
  Promise.all(ends.map((end) => Promise.race([end, wait(10_000, 'has not ended', { ref: false })])));

/** All turns are free: as many begin at once, and no more. */
async function expectFree(limited: Limited, when: string): Promise<void> {
  const [all, more] = [times(() => start(limited)), start(limited)];
  await waitFor(
    () => `${begun(all)} of ${CAPACITY} turns are free ${when}`,
    (found) => found.startsWith(`${CAPACITY} `),
    10_000,
  );
  await wait(SETTLE_MS);
  expect({ when, begun: begun([...all, more]) }).toEqual({ when, begun: CAPACITY });
  for (const one of [...all, more]) one.end();
  expect(await inTime([...all, more].map(({ ended }) => ended))).toEqual(times(() => 'done').concat('done'));
}

test('every turn is given back: after an abort in line, an abort at work, an error at work, and an abort of a wait within the turn', () =>
  everyRow(
    Object.entries(LIMITERS),
    ([name]) => name,
    async ([, make]) => {
      const limited = await make();
      try {
        const holders = times(() => start(limited));
        await waitFor(
          () => begun(holders),
          (count) => count === CAPACITY,
          10_000,
        );
        const inLine = times(() => start(limited));
        await wait(SETTLE_MS);
        for (const one of inLine) one.abort();
        for (const one of holders.slice(0, CAPACITY / 2)) one.abort();
        for (const one of holders.slice(CAPACITY / 2)) one.end(new Error('failed'));
        const ends = await inTime([...holders, ...inLine].map(({ ended }) => ended));
        expect(ends).toEqual(['aborted', 'aborted', 'failed', 'failed', ...times(() => 'aborted')]);
        expect(begun(inLine)).toBe(0);
        await expectFree(limited, 'after aborts and errors');
        const { stall, endStall } = limited;
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
        await expectFree(limited, 'after aborts of waits within the turn');
      } finally {
        await limited.close?.();
      }
    },
    { atOnce: 10 },
  ));
