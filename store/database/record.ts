import { type mongo, Schema, type SchemaOptions } from 'mongoose';

import type { StoredTag } from '../../contract/files/tags.js';

/** Definition of one path of a mongoose schema. */
interface Definition {
  readonly type: unknown;
  readonly [option: string]: unknown;
}

/** One field of a record: its mongoose definition and, at compile time only, the type of its values. */
export interface Field<T> {
  readonly definition: Definition;
  readonly valueType?: T;
}

/** A field that rows may lack. */
interface OptionalField<T> extends Field<T> {
  readonly isOptional: true;
}

/** A field for each member of `D`. */
export type FieldsOf<D> = { readonly [K in keyof D]-?: Field<D[K]> };

type OptionalNames<F> = { [K in keyof F]: F[K] extends OptionalField<unknown> ? K : never }[keyof F];
// Mapped over keys of F, so that editors show the comment of each field.
type Values<F, K extends keyof F> = { -readonly [P in K]: F[P] extends Field<infer T> ? T : never };

/** The row type of a table of fields. */
export type RecordOf<F> = Values<F, Exclude<keyof F, OptionalNames<F>>> & Partial<Values<F, OptionalNames<F>>>;

const field = <T>(definition: Definition): Field<T> => ({ definition });

type Fields = Readonly<Record<string, Field<unknown>>>;

const definitions = (fields: Fields): Record<string, Definition> =>
  Object.fromEntries(Object.entries(fields).map(([name, { definition }]) => [name, definition]));

export const number = field<number>({ type: Number });
export const text = field<string>({ type: String });
export const date = field<Date>({ type: Date });
export const flag = field<boolean>({ type: Boolean });
/** A flag that is either true or absent. */
export const trueOnly = field<true>({ type: Boolean });
export const bytes = field<Buffer>({ type: Buffer });
export const objectId = field<mongo.ObjectId>({ type: Schema.Types.ObjectId });

/** Text that mongoose does not validate: only our own code writes its values. */
export const textOf = <T extends string>(): Field<T> => field<T>({ type: String });
/** Text that mongoose validates against a list of values. */
export const oneOf = <T extends string>(values: readonly T[]): Field<T> => field<T>({ type: String, enum: values });
/** Any value: mongoose neither casts nor validates it. */
export const json = <T>(): Field<T> => field<T>({ type: Schema.Types.Mixed });
/** A list, empty in a new row. */
export const list = <T>({ definition }: Field<T>): Field<T[]> => field<T[]>({ type: [definition.type] });
/** A record within a row, without an id. `keepEmpty`: empty objects are stored, not dropped. */
export const nested = <F extends Fields>(fields: F, { keepEmpty = false } = {}): Field<RecordOf<F>> =>
  field<RecordOf<F>>({ type: new Schema(definitions(fields), { _id: false, minimize: !keepEmpty }) });

/** A tag, as an element of a list. */
export const storedTag: Field<StoredTag> = nested(
  { key: text, value: json<StoredTag['value']>() },
  { keepEmpty: true },
);

const withOptions = <T>({ definition }: Field<unknown>, options: object): Field<T> =>
  field<T>({ ...definition, ...options });

/** Makes mongoose reject a row without the field. */
export const required = <T>(of: Field<T>): Field<T> => withOptions(of, { required: true });
/** @param fallback value of a new row, or a function that returns it */
export const byDefault = <T>(of: Field<T>, fallback: NoInfer<T | (() => T)> | undefined): Field<T> =>
  withOptions(of, { default: fallback });
/** A field that is null in a new row. */
export const nullable = <T>(of: Field<T>): Field<T | null> => withOptions(of, { default: null });
/** A field that may be null and is absent from a new row. */
export const orNull = <T>({ definition }: Field<T>): Field<T | null> => field({ ...definition });
/** A field that is absent from some rows: from new ones, or from those of older versions. */
export const optional = <T>({ definition }: Field<T>): OptionalField<T> => ({ definition, isOptional: true });

/** Returns the mongoose schema of a table of fields. `keepEmpty`: empty objects are stored, not dropped. */
export function schemaOf<D>(fields: FieldsOf<D>, { keepEmpty = false } = {}): Schema<D> {
  const options: SchemaOptions = { versionKey: false, minimize: !keepEmpty };
  return new Schema(definitions(fields), options) as unknown as Schema<D>;
}
