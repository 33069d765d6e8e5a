/** Memory of a service's processes, as reported by Linux. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Returns the resident memory of a process in bytes; 0 if it has ended. */
export function residentBytes(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

const READER = /poolProcess/;

/** Returns the pids of the document reader processes of a worker. */
function readersOf(worker: number): number[] {
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name);
    if (!Number.isInteger(pid)) return [];
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
      // The process name in parentheses can contain spaces, so parse after it.
      const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return Number(parent) === worker && READER.test(readFileSync(`/proc/${pid}/cmdline`, 'latin1')) ? [pid] : [];
    } catch {
      return [];
    }
  });
}

/** Maximum resident memory in bytes; `reader` is the maximum of a single reader process. */
export interface ResidentMemory {
  readonly api: number;
  readonly worker: number;
  readonly reader: number;
}

const SAMPLE_INTERVAL_MS = 20;

/** Records the maximum memory of a service's processes while `work` runs. */
export async function watchResident<T>(
  { api, worker }: { readonly api: number; readonly worker: number },
  work: () => Promise<T>,
): Promise<[T, ResidentMemory]> {
  const peak = { api: 0, worker: 0, reader: 0 };
  let working = true;
  const watching = (async () => {
    while (working) {
      peak.api = Math.max(peak.api, residentBytes(api));
      peak.worker = Math.max(peak.worker, residentBytes(worker));
      peak.reader = Math.max(peak.reader, ...readersOf(worker).map(residentBytes));
      await sleep(SAMPLE_INTERVAL_MS);
    }
  })();
  try {
    return [await work(), peak];
  } finally {
    working = false;
    await watching;
  }
}
