import { type Connection, type Model, Schema } from 'mongoose';

import type { TranscriptionWishes } from '../../contract/transcripts.js';
import type { TranscriptionService } from '../../contract/uploads.js';

/** The part of a content that a file's record keeps. */
export interface Original {
  readonly id: number;
  readonly size: number;
  readonly sha256: string;
}

/** A job at a transcription service that was begun and not fetched yet. */
export interface TranscriptionJob {
  readonly service: TranscriptionService;
  readonly wishes: TranscriptionWishes;
  readonly id: string;
}

/**
 * One content that somebody sent us, as it came. It is written down before its first byte is kept, and belongs to nobody
 * until a request is accepted: what dies in between is found by its row.
 */
export interface OriginalDoc {
  _id: number;
  organizationId: number;
  userId: number;
  /** The file it is the content of; null while it is on its way, or when it was replaced. */
  fileId: number | null;
  /** Small contents; null for those in file storage. */
  bytes: Buffer | null;
  /** While it is on its way: when its receiver was last seen alive; null once it is a file's. */
  aliveAt: Date | null;
  /** Somebody is about to delete it: it can no longer become a file's. */
  doomed: boolean;
  /** Of a recording: what was made of it by transcription, and the job that makes it. */
  transcript?: Buffer | null;
  transcription?: TranscriptionJob | null;
}

const original: Schema<OriginalDoc> = new Schema<OriginalDoc>(
  {
    _id: Number,
    organizationId: { type: Number, required: true },
    userId: { type: Number, required: true },
    fileId: { type: Number, default: null },
    bytes: { type: Buffer, default: null },
    aliveAt: { type: Date, default: null },
    doomed: { type: Boolean, default: false },
    transcript: Buffer,
    transcription: Schema.Types.Mixed,
  },
  { versionKey: false },
);
// Contents of files.
original.index({ organizationId: 1, userId: 1, fileId: 1 });
// sweep: uploads whose request died.
original.index({ aliveAt: 1 }, { partialFilterExpression: { aliveAt: { $type: 'date' } } });

export function originalModel(connection: Connection): Model<OriginalDoc> {
  return connection.model<OriginalDoc>('originals', original, 'originals');
}
