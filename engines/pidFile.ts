/**
 * Which process is an engine of this data directory. Engines end with their parent; if one outlived it all the same,
 * the next start finds it here and stops it, since two engines must never write the same files.
 */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { EngineName } from './engine.js';

const STOP_MS = 10_000;

const pathOf = (dataDir: string, engine: EngineName) => join(dataDir, 'pids', engine);

/** Fields of a process from its state on, as proc(5) lists them; empty for one that has ended. */
async function fieldsOf(pid: number): Promise<readonly string[]> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name, in brackets, may hold spaces; the state is the first field behind it, the start time the 20th.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return stat === '' || fields[0] === 'Z' ? [] : fields;
}

/** When the kernel started a process, in its own ticks: with it a number used again is not taken for the old process. */
const startTicks = async (pid: number): Promise<string | undefined> => (await fieldsOf(pid))[19];

/** Returns the letter that proc(5) gives the state of a process; null for one that has ended. */
export const processState = async (pid: number): Promise<string | null> => (await fieldsOf(pid))[0] ?? null;

export async function writePidFile(dataDir: string, engine: EngineName, pid: number): Promise<void> {
  const path = pathOf(dataDir, engine);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${pid} ${(await startTicks(pid)) ?? ''}`);
}

/** The engines of a data directory that live, with their owner or without. */
export async function livingEngines(dataDir: string): Promise<string[]> {
  const names = await readdir(join(dataDir, 'pids')).catch(() => []);
  const living = await Promise.all(
    names.map(async (name) => {
      const [pid, ticks] = (await readFile(pathOf(dataDir, name as EngineName), 'utf8').catch(() => '')).split(' ');
      return pid && ticks && (await startTicks(Number(pid))) === ticks ? [name] : [];
    }),
  );
  return living.flat();
}

/** Stops what an earlier owner of the data directory left running; true if there was something. */
export async function stopOrphan(dataDir: string, engine: EngineName): Promise<boolean> {
  const path = pathOf(dataDir, engine);
  const [pid, ticks] = (await readFile(path, 'utf8').catch(() => '')).split(' ');
  if (!pid || !ticks) return false;
  const lives = async () => (await startTicks(Number(pid))) === ticks;
  const found = await lives();
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (!(await lives())) break;
    process.kill(Number(pid), signal);
    for (let waited = 0; waited < STOP_MS && (await lives()); waited += 50) await sleep(50);
  }
  await rm(path, { force: true });
  return found;
}
