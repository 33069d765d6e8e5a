import { type Connection, type Model, Schema } from 'mongoose';

/** What OCR read on one page of a file; it goes with the file's content. */
export interface RecognizedPageDoc {
  organizationId: number;
  userId: number;
  fileId: number;
  /** Hash of the content and of how it was read. */
  reading: string;
  /** From 1. */
  number: number;
  /** As the reader gave it. */
  page: unknown;
}

const recognizedPage: Schema<RecognizedPageDoc> = new Schema<RecognizedPageDoc>(
  {
    organizationId: { type: Number, required: true },
    userId: { type: Number, required: true },
    fileId: { type: Number, required: true },
    reading: { type: String, required: true },
    number: { type: Number, required: true },
    page: Schema.Types.Mixed,
  },
  { versionKey: false, minimize: false },
);
recognizedPage.index({ organizationId: 1, userId: 1, fileId: 1, reading: 1, number: 1 }, { unique: true });

export function recognizedPageModel(connection: Connection): Model<RecognizedPageDoc> {
  return connection.model<RecognizedPageDoc>('recognizedPages', recognizedPage, 'recognized_pages');
}
