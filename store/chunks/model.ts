import { type Connection, type Model, Schema } from 'mongoose';

export interface ChunkDoc {
  /** fileId:generation:chunkIndex, so that a second write of the same chunk is the same row. */
  _id: string;
  organizationId: number;
  userId: number;
  fileId: number;
  generation: number;
  chunkIndex: number;
  text: string;
  /** cl100k tokens. */
  tokens: number;
  /** Where it lies in the parsed text; UTF-16 offsets. */
  start: number;
  end: number;
  metadata: Record<string, unknown>;
}

const chunk: Schema<ChunkDoc> = new Schema<ChunkDoc>(
  {
    _id: String,
    organizationId: { type: Number, required: true },
    userId: { type: Number, required: true },
    fileId: { type: Number, required: true },
    generation: { type: Number, required: true },
    chunkIndex: { type: Number, required: true },
    text: { type: String, required: true },
    tokens: { type: Number, required: true },
    start: { type: Number, required: true },
    end: { type: Number, required: true },
    metadata: { type: Schema.Types.Mixed, default: () => ({}) },
  },
  { versionKey: false, minimize: false },
);
chunk.index({ organizationId: 1, userId: 1, fileId: 1, generation: 1, chunkIndex: 1 });

export const chunkId = (fileId: number, generation: number, chunkIndex: number): string =>
  `${fileId}:${generation}:${chunkIndex}`;

export function chunkModel(connection: Connection): Model<ChunkDoc> {
  return connection.model<ChunkDoc>('chunks', chunk, 'chunks');
}
