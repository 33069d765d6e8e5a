import { isDiskFullError, StoreFailure } from '../../contract/storeFailures.js';
import type { Blobs } from './blobs.js';

const FULL_STATUS = 507;
/** System error codes that mean "no answer", from an S3-compatible store or a network file system. */
const UNREACHABLE_CODES: ReadonlySet<unknown> = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'],
  ...['ESTALE', 'EHOSTDOWN'],
]);

/** Returns whether an error has a code of the operating system. Other errors, such as a TypeError, are bugs. */
const isSystemError = (error: { code?: unknown }): boolean =>
  typeof error.code === 'string' && /^E[A-Z]+$/.test(error.code);

/** Returns the StoreFailure for an error of a folder or bucket; returns other errors unchanged. */
export function blobFailure(error: unknown): unknown {
  if (typeof error !== 'object' || error === null || error instanceof StoreFailure) return error;
  const { code, name, $metadata } = error as {
    code?: unknown;
    name?: unknown;
    $metadata?: { httpStatusCode?: number };
  };
  const status = $metadata?.httpStatusCode;
  const fail = (kind: StoreFailure['kind']) => new StoreFailure('File storage', kind, error);
  if (status === FULL_STATUS || isDiskFullError(error)) return fail('full');
  if (UNREACHABLE_CODES.has(code) || name === 'TimeoutError') return fail('unreachable');
  if (status !== undefined || $metadata !== undefined || isSystemError({ code })) return fail('failed');
  return error;
}

async function withStoreFailures<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw blobFailure(error);
  }
}

/**
 * Returns file storage whose methods throw StoreFailure if the folder or bucket fails. These errors are rethrown
 * unchanged: those of the stream passed to `putStream`, of a stream that `stream` returned, and of `keys`.
 */
export function blobsWithStoreFailures(blobs: Blobs): Blobs {
  return {
    put: (key, bytes) => withStoreFailures(() => blobs.put(key, bytes)),
    async putStream(key, parts) {
      let sourceFailure: { error: unknown } | null = null;
      const watched = (async function* watch() {
        try {
          yield* parts;
        } catch (error) {
          sourceFailure = { error };
          throw error;
        }
      })();
      try {
        await blobs.putStream(key, watched);
      } catch (error) {
        const { error: reason } = (sourceFailure as { error: unknown } | null) ?? { error: blobFailure(error) };
        throw reason;
      }
    },
    stream: (key) => withStoreFailures(() => blobs.stream(key)),
    open: (key) => withStoreFailures(() => blobs.open(key)),
    delete: (key) => withStoreFailures(() => blobs.delete(key)),
    get: (key) => withStoreFailures(() => blobs.get(key)),
    deleteGenerations: (scope) => withStoreFailures(() => blobs.deleteGenerations(scope)),
    keysOf: (file) => withStoreFailures(() => blobs.keysOf(file)),
    countOf: (file) => withStoreFailures(() => blobs.countOf(file)),
    keys: (organizationId) => blobs.keys(organizationId),
    size: (key) => withStoreFailures(() => blobs.size(key)),
  };
}
