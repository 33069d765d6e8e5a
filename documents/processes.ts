import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { getPriority, setPriority, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PoolAnswer, PoolDocument } from './answerTask.js';
import { LongText } from './longText.js';
import type { ProcessAnswer, ProcessMessage, ProcessTask } from './poolProcess.js';
import {
  inTypeScript,
  type LimitExceeded,
  limitExceeded,
  ReaderCrashed,
  type Readers,
  START_TIMEOUT_MS,
  taskOf,
  tsxArguments,
  watchReader,
} from './readers.js';
import { residentBytes } from './residentBytes.js';
import type { DocumentLimits } from './types.js';

export interface ProcessSettings {
  readonly processes: number;
  /** Time limit of one document in milliseconds, from the moment a process begins it. */
  readonly timeoutMs: number;
  /** Memory limit of one process in megabytes: heap, native memory, and the program that it runs. */
  readonly memoryMb: number;
  readonly limits: DocumentLimits;
  /** Names of the settings for time and memory, for error messages. */
  readonly names: { readonly timeout: string; readonly memory: string };
  /** Priority of the processes relative to this one, as nice(1) counts; 0 to 19. Default 0. */
  readonly niceness?: number;
  /** Folder for long texts that a process passes to this one. Default: the system's temporary folder. */
  readonly textFolder?: string;
  /** Milliseconds after which an idle process ends. Default: one minute. */
  readonly idleMs?: number;
}

/**
 * Interval between checks of a process in milliseconds: in this time, unpacking fills a few hundred megabytes at most.
 */
const WATCH_MS = 50;
const IDLE_MS = 60_000;
/** Characters of a process's standard error that are kept: V8 and Node write there why they abort. */
const STDERR_CHARACTERS = 2_000;
const MB = 1024 * 1024;
/** Exit code of a process that V8 aborted because its heap was full, on systems that report no signal. */
const ABORT_EXIT_CODE = 134;

interface Reader {
  readonly child: ChildProcess;
  /** The end of its standard error. */
  stderr: string;
  /** Timer that ends the idle process; null while it works. */
  idle: NodeJS.Timeout | null;
  /** Process id of the program that it runs, which must end with it; null: none. */
  program: number | null;
}

