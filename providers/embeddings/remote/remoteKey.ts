import { setTimeout as schedule } from 'node:timers';

import { Fault } from '../../../contract/failures.js';
import type { Egress } from '../../../egress/types.js';
import type { FairnessKey } from '../fairQueue.js';
import type { EmbeddingProvider, EmbeddingPurpose, OnRequest, OnUsage } from '../types.js';
import { type Batch, createBatchQueue } from './batchQueue.js';
import { type Call, openCall } from './call.js';
import { cutWindows, halve } from './cutWindows.js';
import { exchange, type Outcome } from './exchange.js';
import { createRequestLimiter } from './requestLimiter.js';
import type { Input, RemoteModel, KeyLimits, Upstream } from './types.js';
import { divideUsage } from './usage.js';

export interface RemoteOptions {
  readonly egress: Pick<Egress, 'request'>;
  readonly keyLimits: KeyLimits;
  /** Loads the counter of cl100k tokens. Its table is large, so it is loaded with the first text. */
  readonly loadCounter: () => Promise<(text: string) => number>;
  readonly onUsage: OnUsage;
  readonly onRequest?: OnRequest;
}

/** All models that use one key, because the provider limits them together. */
export interface RemoteKey {
  provider(model: RemoteModel): EmbeddingProvider;
}

/** Maximum wait of a query in milliseconds. Its caller waits, so a longer wait is reported as an error at once. */
const MAX_QUERY_WAIT_MS = 5_000;
const FIRST_PAUSE_MS = 300;
const MAX_PAUSE_MS = 10_000;

/**
 * Creates a key that is shared among callers. Windows are taken from all organizations and users in turn and sent
 * together, with as many parallel requests as the provider accepts. New texts collect while requests are active, so
 * requests become fuller under load.
 */
export function createRemoteKey(upstream: Upstream, options: RemoteOptions): RemoteKey {
  const { egress, keyLimits, loadCounter, onUsage, onRequest } = options;
  const limiter = createRequestLimiter(keyLimits);
  const queue = createBatchQueue();
  const inProgress = new Map<Batch, AbortController>();
  const calls = new Set<Call>();
  let closed = false;
  let timer: NodeJS.Timeout | undefined;

  const closedFault = (): Fault =>
    new Fault('embedding_failed', `Requests to ${upstream.name} have ended, because the service is stopping.`);

  function onSettled(call: Call): void {
    calls.delete(call);
    queue.drop(call);
    // Abort requests whose callers have all settled.
    for (const [{ items }, abort] of inProgress) if (items.every((item) => item.call.isSettled)) abort.abort();
  }

  function dispatch(): void {
    clearTimeout(timer);
    if (closed) return;
    const now = Date.now();
    while (limiter.isOpen()) {
      const batch = queue.next(now);
      if (!batch) break;
      void send(batch);
    }
    // Items that wait for a slot continue when a request ends. The other items wait until a point in time.
    const wakeAt = Math.max(queue.nextSendTime(limiter.pausedUntil), limiter.pausedUntil);
    if (Number.isFinite(wakeAt) && wakeAt > now) timer = schedule(dispatch, wakeAt - now);
  }

  async function send(batch: Batch): Promise<void> {
    const abort = new AbortController();
    inProgress.set(batch, abort);
    const ticket = limiter.begin();
    const { model, purpose, items } = batch;
    try {
      const outcome = await exchange({
        ...{ egress, upstream, model, purpose, timeoutMs: keyLimits.timeoutMs, signal: abort.signal },
        inputs: items.map((item) => item.input),
      });
      inProgress.delete(batch);
      onRequest?.(model.space.name, outcome.kind);
      finish(batch, ticket, outcome);
    } catch (error) {
      inProgress.delete(batch);
      limiter.ended();
      for (const { call } of items) call.fail(error);
    }
    dispatch();
  }

  function finish(batch: Batch, ticket: number, outcome: Outcome): void {
    const now = Date.now();
    if (outcome.kind === 'refused') return refuse(batch, limiter.refused(ticket, outcome.waitMs), outcome.fault);
    if (outcome.kind !== 'answered') limiter.ended();
    switch (outcome.kind) {
      case 'answered':
        limiter.succeeded(ticket);
        for (const { organizationId, ...usage } of divideUsage(batch.items, outcome.tokens))
          onUsage(organizationId, batch.model.space.name, usage);
        return batch.items.forEach((item, at) => {
          const vector = outcome.vectors[at];
          if (vector) item.call.addVector(item.index, vector, item.tokens);
        });
      case 'failed': {
        const failures = batch.failures + 1;
        if (failures >= keyLimits.tries) return failBatch(batch, outcome.fault);
        const pause = outcome.fault.retryAfterMs ?? Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** batch.failures);
        if (pause > maxWaitOf(batch)) return failBatch(batch, outcome.fault);
        queue.retry({ ...batch, failures, notBefore: now + pause });
        return;
      }
      case 'rejected':
        return cut(batch, outcome.tooLong, outcome.fault);
      case 'permanent':
        return failBatch(batch, outcome.fault);
    }
  }

  const maxWaitOf = ({ purpose }: Pick<Batch, 'purpose'>): number =>
    purpose === 'query' ? MAX_QUERY_WAIT_MS : keyLimits.timeLimitMs;

  function failBatch({ items }: Batch, fault: Fault): void {
    for (const { call } of items) call.fail(fault);
  }

  function refuse(batch: Batch, pauseMs: number, fault: Fault): void {
    const now = Date.now();
    const refusedSince = batch.refusedSince ?? now;
    // The provider may state no wait. A retry cannot succeed before the key's pause has ended.
    const limited = new Fault('rate_limited', fault.message, { retryAfterMs: Math.max(0, Math.ceil(pauseMs)) });
    if (now + pauseMs - refusedSince > maxWaitOf(batch)) failBatch(batch, limited);
    else queue.retry({ ...batch, refusedSince, notBefore: now + pauseMs });
    // Nothing is sent during the pause. All queued texts of a purpose fail if it exceeds the purpose's maximum wait.
    for (const purpose of ['query', 'document'] as const)
      if (pauseMs > maxWaitOf({ purpose })) queue.reject(purpose, limited);
  }

  /**
   * Isolates the rejected input: sends the halves of a request separately, and a text that is too long as two windows.
   */
  function cut(batch: Batch, tooLong: boolean, fault: Fault): void {
    const { items } = batch;
    if (items.length > 1) {
      const half = Math.ceil(items.length / 2);
      queue.retry({ ...batch, items: items.slice(0, half) }, { ...batch, items: items.slice(half) });
      return;
    }
    const [item] = items;
    const input = item?.input;
    const halves = tooLong && item && input?.kind === 'text' ? halve({ text: input.text, tokens: item.tokens }) : null;
    if (!item || !halves) return failBatch(batch, fault);
    item.call.expectMore();
    queue.retry({
      ...batch,
      items: halves.map(({ text, tokens }) => ({ ...item, tokens, input: { kind: 'text', text } })),
    });
  }

  const embedInputs: EmbedInputs = async (model, purpose, inputs, signal, fairnessKey) => {
    signal?.throwIfAborted();
    if (closed) throw closedFault();
    const pauseMs = limiter.pausedUntil - Date.now();
    if (pauseMs > maxWaitOf({ purpose })) throw pausedFault(upstream, purpose, pauseMs);
    const call = openCall(
      inputs.map((windows) => windows.length),
      fairnessKey,
      signal,
      onSettled,
    );
    calls.add(call);
    const items = inputs.flatMap((windows, index) => windows.map((window) => ({ ...window, call, index })));
    queue.add(model, purpose, call, items, fairnessKey);
    dispatch();
    return call.answer;
  };

  const close = async (): Promise<void> => {
    closed = true;
    clearTimeout(timer);
    for (const call of calls) call.fail(closedFault());
  };

  return { provider: (model) => providerOf(model, { upstream, loadCounter, embedInputs, close }) };
}

