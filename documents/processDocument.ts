import { splitText } from './chunking/splitText.js';
import { parseDocument } from './registry.js';
import type { ChunkOptions, DocumentLimits, ParseInput, ProcessedDocument } from './types.js';

/** Content to text and chunks in one call. Pure; may take long and hang on hostile content, hence the pool. */
export function processDocument(input: ParseInput, chunking: ChunkOptions, limits: DocumentLimits): ProcessedDocument {
  const document = parseDocument(input, limits);
  const { chunks, prefix, numTokens } = splitText(document.text, chunking);
  // Without the chunks' texts: they would cross to the caller's thread a second time.
  const cuts = chunks.map(({ start, end, tokens }) => ({ start, end, tokens }));
  return { ...document, prefix, cuts, numTokens };
}
