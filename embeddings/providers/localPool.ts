import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Fault } from '../../contract/failures.js';
import { createFairQueue } from '../fairQueue.js';
import type { EmbeddingProvider, EmbeddingPurpose } from '../types.js';
import type { LocalReply, LocalRequest } from './localProcess.js';

/** One caller's texts, and the vectors that have come back so far. */
interface Call {
  readonly vectors: Float32Array[];
  missing: number;
  settle(error?: unknown): void;
}

interface Task {
  readonly call: Call;
  readonly index: number;
  readonly text: string;
}

interface Runner {
  readonly child: ChildProcess;
  readonly running: Map<EmbeddingPurpose, Task>;
  unloadable: string | null;
}

export type LocalPool = Required<Pick<EmbeddingProvider, 'prepare' | 'embed' | 'close'>>;

/**
 * Shares the model's processes among callers. A process works on at most one query and one document at a time, each
 * given only when its turn has come, so that a query never waits for more than a window of somebody's document.
 * Processes start when there is work for them, or will soon be; one that dies fails what it was working on and is replaced by need.
 */
export function createLocalPool(options: { size: number; startProcess: () => ChildProcess }): LocalPool {
  const runners = new Set<Runner>();
  const waiting = { query: createFairQueue<Call, Task>(), document: createFairQueue<Call, Task>() };
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
    const task = runner.running.get(reply.purpose);
    if (!task) return;
    runner.running.delete(reply.purpose);
    if (reply.kind === 'vector') {
      // Copied, because it is a view of the message: on its own buffer it can be transferred, and keeps no more alive.
      task.call.vectors[task.index] = new Float32Array(reply.vector);
      task.call.missing -= 1;
      if (task.call.missing === 0) task.call.settle();
    } else {
      task.call.settle(failed(`The embedded model could not read a text (${reply.reason}).`));
    }
    dispatch();
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

  /** Prefers one that is idle, then one that is busy with the other purpose, then a new one. */
  function runnerFor(purpose: EmbeddingPurpose): Runner | null {
    const free = [...runners].filter((runner) => !runner.running.has(purpose));
    const idle = free.find((runner) => runner.running.size === 0);
    return idle ?? free[0] ?? (runners.size < options.size ? start() : null);
  }

  function dispatch(): void {
    if (closed) return;
    for (const purpose of ['query', 'document'] as const) {
      while (!waiting[purpose].isEmpty()) {
        const runner = runnerFor(purpose);
        const task = runner && waiting[purpose].take();
        if (!runner || !task) break;
        runner.running.set(purpose, task);
        const request: LocalRequest = { purpose, text: task.text };
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
          settle(error) {
            calls.delete(call);
            waiting[purpose].drop(call);
            signal?.removeEventListener('abort', onAbort);
            if (error === undefined) resolve(call.vectors);
            else reject(error as Error);
          },
        };
        const onAbort = (): void => call.settle(signal?.reason);
        signal?.addEventListener('abort', onAbort);
        calls.add(call);
        waiting[purpose].add(
          call,
          texts.map((text, index) => ({ call, index, text })),
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
