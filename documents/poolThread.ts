import type { MessagePort } from 'node:worker_threads';
import { Fault, type FaultKind } from '../contract/failures.js';
import { processDocument } from './processDocument.js';
import type { ChunkOptions, DocumentLimits, ParseInput, ProcessedDocument } from './types.js';

export interface PoolTask {
  readonly input: ParseInput;
  readonly chunking: ChunkOptions;
  readonly limits: DocumentLimits;
  /** Told when work begins: a thread's own start does not count as the document's time. */
  readonly started: MessagePort;
}

/** A Fault does not survive the way between threads as what it is: it goes as data. */
export type PoolAnswer =
  | { readonly document: ProcessedDocument }
  | { readonly fault: { readonly kind: FaultKind; readonly message: string; readonly cause: string | null } };

/** What a thread of the pool runs. */
export function work({ input, chunking, limits, started }: PoolTask): PoolAnswer {
  started.postMessage(null);
  started.close();
  try {
    return { document: processDocument(input, chunking, limits) };
  } catch (error) {
    const { kind, message, cause } = asFault(error);
    return { fault: { kind, message, cause: cause instanceof Error ? (cause.stack ?? cause.message) : null } };
  }
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
