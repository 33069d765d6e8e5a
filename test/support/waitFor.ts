import { setTimeout as sleep } from 'node:timers/promises';

/** Default time limit in milliseconds: so long that even on a slow machine only a hang exceeds it. */
export const TIME_LIMIT_MS = 270_000;

/** The pause between polls grows, because each poll uses CPU time that other suites need. */
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 300;

/** Polls until a result meets a condition, and returns it. @throws on timeout */
export async function waitFor<T>(
  poll: () => Promise<T> | T,
  condition: (result: T) => boolean,
  timeoutMs = TIME_LIMIT_MS,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 1.5, MAX_PAUSE_MS)) {
    const result = await poll();
    if (condition(result)) return result;
    if (Date.now() > deadline) throw new Error(`still ${JSON.stringify(result)} after ${timeoutMs} ms`);
    await sleep(pauseMs);
  }
}
