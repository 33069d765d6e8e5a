import { Fault, type FaultKind } from '../contract/failures.js';
import { processDocument } from './processDocument.js';
import type { ChunkOptions, DocumentLimits, ParseInput, ProcessedDocument } from './types.js';

export interface PoolTask {
  readonly input: ParseInput;
  readonly chunking: ChunkOptions;
  readonly limits: DocumentLimits;
}

/** A Fault does not survive the way between threads as what it is: it goes as data. */
export type PoolAnswer = { readonly document: ProcessedDocument } | { readonly fault: { kind: FaultKind; message: string } };

/** What a thread of the pool runs. */
export function work({ input, chunking, limits }: PoolTask): PoolAnswer {
  try {
    return { document: processDocument(input, chunking, limits) };
  } catch (error) {
    if (error instanceof Fault) return { fault: { kind: error.kind, message: error.message } };
    throw error;
  }
}
