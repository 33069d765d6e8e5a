/** A request to sync a file, and the fields that identify that file. */
import type { IngestOptions } from '../../../contract/files/ingestOptions.js';
import type { TagValue } from '../../../contract/files/records.js';
import type { ContainerRunKind } from '../../../contract/runs/runKinds.js';
import type { SourceType } from '../../../contract/sources/sources.js';
import type { TypeAtSource } from '../../../contract/sources/typesAtSource.js';
import type { DataSourceDoc } from '../../models/dataSources.js';
import type { FileDoc, FileStatistics } from '../../models/files.js';
import type { Original } from '../../models/originals.js';
import type { ListedFile } from '../evaluate.js';

/** Fields that only uploaded files have. */
export interface NewUpload {
  readonly uploadId: string | null;
  /** Null for a file whose content is fetched later. */
  readonly original: Original | null;
  /** Properties that are known before the content is read. */
  readonly statistics: FileStatistics | null;
  readonly ocrProperties: Readonly<Record<string, unknown>>;
  /** In days; null: the vectors always stay in hot storage. */
  readonly hotStorageTimeToLive: number | null;
  readonly supportsColdStorage: boolean;
}

/** A file to sync, as a request or a listing describes it. */
export interface FileRequest {
  readonly source: SourceType;
  readonly externalFileId: string;
  readonly externalUrl: string | null;
  /** Name until the content provides a better one. */
  readonly name: string | null;
  /** Creation time at the source, if known. */
  readonly sourceCreatedAt?: Date | null;
  /** Version of the content in its listing; null or absent: the listing has none. */
  readonly version?: string | null;
  /** Type at the source, a value of file_types_at_source. */
  readonly typeAtSource?: TypeAtSource;
  readonly parentId: number | null;
  readonly isContainer: boolean;
  /**
   * Account of the file; absent if the file has none. If the account's tagsVersion changes while files are accepted,
   * accept the files again: a tag workflow may have ended before they existed.
   */
  readonly dataSource?: Pick<DataSourceDoc, '_id' | 'tags' | 'tagsVersion'>;
  /** For an attachment: the account of its parent. Unset: the id of `dataSource`, or null. */
  readonly accountId?: number | null;
  /** Merged into the tags of an existing file. */
  readonly tags: Readonly<Record<string, TagValue>>;
  readonly options: IngestOptions;
  readonly sourceOptions: unknown;
  /** Containers only: kind of the run that syncs the container. */
  readonly runKind?: ContainerRunKind;
  /** Fields of file_metadata that are known before anything is read. */
  readonly fileMetadata?: Readonly<Record<string, unknown>>;
  /** Content that was sent with the request; absent for fetched content. */
  readonly upload?: NewUpload;
  readonly enableAutoSync: boolean | null;
  /**
   * True for a scheduled sync: existing files keep their options and tags, and unchanged ones are not synced. Absent
   * for a request.
   */
  readonly isScheduled?: boolean;
  readonly requestId: string;
  readonly runId: number;
  /** Returns the id of the workflow that will own the file. */
  readonly workflowOf: (fileId: number) => string;
}

/** The fields that identify a file of a user. */
type Identity = Pick<FileDoc, 'source' | 'externalFileId'> & { readonly accountId?: number | null };

/** The fields of an existing record that decide how a request is accepted. */
export type KnownFile = Pick<FileDoc, '_id' | 'isContainer' | 'tags' | 'tagsRevision' | 'runId'> & ListedFile;

export const KNOWN_FIELDS = {
  ...({ isContainer: 1, tags: 1, tagsRevision: 1, runId: 1 } as const),
  ...({ syncStatus: 1, syncErrorMessage: 1, generation: 1, requestId: 1 } as const),
};

/**
 * Returns whether a request can use the existing file: a container and a page with the same external id are different
 * files.
 */
export const isSameKind = ({ isContainer }: FileRequest, existing: KnownFile | undefined): boolean =>
  existing === undefined || existing.isContainer === isContainer;

/** Returns the account in which the external id of a file is unique; null without one. */
export const accountOf = ({ dataSource, accountId = dataSource?._id ?? null }: FileRequest): number | null => accountId;

/** Returns a key that identifies a file among those of its user: two accounts may use the same external id. */
export const fileKey = ({ source, externalFileId, accountId = null }: Identity): string =>
  `${accountId ?? ''} ${source} ${externalFileId}`;

export const fileKeyOfRequest = (request: FileRequest): string =>
  fileKey({ ...request, accountId: accountOf(request) });
