import type { Connection, Model } from 'mongoose';
import { date, type RecordOf, schemaOf, text } from './database/record.js';

const ENDED = {
  _id: text,
  /** Forgotten after: then it would be over anyway. */
  expiresAt: date,
};

interface EndedDoc extends RecordOf<typeof ENDED> {}

/** Sessions of browsers that were ended before their time: signatures know nothing of that. */
export interface EndedSessions {
  end(sessionId: string, expiresAt: Date): Promise<void>;
  /** Which of some have been ended. */
  among(sessionIds: readonly string[]): Promise<string[]>;
  createIndexes(): Promise<void>;
}

export function createEndedSessions(connection: Connection): EndedSessions {
  const schema = schemaOf<EndedDoc>(ENDED);
  schema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });
  const rows: Model<EndedDoc> = connection.model<EndedDoc>('endedSessions', schema, 'ended_sessions');
  return {
    async end(sessionId, expiresAt) {
      await rows.updateOne({ _id: sessionId }, { $set: { expiresAt } }, { upsert: true });
    },
    async among(sessionIds) {
      const found = await rows.find({ _id: { $in: [...sessionIds] } }).lean();
      return found.map(({ _id }) => _id);
    },
    createIndexes: () => rows.createIndexes(),
  };
}
