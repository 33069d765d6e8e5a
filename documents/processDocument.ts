import { readFile, stat } from 'node:fs/promises';
import { Fault } from '../contract/failures.js';
import { documentBlocks } from './chunking/documentBlocks.js';
import { markTables, placeCuts } from './chunking/placeCuts.js';
import { splitText } from './chunking/splitText.js';
import { parseDocument } from './registry.js';
import { timeCuts } from './speech/timeCuts.js';
import type { ChunkOptions, Cut, DocumentLimits, ParseInput, ProcessedDocument } from './types.js';

/**
 * Converts content to text and chunks in one call. Writes nothing. May take long or hang on hostile content, so it runs
 * in a pool of threads or processes (pool.ts).
 */
export async function processDocument(
  input: ParseInput,
  chunking: ChunkOptions,
  limits: DocumentLimits,
): Promise<ProcessedDocument & { readonly text: string }> {
  const { pages, items, tables, sections, speech, ...document } = await parseDocument(
    await withBytes(input, limits),
    limits,
  );
  const places = {
    ...(pages ? { pages } : {}),
    ...(items ? { items } : {}),
    ...(tables ? { tables } : {}),
    ...(sections ? { sections } : {}),
  };
  const blocks = documentBlocks({ ...document, ...places }, chunking);
  const { chunks, prefix, numTokens } = splitText(document.text, chunking, blocks);
  // Return only positions: the texts of chunks would be sent to the caller's thread a second time.
  const cuts: Cut[] = chunks.map(({ start, end, tokens }) => ({ start, end, tokens }));
  if (speech) return { ...document, prefix, cuts: timeCuts(cuts, speech), numTokens };
  const placed = pages === undefined ? cuts : placeCuts(cuts, pages);
  return { ...document, prefix, cuts: tables === undefined ? placed : markTables(placed, tables), numTokens };
}

/**
 * Loads the content into memory if it is in a file.
 * @throws Fault too_large before reading content over the limit
 */
export async function withBytes(input: ParseInput, { maxFileBytes }: DocumentLimits): Promise<ParseInput> {
  const { path } = input;
  const size = path === undefined ? input.bytes.byteLength : (await stat(path)).size;
  if (size > maxFileBytes) {
    throw new Fault(
      'too_large',
      `The file has ${size.toLocaleString('en-US')} bytes, more than the limit (setting MAX_DOCUMENT_BYTES: ${maxFileBytes.toLocaleString('en-US')}). Split it, or raise the setting.`,
    );
  }
  return path === undefined ? input : { ...input, bytes: await readFile(path) };
}
