import type { Block } from './findBlocks.js';
import type { BlockBreaks } from './findBreaks.js';
import type { TokenIndex } from './tokenIndex.js';

/** What the steps of one split share. */
export interface Splitting {
  readonly text: string;
  readonly index: TokenIndex;
  readonly blocks: readonly Block[];
  readonly breaks: BlockBreaks;
  /** Tokens a chunk's own text may have. */
  readonly budget: number;
  /** Tokens two neighbours may share. */
  readonly overlap: number;
}
