import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Fault } from '../../../contract/failures.js';
import { createFairQueue } from '../fairQueue.js';
import type { FairnessKey } from '../fairQueue.js';
import type { EmbeddingProvider } from '../types.js';
import type { Workload, LocalReply, LocalRequest } from './localProcess.js';
import { type EmbeddedPart, type WindowedText, windowedText } from './windowedText.js';

/** One caller's texts, and the vectors received so far. */
interface Call {
  readonly vectors: Float32Array[];
  /** The workloads that embed its texts. */
  readonly workloads: ReadonlySet<Workload>;
  missing: number;
  readonly fairnessKey: FairnessKey | undefined;
  isSettled: boolean;
  settle(error?: unknown): void;
}

/** The next window of a text. */
interface Task {
  readonly call: Call;
  readonly index: number;
  readonly text: WindowedText;
}

/** Processes that serve the same workloads. Each loads the model and uses one thread per workload. */
interface ProcessGroup {
  readonly workloads: readonly Workload[];
  /** Maximum number of processes. */
  readonly size: number;
  readonly startProcess: () => ChildProcess;
  /** Milliseconds after which an idle process ends; null: never. */
  readonly idleMs: number | null;
  readonly runners: Set<Runner>;
}

interface Runner {
  readonly group: ProcessGroup;
  readonly child: ChildProcess;
  readonly running: Map<Workload, Task>;
  unloadable: string | null;
  /** Timer that ends the idle process; null while it is busy. */
  idle: NodeJS.Timeout | null;
}

export type LocalPool = Required<Pick<EmbeddingProvider, 'prepare' | 'embed' | 'close'>>;

export interface LocalPoolOptions {
  /** Maximum number of processes for short queries and documents; long queries have one more. */
  readonly size: number;
  readonly startProcess: () => ChildProcess;
  /** Starts the process for long queries, which must have a lower priority than the others. */
  readonly startLongQueryProcess: () => ChildProcess;
  /** Milliseconds after which the idle process for long queries ends. Default: one minute. */
  readonly longQueryIdleMs?: number;
}

const WORKLOADS = ['query', 'long query', 'document'] as const;

/**
 * Queries with more characters are embedded in the process for long queries. A query of this length has two windows of
 * English text, about 60 ms of work. Nearly all queries that people write are shorter, so few callers wait for that
 * process to start.
 */
export const LONG_QUERY_CHARACTERS = 2_000;

/** Short, to free memory: the process needs about 150 MB, and many services rarely use it. */
const LONG_QUERY_IDLE_MS = 60_000;

/**
 * Creates a pool that shares the model's processes among callers, window by window. Organizations and users take turns,
 * and the remaining windows of a disconnected caller are never computed. A process works on at most one window of each
 * workload at a time. Long queries are embedded in a separate process with a lower priority: in the process of short
 * queries they would get as much processor time as these. Processes start with the first task or by `prepare`. When a
 * process dies, its current tasks fail; the next task starts another process.
 */
