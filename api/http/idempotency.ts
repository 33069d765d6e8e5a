import type { IncomingHttpHeaders } from 'node:http';

import type { KeyUse } from '../../store/idempotency.js';
import type { AppDeps } from './deps.js';
import { HttpError, invalid } from './errors.js';
import { fingerprint } from './body/fingerprint.js';
import type { AuthScheme, Call, Operation } from './operation.js';
import type { ReceivedFile } from './body/receiveFile.js';
import type { UnitOfWork } from './unitOfWork.js';

export const IDEMPOTENCY_HEADER = 'idempotency-key';
export const MAX_IDEMPOTENCY_KEY = 255;

/** Returns the request's Idempotency-Key; null if it has none. @throws HttpError 422 if the key is empty or too long */
export function idempotencyKeyOf(headers: IncomingHttpHeaders): string | null {
  const key = headers[IDEMPOTENCY_HEADER];
  if (key === undefined) return null;
  if (typeof key !== 'string' || key === '' || key.length > MAX_IDEMPOTENCY_KEY)
    throw invalid(['header', IDEMPOTENCY_HEADER], `Send 1 to ${MAX_IDEMPOTENCY_KEY} characters`, 'value_error');
  return key;
}

/** Returns the part of a form that its fingerprint covers: name, declared type, size and hash of the file. */
const fileFingerprint = ({ name, contentType, draft: { size, sha256 } }: ReceivedFile): unknown => ({
  name,
  contentType,
  size,
  sha256,
});

const fingerprintOf = ({ body, query, params, file }: Call<AuthScheme, unknown>): Promise<string> =>
  fingerprint([body, query, { ...params }, ...(file ? [fileFingerprint(file)] : [])]);

interface KeyedAnswer {
  /** Response as JSON. */
  readonly json: string;
  /** Whether it is the response of an earlier request. */
  readonly replayed: boolean;
}

/**
 * Handles a request with an Idempotency-Key once: the key, the handler's writes and the response are committed in one
 * MongoDB transaction. Runs are started after the commit.
 * @throws HttpError 422 if the key was used for another request, 409 while a request with the key is in progress
 */
export async function answerOnce(
  operation: Operation,
  key: string,
  call: Call<AuthScheme, unknown>,
  app: AppDeps,
): Promise<KeyedAnswer> {
  const { caller } = call;
  if (caller === null) throw new Error('An open operation does not accept an Idempotency-Key');
  const use: KeyUse = {
    organizationId: caller.organizationId,
    userId: 'userId' in caller ? caller.userId : null,
    route: `${operation.method} ${operation.path}`,
    key,
  };
  const requestFingerprint = await fingerprintOf(call);
  const earlier = async (): Promise<KeyedAnswer | null> => {
    const stored = await app.store.idempotency.find(use);
    if (stored && stored.fingerprint !== requestFingerprint)
      throw invalid(
        ['header', IDEMPOTENCY_HEADER],
        'This key was used for another request. Use a new one',
        'value_error',
      );
    return stored && { json: stored.answer, replayed: true };
  };
  const earlierRequest = await earlier();
  if (earlierRequest) return earlierRequest;
  try {
    return { json: await handleOnce(operation, use, requestFingerprint, call, app), replayed: false };
  } catch (error) {
    // The other request with this key may have been committed in the meantime.
    const answered = error instanceof HttpError ? await earlier() : null;
    if (answered) return answered;
    throw error;
  }
}

/** Runs the handler in a transaction that claims the key and stores the response; returns the response as JSON. */
async function handleOnce(
  { handle }: Operation,
  use: KeyUse,
  requestFingerprint: string,
  call: Call<AuthScheme, unknown>,
  { store, dispatcher }: AppDeps,
): Promise<string> {
  const starts: Parameters<UnitOfWork['start']>[] = [];
  const json = await store.transaction(async (session) => {
    starts.length = 0;
    let isClaimed = false;
    // MongoDB starts the transaction, its snapshot and its time limit with the first command. The claim therefore waits
    // for the handler's own transaction. Receiving contents, querying sources and dry runs take longer than a
    // transaction may last. A row that the handler writes beforehand would be invisible in an older snapshot.
    const claim = async (): Promise<void> => {
      if (isClaimed) return;
      if (!(await store.idempotency.claim(use, requestFingerprint, session)))
        throw new HttpError(409, 'A request with this Idempotency-Key is in progress. Send it again in a moment.', 1);
      isClaimed = true;
    };
    const unit: UnitOfWork = {
      async transaction(work) {
        await claim();
        return work(session);
      },
      // False: the caller accepts the container in this transaction, not in one that several requests share. A
      // transaction belongs to one idempotency key.
      acceptContainer: () => Promise.resolve(false),
      start: (...run) => void starts.push(run),
    };
    const answer = await handle({ ...call, deps: { ...call.deps, unit } });
    const text = JSON.stringify(answer);
    await claim();
    await store.idempotency.saveAnswer(use, text, session);
    return text;
  });
  for (const run of starts) void dispatcher.start(...run);
  return json;
}
