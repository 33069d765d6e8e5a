import type { VectorSpace } from '../../../contract/embeddingModels.js';
import type { SparseVector } from '../../../contract/sparseVectors.js';
import type { ProcessedDocument } from '../../../documents/types.js';
import type { SmallContent } from '../../../store/contents/contents.js';
import type { FinishedSync } from '../../../store/files/commands.js';
import type { StartedFile } from '../../../store/files/start.js';
import type { AttemptCost } from './attemptCost.js';
import type { TokenBound } from './tokenBound.js';

/** Told what a page links to, before anything of the page is written. */
export type LinkKeeper = (found: { readonly urls: readonly string[]; readonly endedAt: string }) => Promise<void>;

/** What a file is prepared with. */
export interface Preparation {
  /** Counts a text in before it is kept. @throws Fault where the user's limits leave no room for it */
  admit(characters: number): Promise<void>;
  readonly tokens: TokenBound;
  readonly attempt: AttemptCost;
  /** Null but where the page is one of a crawl that wants its links. */
  readonly keepLinks: LinkKeeper | null;
}

/** A file whose content is fetched, read and embedded, ready to be stored. */
export interface PreparedFile {
  readonly started: StartedFile;
  readonly finished: FinishedSync;
  /** To be written with the chunks; null when it is kept already. */
  readonly content: SmallContent | null;
  /** To be given to `closeText` once it is written, or not to be. */
  readonly document: ProcessedDocument | null;
  readonly space: VectorSpace | null;
  readonly vectors: readonly Float32Array[];
  /** Of each chunk, made when it is written; absent where no sparse vectors are wanted. */
  readonly sparseOf?: (chunkIndex: number) => SparseVector | null;
}

/** Gives back what a long text takes on disk. */
export function closeText(document: ProcessedDocument | null): void {
  if (document !== null && typeof document.text !== 'string') document.text.close();
}