export function createLocalPool(options: LocalPoolOptions): LocalPool {
  const main: ProcessGroup = {
    workloads: ['query', 'document'],
    size: options.size,
    startProcess: options.startProcess,
    idleMs: null,
    runners: new Set(),
  };
  const longQueries: ProcessGroup = {
    workloads: ['long query'],
    // Only one: an attacker's queries must not occupy a second core.
    size: 1,
    startProcess: options.startLongQueryProcess,
    idleMs: options.longQueryIdleMs ?? LONG_QUERY_IDLE_MS,
    runners: new Set(),
  };
  const groupOf = (workload: Workload): ProcessGroup => (workload === 'long query' ? longQueries : main);
  const waiting = {
    query: createFairQueue<Call, Task>(),
    'long query': createFairQueue<Call, Task>(),
    document: createFairQueue<Call, Task>(),
  };
  const calls = new Set<Call>();
  /** Processes whose exit was not reported yet, including stopped ones. */
  const children = new Set<ChildProcess>();
  let isClosed = false;

  function start(group: ProcessGroup): Runner {
    const child = group.startProcess();
    const runner: Runner = { group, child, running: new Map(), unloadable: null, idle: null };
    group.runners.add(runner);
    children.add(child);
    child.on('message', (reply: LocalReply) => receive(runner, reply));
    child.on('exit', (code, signal) => handleExit(runner, signal ?? `exit code ${code}`));
    // A process that cannot be started emits no exit.
    child.on('error', (error) => handleExit(runner, error.message));
    return runner;
  }

  /** Starts the idle timer of a process without work. */
  function startIdleTimer(runner: Runner): void {
    const { idleMs, runners } = runner.group;
    if (idleMs === null || runner.running.size > 0) return;
    runner.idle = setTimeout(() => {
      // Remove it first: a killed process lives until its exit is reported, and must not receive a task.
      runners.delete(runner);
      runner.child.kill('SIGKILL');
    }, idleMs).unref();
  }

  function receive(runner: Runner, reply: LocalReply): void {
    if (reply.kind === 'unloadable') {
      runner.unloadable = reply.reason;
      return;
    }
    const { workload } = reply;
    const task = runner.running.get(workload);
    if (!task) return;
    runner.running.delete(workload);
    if (reply.kind === 'failed')
      task.call.settle(failed(`The embedded model could not read a text (${reply.reason}).`));
    else if (!task.call.isSettled) proceed(workload, task, reply);
    dispatch();
    startIdleTimer(runner);
  }

  function proceed(workload: Workload, task: Task, reply: EmbeddedPart): void {
    const { call, index, text } = task;
    const vector = text.addReply(reply);
    if (vector === null) return waiting[workload].resume(call, task, call.fairnessKey);
    call.vectors[index] = vector;
    call.missing -= 1;
    if (call.missing === 0) call.settle();
  }

  function handleExit(runner: Runner, reason: string): void {
    children.delete(runner.child);
    if (runner.idle) clearTimeout(runner.idle);
    if (!runner.group.runners.delete(runner)) return;
    const failedCalls = [...runner.running.values()].map((task) => task.call);
    runner.running.clear();
    if (runner.unloadable === null) {
      for (const call of failedCalls) {
        call.settle(
          failed(`The embedded model stopped while it worked (${reason}). A new one starts automatically. Try again.`),
        );
      }
    } else {
      const settings = 'Check the settings EMBEDDING_MODEL_PATH and EMBEDDING_TOKENIZER_PATH';
      const error = failed(`The embedded model could not be loaded (${runner.unloadable}). ${settings}.`);
      // Without a process to serve them, the waiting calls would all fail in the same way.
      const hasNoRunner = runner.group.runners.size === 0;
      const affectedCalls = [...calls].filter(({ workloads }) =>
        runner.group.workloads.some((workload) => workloads.has(workload)),
      );
      for (const call of hasNoRunner ? affectedCalls : failedCalls) call.settle(error);
    }
    dispatch();
  }

  /**
   * Returns a runner for a workload: an idle one if possible, else one that is busy with other workloads, else a new
   * one; null if none is free and the group has its maximum number of processes.
   */
  function runnerFor(workload: Workload): Runner | null {
    const group = groupOf(workload);
    const free = [...group.runners].filter((runner) => !runner.running.has(workload));
    const idle = free.find((runner) => runner.running.size === 0);
    return idle ?? free[0] ?? (group.runners.size < group.size ? start(group) : null);
  }

  function dispatch(): void {
    if (isClosed) return;
    for (const workload of WORKLOADS) {
      while (!waiting[workload].isEmpty()) {
        const runner = runnerFor(workload);
        const task = runner && waiting[workload].take();
        if (!runner || !task) break;
        if (runner.idle) clearTimeout(runner.idle);
        runner.idle = null;
        runner.running.set(workload, task);
        const request: LocalRequest = { workload, ...task.text.nextRequest() };
        // Sending to a process that just died fails; its exit, which follows, fails the task.
        runner.child.send(request, () => {});
      }
    }
  }

  return {
    prepare() {
      // Start only one: the required number depends on the texts.
      if (!isClosed && main.runners.size === 0) start(main);
    },
    async embed(texts, purpose, signal, fairnessKey) {
      signal?.throwIfAborted();
      if (isClosed) throw failed('The embedded model is closed, because the service is stopping.');
      if (texts.length === 0) return [];
      return new Promise((resolve, reject) => {
        const workloadOf = (text: string): Workload => {
          if (purpose === 'document') return 'document';
          return text.length > LONG_QUERY_CHARACTERS ? 'long query' : 'query';
        };
        const call: Call = {
          vectors: new Array<Float32Array>(texts.length),
          workloads: new Set(texts.map(workloadOf)),
          missing: texts.length,
          fairnessKey,
          isSettled: false,
          settle(error) {
            call.isSettled = true;
            calls.delete(call);
            for (const workload of call.workloads) waiting[workload].drop(call);
            signal?.removeEventListener('abort', onAbort);
            if (error === undefined) resolve(call.vectors);
            else reject(error as Error);
          },
        };
        const onAbort = (): void => call.settle(signal?.reason);
        signal?.addEventListener('abort', onAbort);
        calls.add(call);
        const tasks = texts.map((text, index) => ({
          call,
          index,
          text: windowedText(text),
          workload: workloadOf(text),
        }));
        for (const workload of call.workloads)
          waiting[workload].add(
            call,
            tasks.filter((task) => task.workload === workload),
            fairnessKey,
          );
        dispatch();
      });
    },
    async close() {
      isClosed = true;
      for (const call of calls) call.settle(failed('The embedded model was closed before it had read every text.'));
      // SIGKILL is safe, since the process has no state to save; SIGTERM would wait for the current window.
      const killedProcesses = [...children].filter((child) => child.kill('SIGKILL'));
      await Promise.all(killedProcesses.map((child) => once(child, 'exit')));
    },
  };
}

function failed(message: string): Fault {
  return new Fault('embedding_failed', message);
}
