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

/** The part of a content that a file's record keeps. */
export interface Original {
  readonly id: number;
  readonly size: number;
  readonly sha256: string;
}

/** A job at a transcription service that was begun and not fetched yet. */
export interface TranscriptionJob {
  readonly service: TranscriptionService;
  readonly wishes: TranscriptionOptions;
  readonly id: string;
}

const ORIGINAL = {
  _id: number,
  organizationId: required(number),
  userId: required(number),
  /** The file it is the content of; null while it is on its way, or when it was replaced. */
  fileId: nullable(number),
  /** Small contents; null for those in file storage. */
  bytes: nullable(bytes),
  /** While it is on its way: when its receiver was last seen alive; null once it is a file's. */
  aliveAt: nullable(date),
  /** Marked for deletion: no file may use it. */
  doomed: byDefault(flag, false),
  /** Of a recording: what was made of it by transcription, and the job that makes it. */
  transcript: optional(orNull(bytes)),
  transcription: optional(orNull(json<TranscriptionJob>())),
};

/**
 * One uploaded content, unchanged. Its row is written before the first byte is stored, and it has no owner
 * until a request is accepted: after a crash the row leads to the stored bytes.
 */
export interface OriginalDoc extends RecordOf<typeof ORIGINAL> {}

const original = schemaOf<OriginalDoc>(ORIGINAL);
// Contents of files.
original.index({ organizationId: 1, userId: 1, fileId: 1 });
// sweep: uploads whose request died.
original.index({ aliveAt: 1 }, { partialFilterExpression: { aliveAt: { $type: 'date' } } });

export function originalModel(connection: Connection): Model<OriginalDoc> {
  return connection.model<OriginalDoc>('originals', original, 'originals');
}
