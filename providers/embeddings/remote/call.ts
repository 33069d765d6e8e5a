import { onAbort } from '../../../egress/onAbort.js';
import type { FairnessKey } from '../fairQueue.js';
import { joinWindows } from '../joinWindows.js';

/** One caller's texts (or pictures) in progress. */
export interface Call {
  readonly fairnessKey: FairnessKey | undefined;
  readonly isSettled: boolean;
  /** Records the vector of a window, a part of the text at `index` that is embedded separately. */
  addVector(index: number, vector: Float32Array, tokens: number): void;
  /** Adds one more expected window. */
  expectMore(): void;
  fail(error: unknown): void;
  /** One normalised vector per text. Rejects at the first failure, or with the reason of the signal. */
  readonly answer: Promise<Float32Array[]>;
}

/**
 * Starts a call.
 * @param windows number of windows of each text
 * @param onSettled called once when the call has succeeded, failed or was aborted
 */
export function openCall(
  windows: readonly number[],
  fairnessKey: FairnessKey | undefined,
  signal: AbortSignal | undefined,
  onSettled: (call: Call) => void,
): Call {
  const vectorsOfTexts = windows.map((): { vector: Float32Array; tokens: number }[] => []);
  let missing = windows.reduce((sum, count) => sum + count, 0);
  let isDone = false;
  let resolve: (vectors: Float32Array[]) => void;
  let reject: (error: unknown) => void;
  const answer = new Promise<Float32Array[]>((...functions) => ([resolve, reject] = functions));
  const settle = (act: () => void): void => {
    if (isDone) return;
    isDone = true;
    stopListening?.();
    act();
    onSettled(call);
  };
  const call: Call = {
    fairnessKey,
    get isSettled() {
      return isDone;
    },
    addVector(index, vector, tokens) {
      vectorsOfTexts[index]?.push({ vector, tokens });
      missing -= 1;
      if (missing === 0) settle(() => resolve(vectorsOfTexts.map(joinWindows)));
    },
    expectMore() {
      missing += 1;
    },
    fail: (error) => settle(() => reject(error)),
    answer,
  };
  const stopListening = signal && onAbort(signal, () => call.fail(signal.reason));
  return call;
}
