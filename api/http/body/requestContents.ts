import type { DraftOriginal, Originals } from '../../../store/originals/originals.js';
import type { Tenant } from '../../../store/users/accept.js';

/**
 * Receives content of a request before the handler's transaction, which assigns it to a file. Large content is stored
 * while it is received, small content in the transaction. Contents that no file uses are deleted at the end of the
 * request.
 */
export type ReceiveContent = (content: Uint8Array | AsyncIterable<Uint8Array>) => Promise<DraftOriginal>;

/** Contents of one request. */
export interface RequestContents {
  readonly receive: ReceiveContent;
  /**
   * Deletes contents that no file uses because the request was rejected, failed, or repeated an earlier one. Never
   * throws: if the store is down, the reaper deletes them.
   */
  discardUnaccepted(): Promise<void>;
}

/** Returns bytes that are in memory as the stream that the store expects. */
async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}

/** Tracks the contents of a request from their arrival to its end. */
export function createRequestContents(originals: Originals, caller: Partial<Tenant> | null): RequestContents {
  const drafts: DraftOriginal[] = [];
  return {
    async receive(content) {
      const { organizationId, userId } = caller ?? {};
      if (organizationId === undefined || userId === undefined)
        throw new Error('Only requests of end users have contents');
      const draft = await originals.receive(
        { organizationId, userId },
        content instanceof Uint8Array ? once(content) : content,
      );
      drafts.push(draft);
      return draft;
    },
    async discardUnaccepted() {
      await Promise.all(drafts.map((draft) => originals.discard(draft).catch(() => undefined)));
    },
  };
}
