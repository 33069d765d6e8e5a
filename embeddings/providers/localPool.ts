import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Fault } from '../../contract/failures.js';
import { createFairQueue } from '../fairQueue.js';
import type { Party } from '../fairQueue.js';
import type { EmbeddingProvider } from '../types.js';
import type { Lane, LocalReply, LocalRequest } from './localProcess.js';
import { type EmbeddedPart, type WindowedText, windowedText } from './windowedText.js';

/** One caller's texts, and the vectors that have come back so far. */
interface Call {
  readonly vectors: Float32Array[];
  missing: number;
  readonly party: Party | undefined;
  isSettled: boolean;
  settle(error?: unknown): void;
}

/** The next window of a text. */
interface Task {
  readonly call: Call;
  readonly index: number;
  readonly text: WindowedText;
}

interface Runner {
  readonly child: ChildProcess;
  readonly running: Map<Lane, Task>;
  unloadable: string | null;
}

export type LocalPool = Required<Pick<EmbeddingProvider, 'prepare' | 'embed' | 'close'>>;

const LANES = ['query', 'long query', 'document'] as const;

/**
 * Shares the model's processes among callers, window by window: parties take turns, and what a caller that is gone still
 * has waiting is never computed. A process works on at most one window of each lane at a time.
 * Processes start when there is work for them, or soon will be. One that dies fails its current tasks; the next task starts another.
 */
export function createLocalPool(options: { size: number; startProcess: () => ChildProcess }): LocalPool {
  const runners = new Set<Runner>();
  const waiting = {
    query: createFairQueue<Call, Task>(),
    'long query': createFairQueue<Call, Task>(),
    document: createFairQueue<Call, Task>(),
  };
  const calls = new Set<Call>();
  let closed = false;

  function start(): Runner {
    const runner: Runner = { child: options.startProcess(), running: new Map(), unloadable: null };
    runners.add(runner);
    runner.child.on('message', (reply: LocalReply) => receive(runner, reply));
    runner.child.on('exit', (code, signal) => bury(runner, signal ?? `exit code ${code}`));
    // A process that can't even be started has no exit.
    runner.child.on('error', (error) => bury(runner, error.message));
    return runner;
  }

  function receive(runner: Runner, reply: LocalReply): void {
    if (reply.kind === 'unloadable') {
      runner.unloadable = reply.reason;
      return;
    }
    const { lane } = reply;
    const task = runner.running.get(lane);
    if (!task) return;
    runner.running.delete(lane);
    if (reply.kind === 'failed')
      task.call.settle(failed(`The embedded model could not read a text (${reply.reason}).`));
    else if (!task.call.isSettled) proceed(lane, task, reply);
    dispatch();
  }

  function proceed(lane: Lane, task: Task, reply: EmbeddedPart): void {
    const { call, index, text } = task;
    const vector = text.take(reply);
    if (vector === null) return waiting[lane].resume(call, task, call.party);
    call.vectors[index] = vector;
    call.missing -= 1;
    if (call.missing === 0) call.settle();
  }

  function bury(runner: Runner, reason: string): void {
    if (!runners.delete(runner)) return;
    const lost = [...runner.running.values()].map((task) => task.call);
    runner.running.clear();
    if (runner.unloadable === null) {
      for (const call of lost) {
        call.settle(
          failed(`The embedded model stopped while it worked (${reason}). A new one starts by itself: try again.`),
        );
      }
    } else {
      const settings = 'Check the settings EMBEDDING_MODEL_PATH and EMBEDDING_TOKENIZER_PATH';
      const error = failed(`The embedded model could not be loaded (${runner.unloadable}). ${settings}.`);
      // Where no process is left to serve them, those who wait would only meet the same failure one after the other.
      for (const call of runners.size === 0 ? calls : lost) call.settle(error);
    }
    dispatch();
  }

  /** Prefers one that is idle, then one that is busy with other lanes, then a new one. */
  function runnerFor(lane: Lane): Runner | null {
    const free = [...runners].filter((runner) => !runner.running.has(lane));
    const idle = free.find((runner) => runner.running.size === 0);
    return idle ?? free[0] ?? (runners.size < options.size ? start() : null);
  }

  function dispatch(): void {
    if (closed) return;
    for (const lane of LANES) {
      while (!waiting[lane].isEmpty()) {
        const runner = runnerFor(lane);
        const task = runner && waiting[lane].take();
        if (!runner || !task) break;
        runner.running.set(lane, task);
        const request: LocalRequest = { lane, ...task.text.next() };
        // One that has just died can't be sent to; its exit, which follows, fails the task.
        runner.child.send(request, () => {});
      }
    }
  }

  return {
    prepare() {
      // One: how many are needed is known when the texts are there.
      if (!closed && runners.size === 0) start();
    },
    async embed(texts, purpose, signal, party) {
      signal?.throwIfAborted();
      if (closed) throw failed('The embedded model is closed, because the service is stopping.');
      if (texts.length === 0) return [];
      return new Promise((resolve, reject) => {
        const call: Call = {
          vectors: new Array<Float32Array>(texts.length),
          missing: texts.length,
          party,
          isSettled: false,
          settle(error) {
            call.isSettled = true;
            calls.delete(call);
            for (const lane of LANES) waiting[lane].drop(call);
            signal?.removeEventListener('abort', onAbort);
            if (error === undefined) resolve(call.vectors);
            else reject(error as Error);
          },
        };
        const onAbort = (): void => call.settle(signal?.reason);
        signal?.addEventListener('abort', onAbort);
        calls.add(call);
        const tasks = texts.map((text, index) => ({ call, index, text: windowedText(text) }));
        const laneOf = ({ text }: Task): Lane =>
          purpose === 'document' ? 'document' : text.isShort ? 'query' : 'long query';
        for (const lane of LANES)
          waiting[lane].add(
            call,
            tasks.filter((task) => laneOf(task) === lane),
            party,
          );
        dispatch();
      });
    },
    async close() {
      closed = true;
      for (const call of calls) call.settle(failed('The embedded model was closed before it had read every text.'));
      // It has nothing to put in order, and an exit asked for would wait for the window under way.
      const killed = [...runners].map((runner) => runner.child).filter((child) => child.kill('SIGKILL'));
      await Promise.all(killed.map((child) => once(child, 'exit')));
    },
  };
}

function failed(message: string): Fault {
  return new Fault('embedding_failed', message);
}
