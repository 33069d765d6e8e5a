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

/** The items of one request. They stay together until they are answered, or split if one of them is rejected. */
export interface Batch {
  readonly model: RemoteModel;
  readonly purpose: EmbeddingPurpose;
  readonly items: readonly Item[];
  /** Failed attempts, not counting rate limit refusals. */
  readonly failures: number;
  /** Time of the first rejection; null if there was none. */
  readonly refusedSince: number | null;
  /** Earliest time to send it. */
  readonly notBefore: number;
}

interface Line {
  readonly model: RemoteModel;
  readonly purpose: EmbeddingPurpose;
  readonly queue: FairQueue<Call, Item>;
}

/** Windows, by model and purpose, and failed batches that wait to be sent with one key. */
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
  /** Removes the waiting items of a call. */
  drop(call: Call): void;
  /** Rejects all waiting queries instead of delaying them, because their callers wait for the answer. */
  rejectQueries(fault: Fault): void;
  /** Returns the time at which the next batch may be sent; Infinity if none waits. @param from when new ones may be */
  soonest(from: number): number;
}

/** Builds a request from a line's items, up to the limits of the provider. */
function gather({ model, purpose, queue }: Line): Batch | null {
  const items: Item[] = [];
  let [tokens, bytes] = [0, 0];
  const { request, input } = model;
  const largest = Math.max(input.bytes, (model.imageBytes ?? 0) * (4 / 3));
  // Keep room for the largest possible input: the queue cannot show an item without removing it.
  const hasRoom = (): boolean =>
    items.length < request.inputs &&
    (items.length === 0 || (tokens + input.tokens <= request.tokens && bytes + largest <= request.bytes));
  while (hasRoom()) {
    const item = queue.take();
    if (!item) break;
    items.push(item);
    tokens += item.tokens;
    bytes += item.input.kind === 'text' ? Buffer.byteLength(item.input.text) : item.input.bytes.length * (4 / 3);
  }
  return items.length === 0 ? null : { model, purpose, items, failures: 0, refusedSince: null, notBefore: 0 };
}

export function createBatchQueue(): BatchQueue {
  const lines: Line[] = [];
  let again: Batch[] = [];

  function lineOf(model: RemoteModel, purpose: EmbeddingPurpose): Line {
    const existing = lines.find((line) => line.model === model && line.purpose === purpose);
    if (existing) return existing;
    const line = { model, purpose, queue: createFairQueue<Call, Item>() };
    lines.push(line);
    return line;
  }

  /** Returns the next batch: due retries first, then queries, then documents, models in turn. */
  function next(now: number): Batch | null {
    const due = again.find((batch) => batch.notBefore <= now);
    if (due) {
      again = again.filter((batch) => batch !== due);
      const items = due.items.filter((item) => !item.call.isSettled);
      return items.length === 0 ? next(now) : { ...due, items };
    }
    for (const purpose of ['query', 'document'] as const) {
      const line = lines.find((candidate) => candidate.purpose === purpose && !candidate.queue.isEmpty());
      if (!line) continue;
      lines.push(...lines.splice(lines.indexOf(line), 1));
      return gather(line);
    }
    return null;
  }

  return {
    add: (model, purpose, call, items, fairnessKey) => lineOf(model, purpose).queue.add(call, items, fairnessKey),
    retry: (...batches) => void again.push(...batches),
    next,
    drop(call) {
      for (const { queue } of lines) queue.drop(call);
    },
    rejectQueries(fault) {
      for (const { purpose, queue } of lines)
        if (purpose === 'query') for (let item = queue.take(); item; item = queue.take()) item.call.fail(fault);
    },
    soonest(from) {
      const isQueued = lines.some(({ queue }) => !queue.isEmpty());
      return Math.min(...again.map((batch) => batch.notBefore), isQueued ? from : Infinity);
    },
  };
}
