/**
 * Direct calls of MongoDB's driver. Only this folder uses `Model.collection`; all other reads and writes use mongoose.
 * A call belongs here if mongoose would spend time on casts that the call does not need, of rows, filters or writes, or
 * if mongoose lacks the command. The driver's TypeScript types expect an ObjectId as every id, so this file asserts the
 * types of filters and rows.
 */
import type { ClientSession, Model, mongo, QueryFilter } from 'mongoose';

type Session = ClientSession | null;
type Fields = Readonly<Record<string, 0 | 1>>;
/** Stages of an update that uses stored values. */
export type UpdatePipeline = readonly Readonly<Record<string, unknown>>[];

const driverFilter = (filter: object): mongo.Filter<mongo.BSON.Document> => filter;
const sessionOption = (session: Session): { session?: ClientSession } => (session ? { session } : {});
/** The collection of a model, typed as the driver's untyped documents. */
const collectionWithoutCasts = <T>(model: Model<T>): mongo.Collection =>
  model.collection as unknown as mongo.Collection;

interface ReadOptions {
  readonly fields?: Fields;
  /** Maximum number of rows that can match. */
  readonly maxRows: number;
  /** Skips UTF-8 validation, for large texts that this driver wrote. */
  readonly isLargeText?: boolean;
}

/** Reads rows without casts, in one batch. */
export const readRows = <T, Row = T>(
  model: Model<T>,
  filter: QueryFilter<T>,
  { fields, maxRows, isLargeText = false }: ReadOptions,
): Promise<Row[]> =>
  collectionWithoutCasts(model)
    .find(driverFilter(filter), {
      ...(fields && { projection: fields }),
      ...(isLargeText && { enableUtf8Validation: false }),
      batchSize: maxRows + 1,
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
  collectionWithoutCasts(model).findOne(driverFilter(filter), {
    projection: options.fields,
    ...(options.hint && { hint: options.hint as mongo.Hint }),
    ...sessionOption(session),
  }) as unknown as Promise<Row | null>;

/** Runs an aggregation without casts, in one batch: `maxRows` is the maximum number of result rows. */
export const aggregateRows = <T, Row>(model: Model<T>, stages: readonly object[], maxRows: number): Promise<Row[]> =>
  collectionWithoutCasts(model)
    .aggregate([...stages], { batchSize: maxRows + 1 })
    .toArray() as unknown as Promise<Row[]>;

/** Returns the distinct values of a field. Mongoose would cast the filter for each of its paths. */
export const distinctValues = <T>(model: Model<T>, field: string, filter: QueryFilter<T>): Promise<unknown[]> =>
  collectionWithoutCasts(model).distinct(field, driverFilter(filter)) as Promise<unknown[]>;

/**
 * Counts rows with the `count` command. It reads only index keys if one index range contains the rows; countDocuments
 * reads documents.
 */
export async function countRows<T>(
  model: Model<T>,
  query: QueryFilter<T>,
  options: { readonly hint?: Readonly<Record<string, unknown>>; readonly limit?: number },
): Promise<number> {
  const answer = await model.db.db?.command({ count: collectionOf(model), query, ...options });
  if (typeof answer?.['n'] !== 'number') throw new Error('MongoDB returned no count');
  return answer['n'];
}

/**
 * Updates all matching rows with a pipeline, which can use stored values and MongoDB's clock. Mongoose does not cast
 * pipelines.
 */
export async function updateByPipeline<T>(
  model: Model<T>,
  filter: QueryFilter<T>,
  pipeline: UpdatePipeline,
): Promise<void> {
  await collectionWithoutCasts(model).updateMany(driverFilter(filter), [...pipeline]);
}

/** Updates the row of an id with a pipeline in one atomic step, or creates it. @returns the row after the update */
export async function upsertByPipeline<T extends { readonly _id: unknown }>(
  model: Model<T>,
  id: T['_id'],
  pipeline: UpdatePipeline,
): Promise<T> {
  const row = await collectionWithoutCasts(model).findOneAndUpdate(driverFilter({ _id: id }), [...pipeline], {
    upsert: true,
    returnDocument: 'after',
  });
  if (row === null) throw new Error('An upsert returned no row');
  return row as unknown as T;
}

/** Inserts rows without casts. Undefined fields are not stored, as with mongoose. */
export async function insertWithoutCasts<T>(model: Model<T>, rows: readonly object[], session: Session): Promise<void> {
  const options = { ignoreUndefined: true, ...sessionOption(session) };
  const [first, ...rest] = rows;
  if (!first) return;
  // insertOne has less overhead than insertMany.
  if (rest.length === 0) await collectionWithoutCasts(model).insertOne(first, options);
  else await collectionWithoutCasts(model).insertMany([first, ...rest], { ordered: false, ...options });
}

/** Runs writes in any order. @returns the number of matched rows */
export async function bulkWrite<T>(
  model: Model<T>,
  writes: readonly mongo.AnyBulkWriteOperation[],
  session: Session,
): Promise<number> {
  const { matchedCount } = await collectionWithoutCasts(model).bulkWrite([...writes], {
    ordered: false,
    ...sessionOption(session),
  });
  return matchedCount;
}

/** Returns the name of a model's collection, for stages that name one. */
export const collectionOf = <T>(model: Model<T>): string => model.collection.name;

/**
 * Creates a model's collection and all its indexes with one command. MongoDB builds them together, in a third of the
 * time.
 */
export async function createIndexes<T>(model: Model<T>): Promise<void> {
  const indexes = model.schema.indexes();
  if (indexes.length === 0) {
    await model.createCollection();
    return;
  }
  await collectionWithoutCasts(model).createIndexes(
    indexes.map(([key, options]) => ({ ...options, key }) as mongo.IndexDescription),
  );
}
