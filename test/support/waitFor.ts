import { setTimeout as sleep } from 'node:timers/promises';

/** How long tests wait for what should come at once: a slow machine comes in time, a hang does not. */
export const PATIENCE_MS = 120_000;

/** Seldomer the longer it takes: each question costs the service milliseconds that other suites wait for. */
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 200;

/** Asks until an answer is as wanted, and answers it. @throws when it is not in time */
export async function waitFor<T>(
  ask: () => Promise<T> | T,
  wanted: (answer: T) => boolean,
  timeoutMs = PATIENCE_MS,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 1.25, LONGEST_PAUSE_MS)) {
    const answer = await ask();
    if (wanted(answer)) return answer;
    if (Date.now() > deadline) throw new Error(`still ${JSON.stringify(answer)} after ${timeoutMs} ms`);
    await sleep(pauseMs);
  }
}
