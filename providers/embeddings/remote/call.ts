import { onAbort } from '../../../egress/onAbort.js';
import type { Party } from '../fairQueue.js';
import { joinWindows } from '../joinWindows.js';

/** One caller's texts (or pictures) under way: what came back of each, and whether anybody still waits. */
export interface Call {
  readonly party: Party | undefined;
  readonly isSettled: boolean;
  /** A window of the text at `index` has its vector. */
  took(index: number, vector: Float32Array, tokens: number): void;
  /** One more window is to come. */
  expectMore(): void;
  fail(error: unknown): void;
  /** One vector a text, normalised. Rejects at the first failure, or with the reason of the signal. */
  readonly answer: Promise<Float32Array[]>;
}

/** @param windows how many windows each text has @param onSettled called once, whatever the end */
export function openCall(
  windows: readonly number[],
  party: Party | undefined,
  signal: AbortSignal | undefined,
  onSettled: (call: Call) => void,
): Call {
  const parts = windows.map((): { vector: Float32Array; tokens: number }[] => []);
  let missing = windows.reduce((sum, count) => sum + count, 0);
  let settled = false;
  let resolve: (vectors: Float32Array[]) => void;
  let reject: (error: unknown) => void;
  const answer = new Promise<Float32Array[]>((...ends) => ([resolve, reject] = ends));
  const settle = (act: () => void): void => {
    if (settled) return;
    settled = true;
    letGo?.();
    act();
    onSettled(call);
  };
  const call: Call = {
    party,
    get isSettled() {
      return settled;
    },
    took(index, vector, tokens) {
      parts[index]?.push({ vector, tokens });
      missing -= 1;
      if (missing === 0) settle(() => resolve(parts.map(joinWindows)));
    },
    expectMore() {
      missing += 1;
    },
    fail: (error) => settle(() => reject(error)),
    answer,
  };
  const letGo = signal && onAbort(signal, () => call.fail(signal.reason));
  return call;
}
