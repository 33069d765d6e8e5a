import type { SourceType } from '../sources/sources.js';

/** Totals of the synced files, without folders and sitemaps. */
export interface FileTotals {
  readonly files: number;
  readonly fileSize: number;
  readonly numCharacters: number;
  readonly numTokens: number;
  readonly numEmbeddings: number;
}

/** Totals of a user or an organization: of each source, and the number of files of each format. */
export interface FileStatisticsTotals {
  readonly bySource: Partial<Record<SourceType, FileTotals>>;
  readonly filesByFormat: Readonly<Record<string, number>>;
}
