import type { Block } from './findBlocks.js';
import type { BlockBreaks } from './findBreaks.js';
import type { TokenIndex } from './tokenIndex.js';

/** The state that the steps of one split share. */
export interface Splitting {
  readonly text: string;
  readonly index: TokenIndex;
  readonly blocks: readonly Block[];
  readonly breaks: BlockBreaks;
  /** Maximum number of tokens of a chunk without its prefix. */
  readonly budget: number;
  /** Maximum number of tokens that two neighbours share. */
  readonly overlap: number;
}
