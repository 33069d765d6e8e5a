import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

import type { NewContainers } from '../../store/files/newContainers.js';
import type { KeyUse } from '../../store/idempotency.js';
import { HttpError, invalid } from './errors.js';
import type { AuthScheme, Call, Operation } from './operation.js';
import type { ReceivedFile } from './receiveFile.js';

export const IDEMPOTENCY_HEADER = 'idempotency-key';
export const MAX_IDEMPOTENCY_KEY = 255;

/** The request's key; null where none was sent. @throws HttpError 422 for one that can't be a key */
export function idempotencyKeyOf(headers: IncomingHttpHeaders): string | null {
  const key = headers[IDEMPOTENCY_HEADER];
  if (key === undefined) return null;
  if (typeof key !== 'string' || key === '' || key.length > MAX_IDEMPOTENCY_KEY)
    throw invalid(['header', IDEMPOTENCY_HEADER], `Send 1 to ${MAX_IDEMPOTENCY_KEY} characters`, 'value_error');
  return key;
}

/** The same text for the same values, in whatever order an object's keys were sent. */
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`).join()}}`;
}

/** What is written in a transaction of ours has no room for others. */
const NO_COMPANY: NewContainers = { accept: () => Promise.resolve(false) };

/** A file is the same when it has the same name and bytes, however its sender cut the form. */
const fileFingerprint = ({ name, contentType, draft: { size, sha256 } }: ReceivedFile): unknown => ({
  name,
  contentType,
  size,
  sha256,
});

/**
 * Does what a request with an Idempotency-Key asks, once: the key, the work and the answer are written in one MongoDB
 * transaction. It joins the handler's own, and runs are handed to Temporal when it is committed.
 * @returns the answer's JSON, and whether it is that of an earlier request
 * @throws HttpError 422 when the key was used for something else, 409 while a request with the key is under way
 */
export async function answerOnce(
  { method, path, handle }: Operation,
  key: string,
  call: Call<AuthScheme, unknown>,
): Promise<{ json: string; replayed: boolean }> {
  const { caller, body, query, params, file, deps } = call;
  if (caller === null) throw new Error('An open operation can not be idempotent by key');
  const { store, dispatcher } = deps;
  const use: KeyUse = {
    organizationId: caller.organizationId,
    userId: 'userId' in caller ? caller.userId : null,
    route: `${method} ${path}`,
    key,
  };
  const fingerprint = createHash('sha256')
    .update(canonical([body, query, { ...params }, ...(file ? [fileFingerprint(file)] : [])]))
    .digest('base64');
  const earlier = await store.idempotency.find(use);
  if (earlier && earlier.fingerprint !== fingerprint)
    throw invalid(
      ['header', IDEMPOTENCY_HEADER],
      'This key was used for another request. Take a new one',
      'value_error',
    );
  if (earlier) return { json: earlier.answer, replayed: true };
  let accepted: number[] = [];
  const json = await store.transaction(async (session) => {
    accepted = [];
    if (!(await store.idempotency.claim(use, fingerprint, session)))
      throw new HttpError(409, 'A request with this Idempotency-Key is under way. Send it again in a moment.', 1);
    const answer = await handle({
      ...call,
      deps: {
        ...deps,
        store: {
          ...store,
          transaction: (work) => work(session),
          newContainers: NO_COMPANY,
        },
        dispatcher: { ...dispatcher, start: async (runId) => void accepted.push(runId) },
      },
    });
    const text = JSON.stringify(answer);
    await store.idempotency.keep(use, text, session);
    return text;
  });
  for (const runId of accepted) void dispatcher.start(runId);
  return { json, replayed: false };
}
