import type { Connection, Model } from 'mongoose';
import { json, number, type RecordOf, required, schemaOf, text } from '../database/record.js';

const RECOGNIZED_PAGE = {
  organizationId: required(number),
  userId: required(number),
  fileId: required(number),
  /** Hash of the content and of the reading options. */
  reading: required(text),
  /** Page number, from 1. */
  number: required(number),
  /** The reader's result. */
  page: json<unknown>(),
};

/** OCR result of one page of a file. It is deleted with the file's content. */
export interface RecognizedPageDoc extends RecordOf<typeof RECOGNIZED_PAGE> {}

const recognizedPage = schemaOf<RecognizedPageDoc>(RECOGNIZED_PAGE, { keepEmpty: true });
recognizedPage.index({ organizationId: 1, userId: 1, fileId: 1, reading: 1, number: 1 }, { unique: true });

export function recognizedPageModel(connection: Connection): Model<RecognizedPageDoc> {
  return connection.model<RecognizedPageDoc>('recognizedPages', recognizedPage, 'recognized_pages');
}