/** Embeds the windows of texts, or pictures. @param inputs the windows of each text */
type EmbedInputs = (
  model: RemoteModel,
  purpose: EmbeddingPurpose,
  inputs: readonly (readonly { input: Input; tokens: number }[])[],
  signal: AbortSignal | undefined,
  fairnessKey: FairnessKey | undefined,
) => Promise<Float32Array[]>;

/** Returns the provider of one model: cuts texts into windows, and rejects inputs that the model does not accept. */
function providerOf(
  model: RemoteModel,
  {
    upstream,
    loadCounter,
    embedInputs,
    close,
  }: Pick<RemoteOptions, 'loadCounter'> & {
    readonly upstream: Upstream;
    readonly embedInputs: EmbedInputs;
    close(): Promise<void>;
  },
): EmbeddingProvider {
  return {
    space: model.space,
    async embed(texts, purpose, signal, fairnessKey) {
      signal?.throwIfAborted();
      if (texts.length === 0) return [];
      const count = await loadCounter();
      const inputs = texts.map((text) =>
        // Providers reject empty texts, so a full stop is sent instead.
        cutWindows(text.trim() === '' ? '.' : text, model.input, count).map((window) => ({
          input: { kind: 'text', text: window.text } as const,
          tokens: window.tokens,
        })),
      );
      return embedInputs(model, purpose, inputs, signal, fairnessKey);
    },
    ...(model.imageBytes === undefined
      ? {}
      : {
          async embedImages(images, signal, fairnessKey) {
            if (images.length === 0) return [];
            const tooLarge = images.find((image) => image.length > (model.imageBytes ?? 0));
            if (tooLarge) throw imageTooLarge(upstream, tooLarge.length, model.imageBytes ?? 0);
            const inputs = images.map((bytes) => [{ input: { kind: 'image', bytes } as const, tokens: 0 }]);
            return embedInputs(model, 'document', inputs, signal, fairnessKey);
          },
        }),
    close,
  };
}

function pausedFault({ name }: Upstream, purpose: EmbeddingPurpose, pauseMs: number): Fault {
  const next = purpose === 'query' ? 'Search again later.' : 'The text is sent again automatically.';
  return new Fault('rate_limited', `${name} accepts no more requests at the moment. ${next}`, {
    retryAfterMs: Math.ceil(pauseMs),
  });
}

function imageTooLarge({ name }: Upstream, bytes: number, maxBytes: number): Fault {
  return new Fault(
    'too_large',
    `The picture has ${bytes.toLocaleString('en')} bytes; ${name} takes ${maxBytes.toLocaleString('en')} at most. Make it smaller.`,
  );
}
