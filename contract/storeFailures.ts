/** A store that the service needs, as answers and logs name it. */
export type StoreName = 'MongoDB' | 'Qdrant' | 'Temporal' | 'File storage';

/** `unreachable`: no answer, or not in time. `failed`: an answer that says it is broken. `full`: no disk space is left. */
export type StoreTrouble = 'unreachable' | 'failed' | 'full';

/** A call to a store failed for a reason in the store, not in the request: the same call can succeed later. */
export class StoreFailure extends Error {
  readonly store: StoreName;
  readonly trouble: StoreTrouble;

  /** @param cause the client library's own error */
  constructor(store: StoreName, trouble: StoreTrouble, cause: unknown) {
    super(`${store} ${SAID[trouble]}: ${messagesOf(cause)}`, { cause });
    this.name = 'StoreFailure';
    this.store = store;
    this.trouble = trouble;
  }
}

const SAID: Readonly<Record<StoreTrouble, string>> = {
  unreachable: 'does not answer',
  failed: 'reports an internal error',
  full: 'has no disk space left',
};

/** An error and its causes: deeper ones name the address or the system's own error code. */
const MAX_DEPTH = 5;

export function* causesOf(error: unknown): Generator<object> {
  let one = error;
  for (let depth = 0; depth < MAX_DEPTH && typeof one === 'object' && one !== null; depth += 1) {
    yield one;
    one = (one as { cause?: unknown }).cause;
  }
}

const messagesOf = (error: unknown): string => {
  const messages = [...causesOf(error)].flatMap(({ message }: { message?: unknown }) =>
    typeof message === 'string' && message !== '' ? [message] : [],
  );
  return [...new Set(messages)].join(': ') || String(error);
};

/** Whether an error says that a disk is full; stores pass on the system's words. */
export const saysDiskFull = (error: unknown): boolean =>
  /no space left on device|disk quota exceeded|ENOSPC|EDQUOT|out of disk space|disk is full/i.test(messagesOf(error));
