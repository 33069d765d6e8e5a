/**
 * Runs engines as child processes that end with this process: starts them, waits until they are ready, and stops them.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { lowerPriority } from '../config/process/lowerPriority.js';
import type { EngineName, Launched } from './engine.js';
import { EngineError } from './errors.js';
import { listensOn } from './listening.js';
import { logPath, openLog, readLogTail } from './logFile.js';
import { stopOrphan, writePidFile } from './pidFile.js';

const RUN_CHILD = fileURLToPath(new URL('run_child.py', import.meta.url));
const PROBE_EVERY_MS = 50;
/**
 * Time limit of a start in milliseconds. Opening a large journal or collection after a crash takes minutes, and a
 * restart would repeat all of it.
 */
const READY_MS = 300_000;
/** Time limit of one check in milliseconds: a process that is suspended accepts connections but never responds. */
const PROBE_MS = 10_000;
const STOP_MS = 10_000;
/** The only environment variables that an engine receives: it must not receive the service's secrets. */
const KEPT_VARIABLES = ['PATH', 'HOME', 'LANG', 'TZ', 'TMPDIR', 'LD_LIBRARY_PATH'];

export interface ChildOptions {
  readonly name: EngineName;
  readonly dataDir: string;
  /** Abandons the start. */
  readonly signal: AbortSignal;
  /** The Python interpreter that runs the launcher script. */
  readonly python: string;
  readonly program: string;
  readonly args: readonly string[];
  /** Priority as in nice(1): higher numbers yield to other processes on this machine. Default 0. */
  readonly niceness?: number;
  /**
   * The port to listen on. `isReady` is called only after this process listens there, because another process may have
   * taken the port.
   */
  readonly port: number;
  /** Returns whether the engine responds correctly; may throw instead of returning false. */
  readonly isReady: () => Promise<boolean>;
}

/** Starts an engine's process with its output in DATA_DIR/logs, and waits until it is ready. */
export async function startChild(options: ChildOptions): Promise<Launched> {
  const { name, dataDir, python, program, args, niceness = 0 } = options;
  await stopOrphan(dataDir, name);
  const log = await openLog(dataDir, name);
  const { size: logOffset } = await log.stat();
  const child = spawn(python, [RUN_CHILD, String(process.pid), program, ...args], {
    // Use a separate process group: Ctrl-C signals only our group, and we stop the engines last.
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
    env: engineEnvironment(),
  });
  const ended = endOf(child);
  await log.close();
  if (child.pid === undefined) throw new EngineError(`${name} could not be started: ${await ended}.`);
  lowerPriority(child.pid, niceness);
  const launched = { pid: child.pid, logOffset, ended, stop: () => stopChild(child, ended) };
  try {
    await writePidFile(dataDir, name, child.pid);
    await untilReady(options, child, ended);
  } catch (error) {
    await launched.stop();
    throw error;
  }
  return launched;
}

export function engineEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(KEPT_VARIABLES.map((name) => [name, process.env[name]]));
}

/** Resolves when a process has ended, with a description of how. */
export function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal ? `ended by ${signal}` : `ended with code ${code}`));
  });
}

async function untilReady(
  { name, dataDir, port, isReady, signal }: ChildOptions,
  child: ChildProcess,
  ended: Promise<string>,
): Promise<void> {
  const deadline = Date.now() + READY_MS;
  let how: string | undefined;
  void ended.then((words) => (how = words));
  const isUp = async (): Promise<boolean> => (await listensOn(child.pid ?? 0, port)) && isReady();
  while (how === undefined && Date.now() < deadline && !signal.aborted) {
    if (await orFalse(isUp(), signal)) return;
    await sleep(PROBE_EVERY_MS);
  }
  const reason = how ?? (signal.aborted ? 'it was stopped' : `not ready after ${READY_MS / 1000} s`);
  const tail = await readLogTail(dataDir, name);
  throw new EngineError(
    `${name} did not start: ${reason} (process ${child.pid}, log ${logPath(dataDir, name)}).\n${tail}`,
  );
}

/** Returns the result of a check; false if it fails, takes longer than PROBE_MS, or the signal is aborted meanwhile. */
async function orFalse(check: Promise<boolean>, signal: AbortSignal): Promise<boolean> {
  const over = new AbortController();
  const end = (): void => over.abort();
  signal.addEventListener('abort', end, { once: true });
  try {
    const limit = sleep(PROBE_MS, false, { signal: over.signal });
    return await Promise.race([check, limit]).catch(() => false);
  } finally {
    signal.removeEventListener('abort', end);
    end();
  }
}

async function stopChild(child: ChildProcess, ended: Promise<string>): Promise<void> {
  child.kill('SIGTERM');
  const forced = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await ended;
  clearTimeout(forced);
}
