import type { Connection, Model } from 'mongoose';

import type { TranscriptionOptions } from '../../contract/files/transcripts.js';
import type { TranscriptionService } from '../../contract/files/uploads.js';
import {
  byDefault,
  bytes,
  date,
  flag,
  json,
  nullable,
  number,
  optional,
  orNull,
  type RecordOf,
  required,
  schemaOf,
} from '../database/record.js';

/** The part of an original that a file's record contains. */
export interface Original {
  readonly id: number;
  readonly size: number;
  readonly sha256: string;
}

/** A started job of a transcription service whose result was not fetched yet. */
export interface TranscriptionJob {
  readonly service: TranscriptionService;
  readonly options: TranscriptionOptions;
  readonly id: string;
}

const ORIGINAL = {
  _id: number,
  organizationId: required(number),
  userId: required(number),
  /** Id of the file that uses the content; null while the content is being received, and after it was replaced. */
  fileId: nullable(number),
  /** Small content; null for content in file storage. */
  bytes: nullable(bytes),
  /**
   * Time of the receiving process's last heartbeat; null while a file uses the content; 1970 once it was replaced.
   */
  aliveAt: nullable(date),
  /** Marked for deletion: no file may use it. */
  markedForDeletion: byDefault(flag, false),
  /** For a recording: the transcript, and the job that creates it. */
  transcript: optional(orNull(bytes)),
  transcription: optional(orNull(json<TranscriptionJob>())),
};

/**
 * The content of one upload, unchanged. The row is written before the first byte is stored, and has no file until a
 * request is accepted. So after a crash, the row shows which stored bytes to delete.
 */
export interface OriginalDoc extends RecordOf<typeof ORIGINAL> {}

const original = schemaOf<OriginalDoc>(ORIGINAL);
// Used to find the originals of files.
original.index({ organizationId: 1, userId: 1, fileId: 1 });
// Used by `sweep`: uploads whose request did not complete, and replaced contents.
original.index({ aliveAt: 1 }, { partialFilterExpression: { aliveAt: { $type: 'date' } } });

export function originalModel(connection: Connection): Model<OriginalDoc> {
  return connection.model<OriginalDoc>('originals', original, 'originals');
}
