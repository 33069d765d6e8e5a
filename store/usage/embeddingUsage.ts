import type { Connection } from 'mongoose';
import { byDefault, type FieldsOf, number, type RecordOf, required, schemaOf, text } from '../database/record.js';

/** Usage of embedding in one vector space, for one organization. */
export interface EmbeddingCounts {
  /** Successful requests to a provider that contained texts of the organization; 0 for the built-in model. */
  readonly requests: number;
  /** Tokens that the provider billed; 0 for the built-in model. */
  readonly tokens: number;
  /** Texts that were embedded. */
  readonly computed: number;
  /** Texts whose vectors were found in the cache. */
  readonly reused: number;
}

const counter = byDefault(number, 0);
const COUNTS: FieldsOf<EmbeddingCounts> = { requests: counter, tokens: counter, computed: counter, reused: counter };

const USAGE = {
  /** organization:space. */
  _id: text,
  organizationId: required(number),
  space: required(text),
  ...COUNTS,
};

interface UsageDoc extends RecordOf<typeof USAGE> {}

const usage = schemaOf<UsageDoc>(USAGE);
usage.index({ organizationId: 1 });

/** Time in milliseconds for which counts are collected before one write. */
const WAIT_MS = 500;
const COUNTERS = ['requests', 'tokens', 'computed', 'reused'] as const;

/** Usage of embedding, per organization and vector space. A killed process loses the counts of its last half second. */
export interface EmbeddingUsages {
  /** Adds counts to the next write; never fails. */
  count(organizationId: number, space: string, counts: Partial<EmbeddingCounts>): void;
  /** Returns the counts by vector space, sorted by name. Tokens are rounded to integers. */
  get(organizationId: number): Promise<Readonly<Record<string, EmbeddingCounts>>>;
  /** Writes the collected counts. */
  flush(): Promise<void>;
  createIndexes(): Promise<void>;
}

export function createEmbeddingUsages(connection: Connection): EmbeddingUsages {
  const model = connection.model<UsageDoc>('embeddingUsage', usage, 'embedding_usage');
  let collected = new Map<string, UsageDoc>();
  let timer: NodeJS.Timeout | null = null;

  const add = (organizationId: number, space: string, counts: Partial<EmbeddingCounts>): void => {
    const _id = `${organizationId}:${space}`;
    const earlier = collected.get(_id);
    const sum = (name: (typeof COUNTERS)[number]): number => (earlier?.[name] ?? 0) + (counts[name] ?? 0);
    const sums = { requests: sum('requests'), tokens: sum('tokens'), computed: sum('computed'), reused: sum('reused') };
    collected.set(_id, { _id, organizationId, space, ...sums });
    timer ??= setTimeout(() => void flush().catch(() => undefined), WAIT_MS).unref();
  };

  const flush = async (): Promise<void> => {
    if (timer) clearTimeout(timer);
    timer = null;
    const rows = [...collected.values()];
    collected = new Map();
    if (rows.length === 0) return;
    try {
      await model.bulkWrite(
        rows.map(({ _id, organizationId, space, requests, tokens, computed, reused }) => ({
          updateOne: {
            filter: { _id },
            update: { $set: { organizationId, space }, $inc: { requests, tokens, computed, reused } },
            upsert: true,
          },
        })),
        { ordered: false },
      );
    } catch (error) {
      // The next write repeats these counts.
      for (const row of rows) add(row.organizationId, row.space, row);
      throw error;
    }
  };

  return {
    count: add,
    async get(organizationId) {
      await flush();
      const rows = await model.find({ organizationId }).sort({ space: 1 }).lean();
      return Object.fromEntries(
        rows.map(({ space, requests, tokens, computed, reused }) => [
          space,
          { requests, tokens: Math.round(tokens), computed, reused },
        ]),
      );
    },
    flush,
    async createIndexes() {
      await model.createIndexes();
    },
  };
}