/** Creates processes that parse and chunk; they start on demand and end when idle. */
export function createProcesses(settings: ProcessSettings): Readers {
  const all = new Set<Reader>();
  const idle: Reader[] = [];
  const start = (): Reader => {
    const child = startProcess(settings);
    if (child.pid !== undefined) lowerPriority(child.pid, settings.niceness ?? 0);
    const reader: Reader = { child, stderr: '', idle: null, program: null };
    all.add(reader);
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      reader.stderr = (reader.stderr + text).slice(-STDERR_CHARACTERS);
    });
    // Messages that were sent before the process died still arrive, some after its exit.
    child.on('message', (message: ProcessMessage) => {
      if (!('program' in message)) return;
      reader.program = message.program;
      if (!isAlive(child)) endProgram(reader);
    });
    child.once('exit', () => {
      all.delete(reader);
      endProgram(reader);
    });
    // A process that could not be started has no exit, for which close() would wait.
    child.once('error', () => {
      if (child.pid === undefined) all.delete(reader);
    });
    // A reader must not keep this process alive.
    unref(reader);
    return reader;
  };
  /** Returns an idle process, or starts one. Skips killed and dead ones, whose exit is reported later. */
  const take = (): Reader => {
    for (let reader = idle.pop(); reader; reader = idle.pop()) {
      if (reader.idle) clearTimeout(reader.idle);
      reader.idle = null;
      if (isAlive(reader.child)) return reader;
    }
    return start();
  };
  const setIdle = (reader: Reader): void => {
    const { child } = reader;
    // Do not keep a process whose memory a large file has grown.
    if (!isAlive(child) || residentBytes(child.pid) > (settings.memoryMb * MB) / 2) {
      child.kill('SIGKILL');
      return;
    }
    idle.push(reader);
    reader.idle = setTimeout(() => {
      // Remove it first: a killed process lives until its exit is reported, and must not receive a task.
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
        setIdle(reader);
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

/** Ends the program that a process runs. */
function endProgram(reader: Reader): void {
  const { program } = reader;
  reader.program = null;
  try {
    if (program !== null) process.kill(program, 'SIGKILL');
  } catch {
    // It has already ended.
  }
}

function unref({ child }: Reader): void {
  child.unref();
  child.channel?.unref();
  (child.stderr as Socket | null)?.unref();
}

function startProcess({ memoryMb }: ProcessSettings): ChildProcess {
  return fork(fileURLToPath(new URL(`./poolProcess.${inTypeScript ? 'ts' : 'js'}`, import.meta.url)), [], {
    serialization: 'advanced',
    // The heap may use most of the memory, because it contains texts and tables.
    execArgv: [...tsxArguments(), `--max-old-space-size=${Math.floor(memoryMb * 0.75)}`],
    // Processes that read hostile files receive no settings or secrets of the service.
    env: { MALLOC_ARENA_MAX: '2' },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
}

/** Lowers a process's priority by `niceness`, relative to this process. If the system refuses, the priority stays. */
function lowerPriority(pid: number, niceness: number): void {
  try {
    if (niceness > 0) setPriority(pid, Math.min(19, getPriority() + niceness));
  } catch {
    // The system refuses it, or the process has already ended, which its `exit` handler processes.
  }
}

const isAlive = (child: ChildProcess): boolean =>
  !child.killed && child.exitCode === null && child.signalCode === null && child.connected;

async function runTask(
  reader: Reader,
  documents: readonly PoolDocument[],
  { limits, timeoutMs, memoryMb, names, textFolder = tmpdir() }: ProcessSettings,
  signal: AbortSignal,
): Promise<readonly PoolAnswer[]> {
  return new Promise((resolve, reject) => {
    const { child } = reader;
    const outOfMemory = (): LimitExceeded => limitExceeded(`${memoryMb} MB of memory`, names.memory);
    let hasBegun = false;
    let resident = 0;
    const settle = (act: () => void): void => {
      stopWatch();
      child.off('message', handleMessage);
      child.off('close', handleExit);
      child.off('error', handleChildError);
      signal.removeEventListener('abort', stop);
      act();
    };
    const textFiles = path.join(textFolder, `allotrope-text-${randomUUID()}`);
    const end = (reason: unknown): void => {
      settle(() => reject(reason));
      child.kill('SIGKILL');
      endProgram(reader);
      documents.forEach((_document, nth) => rmSync(`${textFiles}-${nth}`, { force: true }));
    };
    const handleMessage = (message: ProcessMessage): void => {
      if ('begun' in message) hasBegun = true;
      else if ('answers' in message) answered(message.answers);
    };
    const answered = (packed: readonly ProcessAnswer[]): void => {
      try {
        const answers = packed.map(unpackAnswer);
        settle(() => resolve(answers));
      } catch (error) {
        end(error);
      }
    };
    const failWithCrash = (exitCode: number | null, endedBy: NodeJS.Signals | null, detail: string): void =>
      end(
        new ReaderCrashed({
          ...({ reader: 'process', pid: child.pid ?? null, exitCode, signal: endedBy } as const),
          ...{ memoryMb: Math.round(resident / MB), limitMb: memoryMb, detail, documents: documents.length },
        }),
      );
    const handleExit = (code: number | null, endedBy: NodeJS.Signals | null): void => {
      if (endedBy === 'SIGABRT' || code === ABORT_EXIT_CODE) end(outOfMemory());
      else failWithCrash(code, endedBy, reader.stderr.trim());
    };
    const handleChildError = (error: Error): void => failWithCrash(child.exitCode, child.signalCode, error.message);
    const stop = (): void => end(signal.reason);
    const check = (elapsedMs: number, begun: boolean): void => {
      resident = residentBytes(child.pid) + residentBytes(reader.program);
      if (resident > memoryMb * MB) end(outOfMemory());
      else if (begun && elapsedMs > timeoutMs) end(limitExceeded(`${timeoutMs / 1000} s`, names.timeout));
      else if (!begun && elapsedMs > START_TIMEOUT_MS)
        end(new Error(`A process for documents did not start within ${START_TIMEOUT_MS / 1000} s.`));
    };
    const stopWatch = watchReader({ hasBegun: () => hasBegun, check }, WATCH_MS);
    child.on('message', handleMessage);
    // 'close' comes after the output to standard error.
    child.once('close', handleExit);
    child.once('error', handleChildError);
    if (signal.aborted) {
      stop();
      return;
    }
    signal.addEventListener('abort', stop, { once: true });
    const task: ProcessTask = { documents: documents.map(taskOf), limits, textFiles };
    child.send(task, (error) => {
      if (error) handleChildError(error);
    });
  });
}

const unpackAnswer = (answer: ProcessAnswer): PoolAnswer =>
  'text' in answer ? { document: { ...answer.document, text: new LongText(answer.text) } } : answer;
