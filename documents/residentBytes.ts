import { readFileSync } from 'node:fs';

/**
 * Returns the resident memory of a process in bytes; 0 if the system does not report it. `statm` would be shorter, but
 * it counts pages, whose size is 4, 16 or 64 KB.
 * @param folder replaces /proc in tests
 */
export function residentBytes(pid: number | null | undefined, folder = '/proc'): number {
  if (pid === null || pid === undefined) return 0;
  try {
    return Number(/^VmRSS:\s*(\d+) kB/m.exec(readFileSync(`${folder}/${pid}/status`, 'latin1'))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
