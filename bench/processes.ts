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
    // The name in brackets may hold spaces, so counting begins behind it.
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
    // It ended between the listing and the look.
    return null;
  }
}

/** All processes that descend from `root`, without itself. */
function descendants(root: number): Process[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readProcess(Number(name)))
    .filter((one) => one !== null);
  const found: Process[] = [];
  let parents = new Set([root]);
  while (parents.size > 0) {
    const children = all.filter(({ parent }) => parents.has(parent));
    found.push(...children);
    parents = new Set(children.map(({ pid }) => pid));
  }
  return found;
}

/** What the processes of a run are called in the tables, by what their command line holds. */
const ROLES = [
  ['embedding', /localProcess/],
  ['reader', /poolProcess/],
  ['api', /api\/server/],
  ['worker', /worker\/main/],
  ['temporal', /temporal(\s|.*\s)server start-dev/],
  ['mongodb', /mongod\s/],
  ['qdrant', /qdrant_server/],
  ['site', /siteServer/],
  ['peer', /bench\/langchain\//],
] as const;
export type Role = (typeof ROLES)[number][0] | 'bench' | 'other';

export type ByRole = Partial<Record<Role, number>>;

const roleOf = (command: string): Role => ROLES.find(([, pattern]) => pattern.test(command))?.[0] ?? 'other';

/** Pages of memory on every x86_64. */
const PAGE_BYTES = 4096;
/** How much more than when it was last counted exactly counts as a new peak that is worth counting. */
const NEW_PEAK = 1.01;

/** Memory of a process in bytes, all that it shares with others included: what Linux has at hand. */
function roughMemoryOf({ pid }: Process): number {
  try {
    return PAGE_BYTES * Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
  } catch {
    return 0;
  }
}

/** Memory of a process in bytes, with its part of shared memory (Node's own code). Linux walks all its pages for this. */
function memoryOf({ pid }: Process): number {
  try {
    return 1024 * Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

function sum(processes: readonly Process[], valueOf: (one: Process) => number): ByRole {
  const sums: ByRole = {};
  for (const one of processes) {
    const role = roleOf(one.command);
    sums[role] = (sums[role] ?? 0) + valueOf(one);
  }
  return sums;
}

/** The bench's children of a role. */
export const pidsOf = (role: Role): number[] =>
  descendants(process.pid)
    .filter(({ command }) => roleOf(command) === role)
    .map(({ pid }) => pid);

/** Adds up the values of some roles. */
export const total = (values: ByRole, roles: readonly Role[]): number =>
  roles.reduce((all, role) => all + (values[role] ?? 0), 0);

/** Values of all roles that have some, in words. */
export const perRole = (values: ByRole, unit: number, digits: number): string =>
  [...ROLES.map(([role]) => role), 'bench' as const]
    .filter((role) => (values[role] ?? 0) > 0)
    .map((role) => `${role} ${((values[role] ?? 0) / unit).toFixed(digits)}`)
    .join(', ');

/** Processor time that the bench's children have used so far, by role, in milliseconds. */
export const cpuNow = (): ByRole => ({
  ...sum(descendants(process.pid), ({ cpuMs }) => cpuMs),
  bench: (process.cpuUsage().user + process.cpuUsage().system) / 1000,
});

/** How much each role used since an earlier look. A process that ended in between takes its time with it. */
export function cpuSince(before: ByRole): ByRole {
  const now = cpuNow();
  return Object.fromEntries(
    (Object.keys(now) as Role[]).map((role) => [role, Math.max(0, (now[role] ?? 0) - (before[role] ?? 0))]),
  );
}

export interface Peak {
  /** Bytes at the moment when the watched roles together had most. */
  readonly bytes: number;
  readonly byRole: ByRole;
}

/**
 * Watches the memory of the bench's children of some roles while `work` runs; returns the highest sum. Only apparent peaks
 * are counted exactly: otherwise watching would cost one part in twenty of the measured work.
 */
export async function watchMemory<T>(roles: readonly Role[], work: () => Promise<T>): Promise<[T, Peak]> {
  let peak: Peak = { bytes: 0, byRole: {} };
  let roughly = 0;
  const look = (): void => {
    const watched = descendants(process.pid).filter(({ command }) => roles.includes(roleOf(command)));
    const rough = watched.reduce((all, one) => all + roughMemoryOf(one), 0);
    if (rough <= roughly * NEW_PEAK) return;
    roughly = rough;
    const byRole = sum(watched, memoryOf);
    const bytes = total(byRole, roles);
    if (bytes > peak.bytes) peak = { bytes, byRole };
  };
  look();
  const timer = setInterval(look, SAMPLE_MS);
  try {
    const value = await work();
    look();
    return [value, peak];
  } finally {
    clearInterval(timer);
  }
}
