import type { VectorSpace } from '../../../contract/vectors/embeddingModels.js';
import type { SparseVector } from '../../../contract/vectors/sparseVectors.js';
import type { ProcessedDocument, SiteEvidence } from '../../../documents/types.js';
import type { SmallContent } from '../../../store/contents/contents.js';
import type { FinishedSync } from '../../../store/files/finish.js';
import type { StartedFile } from '../../../store/files/start.js';
import type { FileDoc } from '../../../store/models/files.js';
import type { OpenedContent } from '../../deps.js';
import type { AttemptCost } from './attemptCost.js';
import type { TokenBudget } from './tokenBudget.js';

/** Receives the links of a page before anything of the page is written. */
export type SaveLinks = (found: { readonly urls: readonly string[]; readonly finalUrl: string }) => Promise<void>;

/**
 * Returns the content of a page if it was fetched before the ingest of its file began, but only at the first call;
 * otherwise null.
 * @throws the Fault of that fetch
 */
export type FetchedAhead = (
  file: FileDoc,
  hasSameProcessing: boolean,
) => Promise<{ readonly opened: OpenedContent | null } | null>;

/** Inputs for the preparation of a file. */
export interface Preparation {
  /** Checks the length of a text against the user's limits before it is stored. @throws Fault if it exceeds a limit */
  admit(characters: number): Promise<void>;
  readonly tokens: TokenBudget;
  readonly attempt: AttemptCost;
  /** Collector of links; null unless the page belongs to a crawl that follows its links. */
  readonly keepLinks: SaveLinks | null;
  readonly fetchedAhead: FetchedAhead;
  /** Returns the evidence about the site of a page: the blocks that the site repeats. */
  evidenceOf(file: FileDoc): Promise<SiteEvidence | null>;
}

/** A file whose content is fetched, read and embedded, ready to be stored. */
export interface PreparedFile {
  readonly started: StartedFile;
  readonly finished: FinishedSync;
  /** Written with the chunks; null if it is already stored. */
  readonly content: SmallContent | null;
  /** The caller must pass it to `closeText`, whether or not it is written. */
  readonly document: ProcessedDocument | null;
  readonly space: VectorSpace | null;
  readonly vectors: readonly Float32Array[];
  /** Computes the sparse vector of a chunk when it is written; absent if sparse vectors are not requested. */
  readonly sparseOf?: (chunkIndex: number) => SparseVector | null;
}

/** Deletes the temporary file of a long text. */
export function closeText(document: ProcessedDocument | null): void {
  if (document !== null && typeof document.text !== 'string') document.text.close();
}
