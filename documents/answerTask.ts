import { Fault, type FaultKind } from '../contract/failures.js';
import { processDocument } from './processDocument.js';
import type { RecognizeSettings } from './ocr/recognizePage.js';
import { readPage } from './readPage.js';
import type {
  ChunkOptions,
  DocumentLimits,
  LinkOptions,
  PageLinks,
  PageText,
  ParseInput,
  ProcessedDocument,
  RecognizeOptions,
} from './types.js';

/** Content, and what is wanted of it. */
export type PoolDocument = { readonly input: ParseInput } & (
  | { readonly chunking: ChunkOptions; readonly links?: never; readonly recognition?: never }
  | { readonly links: LinkOptions; readonly chunking?: never; readonly recognition?: never }
  | { readonly recognition: Recognition; readonly chunking?: never; readonly links?: never }
);

/** A page that is to be recognized, and with what. */
interface Recognition extends RecognizeOptions {
  readonly settings: RecognizeSettings;
}

/** What may be made of content. */
export type PoolResult = ProcessedDocument | PageLinks | PageText;

export interface PoolTask {
  readonly documents: readonly PoolDocument[];
  readonly limits: DocumentLimits;
}

/** A Fault does not survive the way between threads as what it is: it goes as data. */
export type PoolAnswer =
  | { readonly document: PoolResult }
  | { readonly fault: { readonly kind: FaultKind; readonly message: string; readonly cause: string | null } };

/** What a thread or process of the pool runs: each document to its answer, in their order. */
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
  if (links) return readPage(input, links);
  if (chunking) return processDocument(input, chunking, limits);
  // Its libraries are large: only the processes that recognize load them.
  const { recognizePage } = await import('./ocr/recognizePage.js');
  return recognizePage(input, recognition, recognition.settings, limits);
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
