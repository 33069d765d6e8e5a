/**
 * Measures the longest turns of a process's event loop. Node preloads it (NODE_OPTIONS=--import=…). It measures the
 * processor time that the main thread uses between two ticks of a timer: a long turn delays the next tick, so it is
 * measured completely. Wall time would include the time of other processes.
 *
 * GET http://127.0.0.1:TURN_PROBE_PORT/?above=MS waits until the main thread is idle and returns the longest turn since
 * the last such request, in milliseconds. Other processes on the same core can double the processor time of the same
 * work. If the turn is longer than MS, the probe therefore measures by which factor the thread is now slower than on an
 * idle core, and divides the turn by it. Turns up to MS are returned as measured: the division could only shorten them.
 */
import { openSync, readSync } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread } from 'node:worker_threads';

const TICK_MS = 5;
/** Processor time between two ticks below which the thread is idle. The probe itself takes about 0.1 ms. */
const IDLE_MS = 2;
/**
 * Number of ticks without work before the thread counts as idle: work that waits for a store resumes within milliseconds.
 */
const IDLE_TICKS = 8;
const TIME_LIMIT_MS = 30_000;
/** A fixed piece of work, and its processor time on an idle core of a 2.5 GHz server. */
const REFERENCE = JSON.stringify(Array.from({ length: 12_000 }, (_, at) => ({ key: `k${at}`, value: [at, 'text'] })));
const REFERENCE_MS = 6;

const port = process.env['TURN_PROBE_PORT'];
// Kept open, because each tick reads it twice.
const schedstat = isMainThread && port ? openSync(`/proc/self/task/${process.pid}/schedstat`, 'r') : -1;
const buffer = Buffer.alloc(100);
const usedMs = () => {
  const length = readSync(schedstat, buffer, 0, buffer.length, 0);
  return Number(buffer.toString('latin1', 0, length).split(' ', 1)[0]) / 1e6;
};

/** Returns by which factor the main thread is now slower than the reference speed: at least 1. */
function slowness() {
  const times = [0, 1, 2].map(() => {
    const began = usedMs();
    JSON.parse(REFERENCE);
    return usedMs() - began;
  });
  return Math.max(1, times.toSorted((a, b) => a - b)[1] / REFERENCE_MS);
}

if (isMainThread && port) {
  let longest = 0;
  let idleTicks = 0;
  let last = usedMs();
  setInterval(() => {
    const ms = usedMs() - last;
    longest = Math.max(longest, ms);
    idleTicks = ms < IDLE_MS ? idleTicks + 1 : 0;
    last = usedMs();
  }, TICK_MS).unref();
  const untilIdle = async () => {
    const until = Date.now() + TIME_LIMIT_MS;
    idleTicks = 0;
    while (idleTicks < IDLE_TICKS && Date.now() < until) await sleep(TICK_MS);
  };
  createServer(({ url }, response) => {
    const above = Number(new URL(url, 'http://127.0.0.1').searchParams.get('above'));
    void untilIdle().then(() => {
      response.end(String(longest > above ? longest / slowness() : longest));
      longest = 0;
      last = usedMs();
    });
  })
    .listen(Number(port), '127.0.0.1')
    .unref();
}
