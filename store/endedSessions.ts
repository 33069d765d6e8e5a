import type { Connection, Model } from 'mongoose';
import { date, type RecordOf, schemaOf, text } from './database/record.js';

const ENDED = {
  _id: text,
  /** Time at which MongoDB deletes the row, after every copy of the session's cookie has expired. */
  expiresAt: date,
};

interface EndedDoc extends RecordOf<typeof ENDED> {}

/** Browser sessions that were ended early. A signed session is otherwise valid until it expires. */
export interface EndedSessions {
  end(sessionId: string, expiresAt: Date): Promise<void>;
  /** Returns which of the sessions have been ended. */
  filterEnded(sessionIds: readonly string[]): Promise<string[]>;
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
    async filterEnded(sessionIds) {
      const found = await rows.find({ _id: { $in: [...sessionIds] } }).lean();
      return found.map(({ _id }) => _id);
    },
    createIndexes: () => rows.createIndexes(),
  };
}
