import type { Fault } from '../../../contract/failures.js';
import { createFairQueue, type FairQueue, type FairnessKey } from '../fairQueue.js';
import type { EmbeddingPurpose } from '../types.js';
import type { Call } from './call.js';
import type { Input, RemoteModel } from './types.js';

/** One window of a text, or a picture, that is being embedded. */
export interface Item {
  readonly call: Call;
  /** Index of the text in its call. */
  readonly index: number;
  readonly input: Input;
  readonly tokens: number;
}

/** The items of one request. They stay together until they are answered; a batch with a rejected item is halved. */
export interface Batch {
  readonly model: RemoteModel;
  readonly purpose: EmbeddingPurpose;
  readonly items: readonly Item[];
  /** Failed attempts, not counting rate limit refusals. */
  readonly failures: number;
  /** Time of the first rate limit refusal; null if there was none. */
  readonly refusedSince: number | null;
  /** Earliest time to send it. */
  readonly notBefore: number;
}

interface ModelQueue {
  readonly model: RemoteModel;
  readonly purpose: EmbeddingPurpose;
  readonly queue: FairQueue<Call, Item>;
}

/** Everything that waits to be sent with one key: windows and pictures, by model and purpose, and failed batches. */
export interface BatchQueue {
  /** Adds the items of a call. @param fairnessKey the unit of round-robin */
  add(
    model: RemoteModel,
    purpose: EmbeddingPurpose,
    call: Call,
    items: readonly Item[],
    fairnessKey: FairnessKey | undefined,
  ): void;
  /** Adds batches that are sent again, each not before its `notBefore`. */
  retry(...batches: readonly Batch[]): void;
  /** Removes and returns the next batch: due retries first, then queries, then documents, models in turn. */
  next(now: number): Batch | null;
  /**
   * Removes the items of a call that were not sent yet. Items of a settled call in batches to retry are dropped by
   * `next`.
   */
  drop(call: Call): void;
  /** Rejects everything of a purpose that waits, retries included, instead of delaying it. */
  reject(rejected: EmbeddingPurpose, fault: Fault): void;
  /**
   * Returns the time at which the next batch may be sent; Infinity if none waits.
   * @param from the earliest time at which items may be sent that are not a retry
   */
  nextSendTime(from: number): number;
}

/** Takes items from a queue for one request, up to the limits of the provider; null if the queue is empty. */
function takeBatch({ model, purpose, queue }: ModelQueue): Batch | null {
  const items: Item[] = [];
  let [tokens, bytes] = [0, 0];
  const { request, input } = model;
  const largest = Math.max(input.bytes, (model.imageBytes ?? 0) * (4 / 3));
  // Keep room for the largest possible input: the queue cannot show an item without removing it.
  const fits = (): boolean =>
    items.length < request.inputs &&
    (items.length === 0 || (tokens + input.tokens <= request.tokens && bytes + largest <= request.bytes));
  while (fits()) {
    const item = queue.take();
    if (!item) break;
    items.push(item);
    tokens += item.tokens;
    bytes += item.input.kind === 'text' ? Buffer.byteLength(item.input.text) : item.input.bytes.length * (4 / 3);
  }
  return items.length === 0 ? null : { model, purpose, items, failures: 0, refusedSince: null, notBefore: 0 };
}

export function createBatchQueue(): BatchQueue {
  const modelQueues: ModelQueue[] = [];
  let retries: Batch[] = [];

  function modelQueueOf(model: RemoteModel, purpose: EmbeddingPurpose): ModelQueue {
    const existingQueue = modelQueues.find((line) => line.model === model && line.purpose === purpose);
    if (existingQueue) return existingQueue;
    const modelQueue = { model, purpose, queue: createFairQueue<Call, Item>() };
    modelQueues.push(modelQueue);
    return modelQueue;
  }

  /** Returns the next batch: due retries first, then queries, then documents, models in turn. */
  function next(now: number): Batch | null {
    const dueRetry = retries.find((batch) => batch.notBefore <= now);
    if (dueRetry) {
      retries = retries.filter((batch) => batch !== dueRetry);
      const items = dueRetry.items.filter((item) => !item.call.isSettled);
      return items.length === 0 ? next(now) : { ...dueRetry, items };
    }
    for (const purpose of ['query', 'document'] as const) {
      const line = modelQueues.find((candidate) => candidate.purpose === purpose && !candidate.queue.isEmpty());
      if (!line) continue;
      modelQueues.push(...modelQueues.splice(modelQueues.indexOf(line), 1));
      return takeBatch(line);
    }
    return null;
  }

  return {
    add: (model, purpose, call, items, fairnessKey) => modelQueueOf(model, purpose).queue.add(call, items, fairnessKey),
    retry: (...batches) => void retries.push(...batches),
    next,
    drop(call) {
      for (const { queue } of modelQueues) queue.drop(call);
    },
    reject(rejected, fault) {
      for (const { purpose, queue } of modelQueues)
        if (purpose === rejected) for (let item = queue.take(); item; item = queue.take()) item.call.fail(fault);
      const rejectedRetries = retries.filter(({ purpose }) => purpose === rejected);
      retries = retries.filter(({ purpose }) => purpose !== rejected);
      for (const { items } of rejectedRetries) for (const { call } of items) call.fail(fault);
    },
    nextSendTime(from) {
      const isQueued = modelQueues.some(({ queue }) => !queue.isEmpty());
      return Math.min(...retries.map((batch) => batch.notBefore), isQueued ? from : Infinity);
    },
  };
}
