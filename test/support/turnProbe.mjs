/**
 * Preloaded into a process (NODE_OPTIONS=--import=…): appends to TURN_PROBE_FILE the processor time in milliseconds that
 * the main thread used between two ticks of a timer, where that is above TOLD_MS. A turn of the event loop that takes
 * longer delays the tick. Processor time, because wall time on a busy machine includes the time of other processes.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const TICK_MS = 5;
const TOLD_MS = 20;

const file = process.env['TURN_PROBE_FILE'];
const usedMs = () => Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ', 1)[0]) / 1e6;

if (isMainThread && file) {
  let last = usedMs();
  setInterval(() => {
    const now = usedMs();
    if (now - last > TOLD_MS) appendFileSync(file, `${(now - last).toFixed(1)}\n`);
    last = usedMs();
  }, TICK_MS).unref();
}
