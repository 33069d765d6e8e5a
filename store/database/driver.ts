/**
 * Calls to MongoDB's driver past mongoose. Only this folder uses `Model.collection`; all other reads and writes go
 * through mongoose. Two reasons justify a call here: mongoose would cast each row of an answer that a caller waits for, or
 * it lacks the command. The driver types every id as an ObjectId, so filters and rows are cast here and nowhere else.
 */
import type { ClientSession, Model, mongo, QueryFilter } from 'mongoose';

type Session = ClientSession | null;
type Fields = Readonly<Record<string, 0 | 1>>;
/** The stages of an update that computes with the stored row. */
export type UpdatePipeline = readonly Readonly<Record<string, unknown>>[];

const driverFilter = (filter: object): mongo.Filter<mongo.BSON.Document> => filter;
const within = (session: Session): { session?: ClientSession } => (session ? { session } : {});
/** The collection of a model, typed as the driver's untyped documents. */
const rowsOf = <T>(model: Model<T>): mongo.Collection => model.collection as unknown as mongo.Collection;

interface ReadOptions {
  readonly fields?: Fields;
  /** Number of rows that can match. */
  readonly most: number;
  /** Skips the check of UTF-8: for large texts that this driver wrote. */
  readonly isLargeText?: boolean;
}

/** Reads rows without casts, in a single answer. */
export const readRows = <T, Row = T>(
  model: Model<T>,
  filter: QueryFilter<T>,
  { fields, most, isLargeText = false }: ReadOptions,
): Promise<Row[]> =>
  rowsOf(model)
    .find(driverFilter(filter), {
      ...(fields && { projection: fields }),
      ...(isLargeText && { enableUtf8Validation: false }),
      batchSize: most + 1,
    })
    .toArray() as unknown as Promise<Row[]>;

/** Reads one row without casts. `hint`: keys of the index to use. */
export const readRow = <T, Row = T>(
  model: Model<T>,
  filter: QueryFilter<T>,
  {
    session = null,
    ...options
  }: { readonly fields: Fields; readonly hint?: Readonly<Record<string, unknown>>; readonly session?: Session },
): Promise<Row | null> =>
  rowsOf(model).findOne(driverFilter(filter), {
    projection: options.fields,
    ...(options.hint && { hint: options.hint as mongo.Hint }),
    ...within(session),
  }) as unknown as Promise<Row | null>;

/** Runs an aggregation without casts, in a single answer: `most` is the number of rows that can result. */
export const aggregateRows = <T, Row>(model: Model<T>, stages: readonly object[], most: number): Promise<Row[]> =>
  rowsOf(model)
    .aggregate([...stages], { batchSize: most + 1 })
    .toArray() as unknown as Promise<Row[]>;

/** Returns the distinct values of a field. Mongoose would cast the filter by each of its paths. */
export const distinctValues = <T>(model: Model<T>, field: string, filter: QueryFilter<T>): Promise<unknown[]> =>
  rowsOf(model).distinct(field, driverFilter(filter)) as Promise<unknown[]>;

/** Counts rows by the `count` command: it reads keys alone where one range of an index holds them; countDocuments makes rows. */
export async function countRows<T>(
  model: Model<T>,
  query: QueryFilter<T>,
  options: { readonly hint?: Readonly<Record<string, unknown>>; readonly limit?: number },
): Promise<number> {
  const answer = await model.db.db?.command({ count: collectionOf(model), query, ...options });
  if (typeof answer?.['n'] !== 'number') throw new Error('MongoDB answered no count');
  return answer['n'];
}

/** Updates all matching rows by a pipeline, which can use stored values and MongoDB's clock: mongoose casts no pipelines. */
export async function updateByPipeline<T>(
  model: Model<T>,
  filter: QueryFilter<T>,
  pipeline: UpdatePipeline,
): Promise<void> {
  await rowsOf(model).updateMany(driverFilter(filter), [...pipeline]);
}

/** Updates the row of an id by a pipeline in one atomic step, or creates it. @returns the row afterwards */
export async function upsertByPipeline<T extends { readonly _id: unknown }>(
  model: Model<T>,
  id: T['_id'],
  pipeline: UpdatePipeline,
): Promise<T> {
  const row = await rowsOf(model).findOneAndUpdate(driverFilter({ _id: id }), [...pipeline], {
    upsert: true,
    returnDocument: 'after',
  });
  if (row === null) throw new Error('An upsert answered no row');
  return row as unknown as T;
}

/** Inserts rows as they are; of undefined fields, none is stored, as with mongoose. */
export async function insertAsGiven<T>(model: Model<T>, rows: readonly object[], session: Session): Promise<void> {
  const options = { ignoreUndefined: true, ...within(session) };
  const [first, ...rest] = rows;
  if (!first) return;
  // The driver does less for one row.
  if (rest.length === 0) await rowsOf(model).insertOne(first, options);
  else await rowsOf(model).insertMany([first, ...rest], { ordered: false, ...options });
}

/** Runs writes in any order. @returns how many rows matched */
export async function bulkWrite<T>(
  model: Model<T>,
  writes: readonly mongo.AnyBulkWriteOperation[],
  session: Session,
): Promise<number> {
  const { matchedCount } = await rowsOf(model).bulkWrite([...writes], { ordered: false, ...within(session) });
  return matchedCount;
}

/** The name of a model's collection, for stages that name one. */
export const collectionOf = <T>(model: Model<T>): string => model.collection.name;

/** Creates all indexes of a model in one command: MongoDB builds them together, which takes a third of the time. */
export async function createIndexes<T>(model: Model<T>): Promise<void> {
  const indexes = model.schema.indexes();
  if (indexes.length === 0) return;
  await rowsOf(model).createIndexes(indexes.map(([key, options]) => ({ ...options, key }) as mongo.IndexDescription));
}
