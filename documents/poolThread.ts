import { Fault, type FaultKind } from '../contract/failures.js';
import { processDocument } from './processDocument.js';
import { readPage } from './readPage.js';
import type { ChunkOptions, DocumentLimits, LinkOptions, PageLinks, ParseInput, ProcessedDocument } from './types.js';

/** Content, and what is wanted of it. */
export type PoolDocument = { readonly input: ParseInput } & (
  | { readonly chunking: ChunkOptions; readonly links?: never }
  | { readonly links: LinkOptions; readonly chunking?: never }
);

export interface PoolTask {
  readonly documents: readonly PoolDocument[];
  readonly limits: DocumentLimits;
  /** One number in shared memory: the time (ms since 1970) at which work began, 0 before. */
  readonly begun: Float64Array;
}

/** A Fault does not survive the way between threads as what it is: it goes as data. */
export type PoolAnswer =
  | { readonly document: ProcessedDocument | PageLinks }
  | { readonly fault: { readonly kind: FaultKind; readonly message: string; readonly cause: string | null } };

/** What a thread of the pool runs: each document to its answer, in their order. */
export function work({ documents, limits, begun }: PoolTask): readonly PoolAnswer[] {
  begun[0] = Date.now();
  return documents.map(({ input, chunking, links }) => {
    try {
      return { document: links ? readPage(input, links) : processDocument(input, chunking, limits) };
    } catch (error) {
      const { kind, message, cause } = asFault(error);
      return { fault: { kind, message, cause: cause instanceof Error ? (cause.stack ?? cause.message) : null } };
    }
  });
}

function asFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  // Stack, string length and array length are limits too.
  if (error instanceof RangeError) {
    return new Fault(
      'parse_limit',
      'The document could not be read: it is too large or too deeply nested. Split it and send the parts.',
      {
        cause: error,
      },
    );
  }
  return new Fault(
    'broken_content',
    'The document could not be read: its content is broken, or the reader has a fault.',
    { cause: error },
  );
}
