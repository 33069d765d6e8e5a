import type { DraftOriginal, Originals } from '../../store/originals/originals.js';
import type { Tenant } from '../../store/users/accept.js';

/**
 * Stores a content that came with the request, before the handler's transaction, which then makes it a file's.
 * The mount deletes what no file has taken over by the end of the request.
 */
export type ReceiveContent = (content: Uint8Array | AsyncIterable<Uint8Array>) => Promise<DraftOriginal>;

/** The contents of one request. */
export interface RequestContents {
  readonly receive: ReceiveContent;
  /**
   * Deletes the contents that no file has taken over: the request was refused, failed or repeated an earlier one.
   * Never throws: contents of a store that is down are left to the reaper.
   */
  discardUnaccepted(): Promise<void>;
}

// oxlint-disable-next-line require-await -- the store reads an async iterable, and these bytes are already here
async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}

/** Tracks the contents of a caller's request from their arrival to its end. */
export function createRequestContents(originals: Originals, caller: Partial<Tenant> | null): RequestContents {
  const drafts: DraftOriginal[] = [];
  return {
    async receive(content) {
      const { organizationId, userId } = caller ?? {};
      if (organizationId === undefined || userId === undefined)
        throw new Error('Only a request of an end user carries contents');
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
