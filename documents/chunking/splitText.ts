import type { Chunk, ChunkOptions } from '../types.js';
import { type Block, findBlocks } from './findBlocks.js';
import { BlockBreaks } from './findBreaks.js';
import { findCut } from './findCut.js';
import { findOverlap } from './findOverlap.js';
import { fitPrefix } from './prefix.js';
import { TokenIndex } from './tokenIndex.js';
import type { Splitting } from './splitting.js';
import { skipSpace } from './whitespace.js';

export interface SplitResult {
  readonly chunks: Chunk[];
  /** The text before each chunk; '' for none. */
  readonly prefix: string;
  /** Number of cl100k tokens of the whole text. */
  readonly numTokens: number;
}

/**
 * A token holds at most 128 bytes, and a chunk must fit a MongoDB document (16 MB). No model accepts that many tokens.
 */
const MAX_CHUNK_TOKENS = 100_000;

/**
 * Cuts a Markdown-like text into chunks of at most chunkSize cl100k tokens, including the prefix: between blocks, then
 * sentences, then words, then characters. A unit that fits a chunk is not split, headings stay with the text that
 * follows, and small blocks share a chunk. A chunk is larger only if a single character has more tokens than chunkSize.
 * @param blocks the blocks between which to cut; by default, those of the Markdown
 */
export function splitText(
  text: string,
  options: Pick<ChunkOptions, 'chunkSize' | 'chunkOverlap' | 'prefix'>,
  blocks: readonly Block[] = findBlocks(text),
): SplitResult {
  const chunkSize = Math.min(MAX_CHUNK_TOKENS, Math.max(1, Math.floor(options.chunkSize)));
  const prefix = fitPrefix(options.prefix, chunkSize);
  const budget = chunkSize - prefix.tokens;
  let index = new TokenIndex(text);
  let splitting: Splitting = {
    text,
    index,
    blocks,
    breaks: new BlockBreaks(text),
    budget,
    // At least a quarter of each chunk is new: with an overlap close to chunkSize the text would multiply by thousands.
    overlap: Math.min(Math.max(0, Math.floor(options.chunkOverlap)), Math.floor((budget * 3) / 4)),
  };
  const chunks: Chunk[] = [];
  let block = 0;
  let previous: Chunk | null = null;
  for (let from = skipSpace(text, 0); from < text.length;) {
    while ((splitting.blocks[block]?.end ?? text.length) <= from) block++;
    index = index.reaching(from, previous?.start ?? from, budget);
    if (index !== splitting.index) splitting = { ...splitting, index };
    let start: number = previous === null ? from : findOverlap(splitting, previous, from, block);
    let end = findCut(splitting, start, from, block);
    if (start < from && (end <= from || index.count(start, end) > budget)) {
      start = from;
      end = findCut(splitting, start, from, block);
    }
    previous = {
      text: prefix.text + text.slice(start, end),
      tokens: prefix.tokens + index.count(start, end),
      start,
      end,
    };
    chunks.push(previous);
    from = skipSpace(text, end);
  }
  while (index.end < text.length) index = index.reaching(index.end, index.end, budget);
  return { chunks, prefix: prefix.text, numTokens: index.total };
}
