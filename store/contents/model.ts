import { type Connection, type Model, Schema } from 'mongoose';

/** A file's content as it came, small enough for a row. */
export interface ContentDoc {
  /** fileId:generation, so that a second write is the same row. */
  _id: string;
  organizationId: number;
  userId: number;
  fileId: number;
  generation: number;
  bytes: Buffer;
}

const content: Schema<ContentDoc> = new Schema<ContentDoc>(
  {
    _id: String,
    organizationId: { type: Number, required: true },
    userId: { type: Number, required: true },
    fileId: { type: Number, required: true },
    generation: { type: Number, required: true },
    bytes: { type: Buffer, required: true },
  },
  { versionKey: false },
);
// Contents of files by generation.
content.index({ organizationId: 1, userId: 1, fileId: 1, generation: 1 });

export const contentId = (fileId: number, generation: number): string => `${fileId}:${generation}`;

export function contentModel(connection: Connection): Model<ContentDoc> {
  return connection.model<ContentDoc>('contents', content, 'contents');
}
