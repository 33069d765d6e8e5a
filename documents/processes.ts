import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { getPriority, setPriority, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PoolAnswer, PoolDocument } from './answerTask.js';
import { LongText } from './longText.js';
import type { ProcessAnswer, ProcessMessage, ProcessTask } from './poolProcess.js';
import {
  died,
  inTypeScript,
  type LimitPassed,
  passed,
  type Readers,
  START_TIMEOUT_MS,
  taskOf,
  tsxArguments,
} from './readers.js';
import type { DocumentLimits } from './types.js';

export interface ProcessSettings {
  readonly processes: number;
  /** Time for one document, from the moment a process begins it. */
  readonly timeoutMs: number;
  /** All memory of one process, of its heap and outside of it. */
  readonly memoryMb: number;
  readonly limits: DocumentLimits;
  /** What the settings of time and memory are called, for who meets them. */
  readonly names: { readonly timeout: string; readonly memory: string };
  /** How far the processes step back for others, beside how far this one does; 0 to 19. Default 0. */
  readonly niceness?: number;
  /** Where long texts lie on their way from a process to this one. Default: the system's folder for such files. */
  readonly textFolder?: string;
}

/** How often a process is looked at. What unpacks fills a few hundred megabytes in this time at most. */
const WATCH_MS = 50;
/** A process that has nothing to do is ended after this. */
const IDLE_MS = 60_000;
const MB = 1024 * 1024;

/** Processes that parse and chunk; they start when they are needed, and end when they are not. */
export function createProcesses(settings: ProcessSettings): Readers {
  const all = new Set<ChildProcess>();
  const idle: ChildProcess[] = [];
  const start = (): ChildProcess => {
    const child = startProcess(settings);
    if (child.pid !== undefined) stepBack(child.pid, settings.niceness ?? 0);
    all.add(child);
    child.once('exit', () => {
      all.delete(child);
      const at = idle.indexOf(child);
      if (at !== -1) idle.splice(at, 1);
    });
    // Nothing that waits for an answer depends on these keeping the caller's process alive.
    child.unref();
    child.channel?.unref();
    return child;
  };
  const rest = (child: ChildProcess): void => {
    // What a large file left behind is not carried on to the next one.
    if (!isAlive(child) || residentBytes(child) > (settings.memoryMb * MB) / 2) {
      child.kill('SIGKILL');
      return;
    }
    idle.push(child);
    setTimeout(() => {
      if (idle.includes(child)) child.kill('SIGKILL');
    }, IDLE_MS).unref();
  };
  return {
    async run(documents, signal) {
      const child = idle.pop() ?? start();
      child.ref();
      child.channel?.ref();
      try {
        return await runTask(child, documents, settings, signal);
      } finally {
        child.unref();
        child.channel?.unref();
        rest(child);
      }
    },
    async close() {
      await Promise.all(
        [...all].map(
          (child) =>
            new Promise<void>((resolve) => {
              child.ref();
              child.once('exit', () => resolve());
              child.kill('SIGKILL');
            }),
        ),
      );
    },
  };
}

function startProcess({ memoryMb }: ProcessSettings): ChildProcess {
  return fork(fileURLToPath(new URL(`./poolProcess.${inTypeScript ? 'ts' : 'js'}`, import.meta.url)), [], {
    serialization: 'advanced',
    // Of its memory the heap may take most: texts and tables lie there.
    execArgv: [...tsxArguments(), `--max-old-space-size=${Math.floor(memoryMb * 0.75)}`],
    // No setting and no secret of the service is known where hostile files are read.
    env: { MALLOC_ARENA_MAX: '2' },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
}

/** Whatever else there is to do on the machine comes first. A system that refuses it lets them run like all others. */
function stepBack(pid: number, niceness: number): void {
  try {
    if (niceness > 0) setPriority(pid, Math.min(19, getPriority() + niceness));
  } catch {
    // It has ended already, which is told elsewhere.
  }
}

const isAlive = (child: ChildProcess): boolean =>
  !child.killed && child.exitCode === null && child.signalCode === null && child.connected;

/** What a process has in memory; 0 where the system does not tell. */
function residentBytes({ pid }: ChildProcess): number {
  try {
    const pages = Number(readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')[1]);
    return pages * PAGE_BYTES;
  } catch {
    return 0;
  }
}

/** Of Linux on the machines Node runs on. */
const PAGE_BYTES = 4096;

async function runTask(
  child: ChildProcess,
  documents: readonly PoolDocument[],
  { limits, timeoutMs, memoryMb, names, textFolder = tmpdir() }: ProcessSettings,
  signal: AbortSignal,
): Promise<readonly PoolAnswer[]> {
  return new Promise((resolve, reject) => {
    const asked = Date.now();
    const outOfMemory = (): LimitPassed => passed(`${memoryMb} MB of memory`, names.memory);
    let begun = 0;
    const settle = (act: () => void): void => {
      clearInterval(watch);
      child.off('message', hear);
      child.off('exit', leave);
      child.off('error', leave);
      signal.removeEventListener('abort', stop);
      act();
    };
    const textFiles = path.join(textFolder, `allotrope-text-${randomUUID()}`);
    const end = (reason: unknown): void => {
      settle(() => reject(reason));
      child.kill('SIGKILL');
      documents.forEach((_document, nth) => rmSync(`${textFiles}-${nth}`, { force: true }));
    };
    const hear = (message: ProcessMessage): void => {
      if ('begun' in message) begun = Date.now();
      else answered(message.answers);
    };
    const answered = (packed: readonly ProcessAnswer[]): void => {
      try {
        const answers = packed.map(unpacked);
        settle(() => resolve(answers));
      } catch (error) {
        end(error);
      }
    };
    const leave = (cause: unknown, endedBy?: NodeJS.Signals | null): void =>
      end(endedFault(cause, endedBy, outOfMemory));
    const stop = (): void => end(signal.reason);
    const look = (): void => {
      const now = Date.now();
      if (residentBytes(child) > memoryMb * MB) end(outOfMemory());
      else if (begun !== 0 && now - begun > timeoutMs) end(passed(`${timeoutMs / 1000} s`, names.timeout));
      else if (begun === 0 && now - asked > START_TIMEOUT_MS)
        end(new Error(`A process for documents did not start within ${START_TIMEOUT_MS / 1000} s.`));
    };
    const watch = setInterval(look, WATCH_MS);
    child.on('message', hear);
    child.once('exit', leave);
    child.once('error', leave);
    if (signal.aborted) {
      stop();
      return;
    }
    signal.addEventListener('abort', stop, { once: true });
    const task: ProcessTask = { documents: documents.map(taskOf), limits, textFiles };
    child.send(task, (error) => {
      if (error) leave(error);
    });
  });
}

const unpacked = (answer: ProcessAnswer): PoolAnswer =>
  'text' in answer ? { document: { ...answer.document, text: new LongText(answer.text) } } : answer;

/** V8 aborts a process whose heap is full. */
function endedFault(
  cause: unknown,
  endedBy: NodeJS.Signals | null | undefined,
  outOfMemory: () => LimitPassed,
): LimitPassed {
  if (endedBy === 'SIGABRT' || cause === 134) return outOfMemory();
  return died(cause instanceof Error ? cause : new Error(`the process ended with ${endedBy ?? String(cause)}`));
}
