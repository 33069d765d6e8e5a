/** The memory of a service's processes, as Linux counts it. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Bytes that a process has in memory; 0 for one that has ended. */
export function residentBytes(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

const READER = /poolProcess/;

/** The processes that read files for a worker. */
function readersOf(worker: number): number[] {
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name);
    if (!Number.isInteger(pid)) return [];
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
      // The name in brackets may hold spaces, so counting begins behind it.
      const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return Number(parent) === worker && READER.test(readFileSync(`/proc/${pid}/cmdline`, 'latin1')) ? [pid] : [];
    } catch {
      return [];
    }
  });
}

/** Most that each was seen with, in bytes; of the readers, most that one had. */
export interface Residents {
  readonly api: number;
  readonly worker: number;
  readonly reader: number;
}

const LOOK_MS = 20;

/** Watches a service's processes while `work` runs. */
export async function watchResident<T>(
  { api, worker }: { readonly api: number; readonly worker: number },
  work: () => Promise<T>,
): Promise<[T, Residents]> {
  const most = { api: 0, worker: 0, reader: 0 };
  let working = true;
  const watching = (async () => {
    while (working) {
      most.api = Math.max(most.api, residentBytes(api));
      most.worker = Math.max(most.worker, residentBytes(worker));
      most.reader = Math.max(most.reader, ...readersOf(worker).map(residentBytes));
      await sleep(LOOK_MS);
    }
  })();
  try {
    return [await work(), most];
  } finally {
    working = false;
    await watching;
  }
}
