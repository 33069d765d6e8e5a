/**
 * Records which process is an engine of a data directory. Engines end with their parent process. If one survives, the
 * next start finds it here and stops it, because two engines must never write the same files.
 */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { EngineName } from './engine.js';

const STOP_MS = 10_000;

const pathOf = (dataDir: string, engine: EngineName) => join(dataDir, 'pids', engine);

/** Returns the fields of a process in proc(5), starting with its state; empty if the process has ended. */
async function fieldsOf(pid: number): Promise<readonly string[]> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name in brackets may contain spaces. After it, the state is the first field and the start time the 20th.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return stat === '' || fields[0] === 'Z' ? [] : fields;
}

/**
 * Returns the start time of a process in kernel ticks, which distinguishes a reused process id from the original
 * process.
 */
const startTicks = async (pid: number): Promise<string | undefined> => (await fieldsOf(pid))[19];

/** Returns the state letter of a process in proc(5); null if the process has ended. */
export const processState = async (pid: number): Promise<string | null> => (await fieldsOf(pid))[0] ?? null;

export async function writePidFile(dataDir: string, engine: EngineName, pid: number): Promise<void> {
  const path = pathOf(dataDir, engine);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${pid} ${(await startTicks(pid)) ?? ''}`);
}

/** Returns the running engines of a data directory, even if their parent process has ended. */
export async function runningEngines(dataDir: string): Promise<string[]> {
  const names = await readdir(join(dataDir, 'pids')).catch(() => []);
  const running = await Promise.all(
    names.map(async (name) => {
      const [pid, ticks] = (await readFile(pathOf(dataDir, name as EngineName), 'utf8').catch(() => '')).split(' ');
      return pid && ticks && (await startTicks(Number(pid))) === ticks ? [name] : [];
    }),
  );
  return running.flat();
}

/** Stops an engine process that an earlier parent left running; returns whether there was one. */
export async function stopOrphan(dataDir: string, engine: EngineName): Promise<boolean> {
  const path = pathOf(dataDir, engine);
  const [pid, ticks] = (await readFile(path, 'utf8').catch(() => '')).split(' ');
  if (!pid || !ticks) return false;
  const isRunning = async () => (await startTicks(Number(pid))) === ticks;
  const found = await isRunning();
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (!(await isRunning())) break;
    process.kill(Number(pid), signal);
    for (let waited = 0; waited < STOP_MS && (await isRunning()); waited += 50) await sleep(50);
  }
  await rm(path, { force: true });
  return found;
}
