import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { getPriority, setPriority, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PoolAnswer, PoolDocument } from './answerTask.js';
import { LongText } from './longText.js';
import type { ProcessAnswer, ProcessMessage, ProcessTask } from './poolProcess.js';
import {
  inTypeScript,
  type LimitPassed,
  passed,
  ReaderDied,
  type Readers,
  START_TIMEOUT_MS,
  taskOf,
  tsxArguments,
  watchReader,
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
  /** Milliseconds after which an idle process ends. Default: a minute. */
  readonly idleMs?: number;
}

/** How often a process is looked at. What unpacks fills a few hundred megabytes in this time at most. */
const WATCH_MS = 50;
const IDLE_MS = 60_000;
/** Characters of a process's standard error that are kept: V8 and Node write there why they abort. */
const STDERR_CHARACTERS = 2_000;
const MB = 1024 * 1024;
/** Exit code of a process that V8 aborted because its heap was full, where no signal is reported. */
const ABORTED = 134;

interface Reader {
  readonly child: ChildProcess;
  /** The end of what it wrote to standard error. */
  stderr: string;
  /** Ends it while it is idle; null while it works. */
  idle: NodeJS.Timeout | null;
}

/** Processes that parse and chunk; they start when they are needed, and end when they are not. */
export function createProcesses(settings: ProcessSettings): Readers {
  const all = new Set<Reader>();
  const idle: Reader[] = [];
  const start = (): Reader => {
    const child = startProcess(settings);
    if (child.pid !== undefined) lowerPriority(child.pid, settings.niceness ?? 0);
    const reader: Reader = { child, stderr: '', idle: null };
    all.add(reader);
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      reader.stderr = (reader.stderr + text).slice(-STDERR_CHARACTERS);
    });
    child.once('exit', () => all.delete(reader));
    // Nothing that waits for an answer depends on these keeping the caller's process alive.
    unref(reader);
    return reader;
  };
  /** An idle process that still lives. One that was ended or died is skipped, since its exit is reported later. */
  const take = (): Reader => {
    for (let reader = idle.pop(); reader; reader = idle.pop()) {
      if (reader.idle) clearTimeout(reader.idle);
      reader.idle = null;
      if (isAlive(reader.child)) return reader;
    }
    return start();
  };
  const rest = (reader: Reader): void => {
    const { child } = reader;
    // A process that a large file left large is not kept for the next one.
    if (!isAlive(child) || residentBytes(child) > (settings.memoryMb * MB) / 2) {
      child.kill('SIGKILL');
      return;
    }
    idle.push(reader);
    reader.idle = setTimeout(() => {
      // Off the list first: a process that was killed lives until its exit is reported, and must not get a task.
      idle.splice(idle.indexOf(reader), 1);
      child.kill('SIGKILL');
    }, settings.idleMs ?? IDLE_MS).unref();
  };
  return {
    async run(documents, signal) {
      const reader = take();
      reader.child.ref();
      reader.child.channel?.ref();
      try {
        return await runTask(reader, documents, settings, signal);
      } finally {
        unref(reader);
        rest(reader);
      }
    },
    async close() {
      await Promise.all(
        [...all].map(
          ({ child }) =>
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

function unref({ child }: Reader): void {
  child.unref();
  child.channel?.unref();
  (child.stderr as Socket | null)?.unref();
}

function startProcess({ memoryMb }: ProcessSettings): ChildProcess {
  return fork(fileURLToPath(new URL(`./poolProcess.${inTypeScript ? 'ts' : 'js'}`, import.meta.url)), [], {
    serialization: 'advanced',
    // Of its memory the heap may take most: texts and tables lie there.
    execArgv: [...tsxArguments(), `--max-old-space-size=${Math.floor(memoryMb * 0.75)}`],
    // No setting and no secret of the service is known where hostile files are read.
    env: { MALLOC_ARENA_MAX: '2' },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
}

/** Whatever else there is to do on the machine comes first. A system that refuses it lets them run like all others. */
function lowerPriority(pid: number, niceness: number): void {
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
  reader: Reader,
  documents: readonly PoolDocument[],
  { limits, timeoutMs, memoryMb, names, textFolder = tmpdir() }: ProcessSettings,
  signal: AbortSignal,
): Promise<readonly PoolAnswer[]> {
  return new Promise((resolve, reject) => {
    const { child } = reader;
    const outOfMemory = (): LimitPassed => passed(`${memoryMb} MB of memory`, names.memory);
    let hasBegun = false;
    let resident = 0;
    const settle = (act: () => void): void => {
      stopWatch();
      child.off('message', hear);
      child.off('close', leave);
      child.off('error', lose);
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
      if ('begun' in message) hasBegun = true;
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
    const die = (exitCode: number | null, endedBy: NodeJS.Signals | null, detail: string): void =>
      end(
        new ReaderDied({
          ...({ reader: 'process', pid: child.pid ?? null, exitCode, signal: endedBy } as const),
          ...{ memoryMb: Math.round(resident / MB), limitMb: memoryMb, detail, documents: documents.length },
        }),
      );
    const leave = (code: number | null, endedBy: NodeJS.Signals | null): void => {
      if (endedBy === 'SIGABRT' || code === ABORTED) end(outOfMemory());
      else die(code, endedBy, reader.stderr.trim());
    };
    const lose = (error: Error): void => die(child.exitCode, child.signalCode, error.message);
    const stop = (): void => end(signal.reason);
    const check = (elapsedMs: number, begun: boolean): void => {
      resident = residentBytes(child);
      if (resident > memoryMb * MB) end(outOfMemory());
      else if (begun && elapsedMs > timeoutMs) end(passed(`${timeoutMs / 1000} s`, names.timeout));
      else if (!begun && elapsedMs > START_TIMEOUT_MS)
        end(new Error(`A process for documents did not start within ${START_TIMEOUT_MS / 1000} s.`));
    };
    const stopWatch = watchReader({ hasBegun: () => hasBegun, check }, WATCH_MS);
    child.on('message', hear);
    // After what it wrote to standard error.
    child.once('close', leave);
    child.once('error', lose);
    if (signal.aborted) {
      stop();
      return;
    }
    signal.addEventListener('abort', stop, { once: true });
    const task: ProcessTask = { documents: documents.map(taskOf), limits, textFiles };
    child.send(task, (error) => {
      if (error) lose(error);
    });
  });
}

const unpacked = (answer: ProcessAnswer): PoolAnswer =>
  'text' in answer ? { document: { ...answer.document, text: new LongText(answer.text) } } : answer;
