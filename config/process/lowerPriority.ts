/** Lowers the priority of processes in favour of others on the same cores. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/** Returns the id of a process's session on Linux; null on other systems, and for a process that has ended. */
function sessionOf(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in brackets may contain spaces, so parse the fields after it.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[3]);
  } catch {
    return null;
  }
}

/**
 * Returns the current threads of a process. On Linux each has its own priority; on other systems the process has one.
 */
function threadsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return [pid];
  }
}

/**
 * Lowers the priority of a process and of the children that it starts later. If Linux schedules by session first
 * (sched_autogroup_enabled, the default of most distributions), a priority counts only within the session. Then the
 * priority of the session is lowered too, but only if the process leads it, so that the session contains no processes
 * except this one and its descendants.
 * @param niceness as for nice(1)
 */
export function lowerPriority(pid: number, niceness: number): void {
  for (const thread of threadsOf(pid)) {
    try {
      setPriority(thread, niceness);
    } catch (error) {
      // A thread may have ended in the meantime.
      if (thread === pid) throw error;
    }
  }
  if (sessionOf(pid) !== pid) return;
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(niceness));
  } catch {
    // The system does not schedule by session, or this user may not change it: only the process's priority is lowered.
  }
}
