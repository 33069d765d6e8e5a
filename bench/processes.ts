/** Memory and processor time of processes and their children, as Linux counts them. */
import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts processor time in hundredths of a second on every x86_64. */
const MS_PER_TICK = 10;
const SAMPLE_MS = 250;

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
  readonly cpuMs: number;
}

function readProcess(pid: number): Process | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in brackets may contain spaces, so count the fields after it.
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [, parent = 0] = fields;
    const [user = 0, system = 0] = [fields[11], fields[12]];
    return {
      pid,
      parent,
      command: readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' '),
      cpuMs: (user + system) * MS_PER_TICK,
    };
  } catch {
    // The process ended after the listing.
    return null;
  }
}

/** Returns all descendants of the process `root`, without itself. */
function descendants(root: number): Process[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readProcess(Number(name)))
    .filter((entry) => entry !== null);
  const found: Process[] = [];
  let parents = new Set([root]);
  while (parents.size > 0) {
    const children = all.filter(({ parent }) => parents.has(parent));
    found.push(...children);
    parents = new Set(children.map(({ pid }) => pid));
  }
  return found;
}

/** Roles of processes in the tables, by a pattern of the command line. */
const ROLES = [
  ['embedding', /localProcess/],
  ['reader', /poolProcess/],
  ['api', /api\/server/],
  ['worker', /worker\/main/],
  ['temporal', /temporal(\s|.*\s)server start-dev/],
  ['mongodb', /mongod\s/],
  ['qdrant', /qdrant_server/],
  ['site', /siteServer/],
  ['baseline', /bench\/langchain\//],
] as const;
export type Role = (typeof ROLES)[number][0] | 'bench' | 'other';

export type ByRole = Partial<Record<Role, number>>;

const roleOf = (command: string): Role => ROLES.find(([, pattern]) => pattern.test(command))?.[0] ?? 'other';

/** Size of a memory page on every x86_64. */
const PAGE_BYTES = 4096;
/** Memory is counted exactly again when its rough total exceeds that of the last exact count by this factor. */
const NEW_PEAK = 1.01;

/** Returns the memory of a process in bytes, including all shared memory. Cheap to read. */
function roughMemoryOf({ pid }: Process): number {
  try {
    return PAGE_BYTES * Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
  } catch {
    return 0;
  }
}

/**
 * Returns the memory of a process in bytes, with its share of shared memory (Node's code). Linux walks all pages for
 * it.
 */
function memoryOf({ pid }: Process): number {
  try {
    return 1024 * Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

function sum(processes: readonly Process[], valueOf: (entry: Process) => number): ByRole {
  const sums: ByRole = {};
  for (const entry of processes) {
    const role = roleOf(entry.command);
    sums[role] = (sums[role] ?? 0) + valueOf(entry);
  }
  return sums;
}

/** Returns the ids of the bench's child processes of a role. */
export const pidsOf = (role: Role): number[] =>
  descendants(process.pid)
    .filter(({ command }) => roleOf(command) === role)
    .map(({ pid }) => pid);

/** Returns the sum of the values of some roles. */
export const total = (values: ByRole, roles: readonly Role[]): number =>
  roles.reduce((all, role) => all + (values[role] ?? 0), 0);

/** Returns a text with the positive value, divided by `unit`, of each role except `other`. */
export const perRole = (values: ByRole, unit: number, digits: number): string =>
  [...ROLES.map(([role]) => role), 'bench' as const]
    .filter((role) => (values[role] ?? 0) > 0)
    .map((role) => `${role} ${((values[role] ?? 0) / unit).toFixed(digits)}`)
    .join(', ');

/** Returns the processor time of the bench and its descendant processes so far, by role, in milliseconds. */
export const cpuNow = (): ByRole => ({
  ...sum(descendants(process.pid), ({ cpuMs }) => cpuMs),
  bench: (process.cpuUsage().user + process.cpuUsage().system) / 1000,
});

/**
 * Returns the processor time of each role since an earlier reading. The time of processes that ended since is missing.
 */
export function cpuSince(before: ByRole): ByRole {
  const now = cpuNow();
  return Object.fromEntries(
    (Object.keys(now) as Role[]).map((role) => [role, Math.max(0, (now[role] ?? 0) - (before[role] ?? 0))]),
  );
}

export interface Peak {
  /** Largest total of the watched roles, in bytes. */
  readonly bytes: number;
  readonly byRole: ByRole;
}

/**
 * Watches the memory of the bench's child processes of some roles while `work` runs, and returns the highest total.
 * Memory is counted exactly only at apparent peaks: counting every sample exactly would take 5 % of the measured time.
 */
export async function watchMemory<T>(roles: readonly Role[], work: () => Promise<T>): Promise<[T, Peak]> {
  let peak: Peak = { bytes: 0, byRole: {} };
  let roughly = 0;
  const sample = (): void => {
    const watched = descendants(process.pid).filter(({ command }) => roles.includes(roleOf(command)));
    const rough = watched.reduce((all, entry) => all + roughMemoryOf(entry), 0);
    if (rough <= roughly * NEW_PEAK) return;
    roughly = rough;
    const byRole = sum(watched, memoryOf);
    const bytes = total(byRole, roles);
    if (bytes > peak.bytes) peak = { bytes, byRole };
  };
  sample();
  const timer = setInterval(sample, SAMPLE_MS);
  try {
    const value = await work();
    sample();
    return [value, peak];
  } finally {
    clearInterval(timer);
  }
}
