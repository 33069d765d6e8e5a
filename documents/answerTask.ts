import { Fault, type FaultKind } from '../contract/failures.js';
import { processDocument } from './processDocument.js';
import type { NeededData, RecognizeSettings } from './ocr/recognizePage.js';
import { readPageLinks } from './readPageLinks.js';
import type { PageText } from './placedText.js';
import type {
  ChunkOptions,
  DocumentLimits,
  LinkOptions,
  PageLinks,
  ParseInput,
  ProcessedDocument,
  RecognizeOptions,
} from './types.js';

/** A document, with the task to run on it. */
export type PoolDocument = { readonly input: ParseInput } & (
  | { readonly chunking: ChunkOptions; readonly links?: never; readonly recognition?: never }
  | { readonly links: LinkOptions; readonly chunking?: never; readonly recognition?: never }
  | { readonly recognition: Recognition; readonly chunking?: never; readonly links?: never }
);

/** Options and settings of the recognition of one page. */
interface Recognition extends RecognizeOptions {
  readonly settings: RecognizeSettings;
}

/** The result of a task on a document. */
export type PoolResult = ProcessedDocument | PageLinks | PageText | NeededData;

export interface PoolTask {
  readonly documents: readonly PoolDocument[];
  readonly limits: DocumentLimits;
}

/** The reply for one document. A Fault is sent as plain data, because it loses its class between threads. */
export type PoolAnswer =
  | { readonly document: PoolResult }
  | { readonly fault: { readonly kind: FaultKind; readonly message: string; readonly cause: string | null } };

/** Runs a task in a thread or process of the pool: reads each document, in order. */
export async function answerTask({ documents, limits }: PoolTask): Promise<readonly PoolAnswer[]> {
  const answers: PoolAnswer[] = [];
  for (const document of documents) {
    try {
      answers.push({ document: await answerOf(document, limits) });
    } catch (error) {
      const { kind, message, cause } = asFault(error);
      answers.push({ fault: { kind, message, cause: cause instanceof Error ? (cause.stack ?? cause.message) : null } });
    }
  }
  return answers;
}

async function answerOf({ input, chunking, links, recognition }: PoolDocument, limits: DocumentLimits) {
  if (links) return readPageLinks(input, links);
  if (chunking) return processDocument(input, chunking, limits);
  // Load OCR on demand: its libraries are large, and only some processes recognize pages.
  const { recognizePage } = await import('./ocr/recognizePage.js');
  return recognizePage(input, recognition, recognition.settings, limits);
}

/**
 * Messages of a RangeError for a stack overflow, and for a string, array, map or buffer that is too long. Others, such
 * as "Invalid count value: -1", are about a wrong value.
 */
const LIMIT_ERRORS =
  /call stack|invalid (?:string|(?:typed )?array|array buffer) length|allocation|size exceeded|larger/i;

function asFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  if (error instanceof RangeError && LIMIT_ERRORS.test(error.message)) {
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
    'The document could not be read: its content is broken, or its reader has a bug.',
    { cause: error },
  );
}
