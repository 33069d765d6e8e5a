import type { Connection, Model } from 'mongoose';
import { bytes, number, type RecordOf, required, schemaOf, text } from '../database/record.js';

const CONTENT = {
  /** fileId:generation, so that a second write is the same row. */
  _id: text,
  organizationId: required(number),
  userId: required(number),
  fileId: required(number),
  generation: required(number),
  bytes: required(bytes),
};

/** A file's content as received, small enough for a row. */
export interface ContentDoc extends RecordOf<typeof CONTENT> {}

const content = schemaOf<ContentDoc>(CONTENT);
// Contents of files by generation.
content.index({ organizationId: 1, userId: 1, fileId: 1, generation: 1 });

export const contentId = (fileId: number, generation: number): string => `${fileId}:${generation}`;

export function contentModel(connection: Connection): Model<ContentDoc> {
  return connection.model<ContentDoc>('contents', content, 'contents');
}
