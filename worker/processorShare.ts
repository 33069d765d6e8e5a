/** Measures the processor time that the operating system gives to this process, from Linux's counters. */
import { readdirSync, readFileSync } from 'node:fs';

import type { WorkerLoad } from '../contract/runs/workers.js';

/** Length of the measured window in milliseconds. It is long because a peak of a second or two is not starvation. */
const WINDOW_MS = 15_000;

interface Sample {
  readonly at: number;
  /** Nanoseconds that the main thread ran. */
  readonly ranNs: number;
  /** Nanoseconds that the main thread was runnable and waited for a processor. */
  readonly waitedNs: number;
  /** Clock ticks of the whole machine: busy ticks, and all ticks. */
  readonly busy: number;
  readonly all: number;
  /** Clock ticks of this service's processes. */
  readonly own: number;
}

/** Returns the parent and the processor time in clock ticks of each process, including its ended children. */
function processes(): Map<number, { readonly parent: number; readonly ticks: number }> {
  const found = new Map<number, { parent: number; ticks: number }>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
      // The command name in brackets may contain spaces: count the fields after it.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
      found.set(Number(entry), { parent: Number(fields[1]), ticks });
    } catch {
      // The process ended between the two reads.
    }
  }
  return found;
}

/** Returns the clock ticks of a process and all its descendants. */
function ticksBelow(root: number): number {
  const byPid = processes();
  const isBelow = (pid: number): boolean => {
    for (let ancestor = pid; ancestor > 0; ancestor = byPid.get(ancestor)?.parent ?? 0)
      if (ancestor === root) return true;
    return false;
  };
  let sum = 0;
  for (const [pid, { ticks }] of byPid) if (isBelow(pid)) sum += ticks;
  return sum;
}

function takeSample(root: number): Sample | null {
  try {
    const [ran, waited] = readFileSync('/proc/self/schedstat', 'utf8').split(' ').map(Number);
    const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1);
    const [user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0] = line
      .split(/\s+/)
      .slice(1)
      .map(Number);
    const busy = user + nice + system + irq + softirq + steal;
    return {
      ...{ at: performance.now(), ranNs: ran ?? 0, waitedNs: waited ?? 0 },
      ...{ busy, all: busy + idle + iowait, own: ticksBelow(root) },
    };
  } catch {
    // Not Linux, or no /proc: no measurement.
    return null;
  }
}

const share = (part: number, whole: number): number => (whole <= 0 ? 0 : Math.min(1, Math.max(0, part / whole)));

/**
 * Returns a meter of this process's main thread; each call measures about the last 15 s.
 * @param root the process whose descendants, including this process, make up the service on this machine
 */
export function createLoadMeter(root: number): () => Omit<WorkerLoad, 'lagMs'> {
  const samples: Sample[] = [];
  return () => {
    const now = takeSample(root);
    if (now === null) return { waitShare: null, waited: null, othersShare: null };
    samples.push(now);
    while (samples.length > 2 && now.at - (samples[1]?.at ?? 0) >= WINDOW_MS) samples.shift();
    const [first] = samples;
    if (first === undefined || first === now) return { waitShare: null, waited: null, othersShare: null };
    const waitedNs = now.waitedNs - first.waitedNs;
    const machine = now.all - first.all;
    return {
      waitShare: share(waitedNs, waitedNs + now.ranNs - first.ranNs),
      waited: share(waitedNs / 1e6, now.at - first.at),
      othersShare: share(now.busy - first.busy - (now.own - first.own), machine),
    };
  };
}
