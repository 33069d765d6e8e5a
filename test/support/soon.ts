import { setTimeout as sleep } from 'node:timers/promises';

/** Asks until an answer is as wanted, and answers it. @throws when it is not in time */
export async function soon<T>(
  ask: () => Promise<T> | T,
  wanted: (answer: T) => boolean,
  timeoutMs = 20_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (wanted(answer)) return answer;
    if (Date.now() > deadline) throw new Error(`still ${JSON.stringify(answer)} after ${timeoutMs} ms`);
    await sleep(50);
  }
}
