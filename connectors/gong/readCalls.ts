/** Reads calls by their ids. Calls that are opened at the same time share their requests. */
import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { Fault } from '../../contract/failures.js';
import type { GrantClient, SourceClient } from '../accountClient.js';
import { isFault, requireList } from '../faults.js';
import { type Answer, asAnswer, asText, type Json } from '../json.js';
import type { GongAnswer, GongCall, GongCallDetails, GongRecords, GongTranscript } from './fields.js';

/** Calls per details request. */
const CALLS_PER_PAGE = 100;
/** Maximum number of calls in a batch. Their transcripts are in memory together. */
const CALLS_PER_BATCH = 20;

/** Returns null for a search without results, to which Gong answers 404. */
export async function nullIfMissing(answer: Promise<Json>): Promise<Json | null> {
  try {
    return await answer;
  } catch (error) {
    if (isFault(error, 'not_found')) return null;
    throw error;
  }
}

/** Returns all entries of a search by ids. @param name field of the answer with the entries */
async function search<T>(
  client: SourceClient,
  path: readonly string[],
  body: Readonly<Record<string, unknown>>,
  name: keyof GongAnswer,
): Promise<readonly Answer<T>[]> {
  const entries: Answer<T>[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const answer: Answer<GongAnswer> | null = await nullIfMissing(
      client.post(path, { ...body, ...(cursor ? { cursor } : {}) }),
    );
    if (answer === null) break;
    entries.push(...requireList('Gong', answer[name]).map(asAnswer<T>));
    const next = asText(asAnswer<GongRecords>(answer.records).cursor);
    cursor = next === cursor ? null : next;
  }
  return entries;
}

/** Returns the details of calls with their participants; missing calls are omitted. */
export async function detailsOf(
  client: SourceClient,
  ids: readonly string[],
): Promise<readonly Answer<GongCallDetails>[]> {
  const calls: Answer<GongCallDetails>[] = [];
  for (let from = 0; from < ids.length; from += CALLS_PER_PAGE) {
    const filter = { callIds: ids.slice(from, from + CALLS_PER_PAGE) };
    const body = { filter, contentSelector: { exposedFields: { parties: true } } };
    calls.push(...(await search<GongCallDetails>(client, ['calls', 'extensive'], body, 'calls')));
  }
  return calls;
}

/** A call with its transcript. */
export interface WholeCall {
  readonly details: Answer<GongCallDetails>;
  /** Null: Gong has none. */
  readonly transcript: Answer<GongTranscript> | null;
}

/** Reads calls with their transcripts, by id; missing calls are omitted. */
async function readTogether(client: SourceClient, ids: readonly string[]): Promise<ReadonlyMap<string, WholeCall>> {
  const details = await detailsOf(client, ids);
  if (details.length === 0) return new Map();
  const body = { filter: { callIds: ids } };
  const transcripts = await search<GongTranscript>(client, ['calls', 'transcript'], body, 'callTranscripts');
  const byId = new Map(transcripts.map((transcript) => [transcript.callId, transcript]));
  return new Map(
    details.map((call) => {
      // A search for one id returns that call only.
      const id = ids.length === 1 ? (ids[0] ?? '') : (asText(asAnswer<GongCall>(call.metaData).id) ?? '');
      return [id, { details: call, transcript: byId.get(id) ?? null }];
    }),
  );
}

interface Waiting {
  readonly id: string;
  readonly client: GrantClient;
  readonly resolve: (call: WholeCall | null) => void;
  readonly reject: (error: unknown) => void;
}

/** Collects calls that are opened while others are read. */
class Batches {
  readonly #waiting: Waiting[] = [];
  #isReading = false;

  /** Returns a call with its transcript; null if Gong does not have it. */
  read(client: GrantClient, id: string): Promise<WholeCall | null> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ id, client, resolve, reject });
      if (!this.#isReading) void this.#readAll();
    });
  }

  async #readAll(): Promise<void> {
    this.#isReading = true;
    // The other calls of the same batch of files are opened in the same turn of the event loop.
    await nextTurn();
    while (this.#waiting.length > 0) await this.#readSome(this.#waiting.splice(0, CALLS_PER_BATCH));
    this.#isReading = false;
  }

  async #readSome(batch: readonly Waiting[]): Promise<void> {
    const [first, ...others] = batch;
    if (first === undefined) return;
    try {
      const calls = await readTogether(first.client, [...new Set(batch.map(({ id }) => id))]);
      for (const { id, resolve } of batch) resolve(calls.get(id) ?? null);
    } catch (error) {
      const isCommon = isFault(error, 'rate_limited', 'access_revoked');
      if (isCommon || others.length === 0) for (const { reject } of batch) reject(error);
      // The first caller aborted, and the requests had its signal. The calls of the others are read again.
      else if (!(error instanceof Fault)) {
        first.reject(error);
        this.#waiting.unshift(...others);
      }
      // One call may be the cause: each is read alone.
      else for (const call of batch) await this.#readSome([call]);
    }
  }
}

/**
 * Returns a call with its transcript; null if Gong does not have it. The quota of 10,000 requests a day does not
 * suffice for two requests per call, so calls that are opened at the same time are read together. Calls and transcripts
 * are not cached: the cache contains only the queue that concurrent callers share.
 * https://help.gong.io/apidocs/introduction-2, https://github.com/airbytehq/airbyte/issues/78480
 */
export function readCall(client: GrantClient, id: string): Promise<WholeCall | null> {
  const { cache, credentials } = client;
  const key = `calls of ${createHash('sha256').update(credentials.accessToken).digest('base64url')}`;
  const cached = cache.get(key) as Batches | undefined;
  const batches = cached ?? new Batches();
  if (cached === undefined) cache.set(key, batches);
  return batches.read(client, id);
}
