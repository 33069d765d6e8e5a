/** A request to sync a file, and how the file that it means is identified. */
import type { IngestOptions } from '../../../contract/files/ingestOptions.js';
import type { TagValue } from '../../../contract/files/records.js';
import type { ContainerRunKind } from '../../../contract/runs/runKinds.js';
import type { SourceType } from '../../../contract/sources/sources.js';
import type { TypeAtSource } from '../../../contract/sources/typesAtSource.js';
import type { DataSourceDoc } from '../../models/dataSources.js';
import type { FileDoc, FileStatistics } from '../../models/files.js';
import type { Original } from '../../models/originals.js';
import type { MetFile } from '../evaluate.js';

/** What only files have that were sent to us. */
export interface NewUpload {
  readonly uploadId: string | null;
  /** Null for a file that is still to be fetched. */
  readonly original: Original | null;
  /** What is known of it before it is read. */
  readonly statistics: FileStatistics | null;
  readonly ocrProperties: Readonly<Record<string, unknown>>;
  /** Days; null: its vectors are always at hand. */
  readonly hotStorageTimeToLive: number | null;
  readonly supportsColdStorage: boolean;
}

/** Facts from a request or a listing about a file that is to be synced. */
export interface FileRequest {
  readonly source: SourceType;
  readonly externalFileId: string;
  readonly externalUrl: string | null;
  /** Used until the content tells a better one. */
  readonly name: string | null;
  /** When it was made at its source, where that is known. */
  readonly sourceCreatedAt?: Date | null;
  /** What its listing calls the version of its content; null, or absent: it does not tell. */
  readonly version?: string | null;
  /** What kind of thing it is at its source, in the words of file_types_at_source. */
  readonly typeAtSource?: TypeAtSource;
  readonly parentId: number | null;
  readonly isContainer: boolean;
  /**
   * Its account; absent for none. If its tagsVersion has changed once the files are accepted, accept them
   * again: a tag workflow may have passed before they existed.
   */
  readonly dataSource?: Pick<DataSourceDoc, '_id' | 'tags' | 'tagsVersion'>;
  /** For an attachment: the account of its parent. Unset: its data source, or none. */
  readonly accountId?: number | null;
  /** Upserted into those that a known file has. */
  readonly tags: Readonly<Record<string, TagValue>>;
  readonly options: IngestOptions;
  readonly sourceOptions: unknown;
  /** Of a container: the kind of run that brings it up to date. */
  readonly runKind?: ContainerRunKind;
  /** Facts for file_metadata that are known before anything is read. */
  readonly facts?: Readonly<Record<string, unknown>>;
  /** Content that was sent with the request; absent for fetched content. */
  readonly upload?: NewUpload;
  readonly enableAutoSync: boolean | null;
  /** True for a scheduled sync: a known file is evaluated with its own options and tags. Absent: a request. */
  readonly isPass?: boolean;
  readonly requestId: string;
  readonly runId: number;
  /** The id of the workflow that will own the file, from the file's id. */
  readonly workflowOf: (fileId: number) => string;
}

/** By what a file is known. */
type Identity = Pick<FileDoc, 'source' | 'externalFileId'> & { readonly accountId?: number | null };

/** What of a known record an acceptance keeps. */
export type KnownFile = Pick<FileDoc, '_id' | 'isContainer' | 'tags' | 'tagsRevision' | 'runId'> & MetFile;

export const KNOWN_FIELDS = {
  ...({ isContainer: 1, tags: 1, tagsRevision: 1, runId: 1 } as const),
  ...({ syncStatus: 1, syncErrorMessage: 1, generation: 1, requestId: 1 } as const),
};

/** Whether a request may have the known file: a container and a page of one name are two things. */
export const isAlike = ({ isContainer }: FileRequest, known: KnownFile | undefined): boolean =>
  known === undefined || known.isContainer === isContainer;

/** Within what the external id of a file is one. */
export const accountOf = ({ dataSource, accountId = dataSource?._id ?? null }: FileRequest): number | null => accountId;

/** What tells files of one user apart; two accounts may call two things the same. */
export const nameOf = ({ source, externalFileId, accountId = null }: Identity): string =>
  `${accountId ?? ''} ${source} ${externalFileId}`;

export const nameOfRequest = (request: FileRequest): string => nameOf({ ...request, accountId: accountOf(request) });
