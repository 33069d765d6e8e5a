/** How a process makes way for others on the same cores. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/** The id of a process's session, as Linux tells it; null elsewhere, and of a process that is gone. */
function sessionOf(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in brackets may hold spaces, so counting begins behind it.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[3]);
  } catch {
    return null;
  }
}

/** The threads that a process has by now. Linux gives each a priority of its own; elsewhere the process has one. */
function threadsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return [pid];
  }
}

/**
 * Lowers the priority of a process, and of the children that it starts from now on. Where Linux shares the
 * cores out by session first (sched_autogroup_enabled, as most distributions have it), a priority counts within the
 * process's own session alone: there the priority of the session is lowered too, if the process leads it and so no other process is in it.
 * @param niceness as nice(1) counts
 */
export function lowerPriority(pid: number, niceness: number): void {
  for (const thread of threadsOf(pid)) {
    try {
      setPriority(thread, niceness);
    } catch (error) {
      // One of many may have ended meanwhile.
      if (thread === pid) throw error;
    }
  }
  if (sessionOf(pid) !== pid) return;
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(niceness));
  } catch {
    // No such sharing here, or not ours to change: the priority is all there is.
  }
}
