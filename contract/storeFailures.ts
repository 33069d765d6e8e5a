/** A store that the service needs, by its name in responses and logs. */
export type StoreName = 'MongoDB' | 'Qdrant' | 'Temporal' | 'File storage';

/**
 * `unreachable`: no response, or not in time. `failed`: the store reports an internal error. `full`: no disk space is
 * left.
 */
export type StoreFailureKind = 'unreachable' | 'failed' | 'full';

/** A store call failed for a reason in the store, not in the request. The same call can succeed later. */
export class StoreFailure extends Error {
  readonly store: StoreName;
  readonly kind: StoreFailureKind;

  /** @param cause the client library's own error */
  constructor(store: StoreName, kind: StoreFailureKind, cause: unknown) {
    super(`${store} ${SENTENCES[kind]}: ${messagesOf(cause)}`, { cause });
    this.name = 'StoreFailure';
    this.store = store;
    this.kind = kind;
  }
}

const SENTENCES: Readonly<Record<StoreFailureKind, string>> = {
  unreachable: 'does not answer',
  failed: 'reports an internal error',
  full: 'has no disk space left',
};

/** Maximum depth of nested causes. Inner errors name the address or the system's error code. */
const MAX_DEPTH = 5;

/** Yields an error and its causes, up to a limited depth. */
export function* causesOf(error: unknown): Generator<object> {
  let current = error;
  for (let depth = 0; depth < MAX_DEPTH && typeof current === 'object' && current !== null; depth += 1) {
    yield current;
    current = (current as { cause?: unknown }).cause;
  }
}

const messagesOf = (error: unknown): string => {
  const messages = [...causesOf(error)].flatMap(({ message }: { message?: unknown }) =>
    typeof message === 'string' && message !== '' ? [message] : [],
  );
  return [...new Set(messages)].join(': ') || String(error);
};

/** Returns whether an error reports a full disk. Stores pass on the operating system's message. */
export const isDiskFullError = (error: unknown): boolean =>
  /no space left on device|disk quota exceeded|ENOSPC|EDQUOT|out of disk space|disk is full/i.test(messagesOf(error));
