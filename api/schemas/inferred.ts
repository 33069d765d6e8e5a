/**
 * The types of validated bodies and queries, inferred from their Joi schemas, so that each shape is declared once.
 *
 * Joi has type parameters but no inference: `Joi.object<T>()` accepts any T that is written by hand, and the types that
 * methods such as `required()` and `valid()` return do not show whether a field is always present or which values it
 * allows. The overloads below add both to these types; nothing changes at runtime. A schema library with inference
 * would have changed the error messages and the OpenAPI document, which are public.
 */
import type Joi from 'joi';

declare const PRESENT: unique symbol;
declare const TYPE: unique symbol;

/** Marks the schema of a field that is always present: required, or with a default. */
export interface Present {
  readonly [PRESENT]?: true;
}
/** Marks a schema whose values have a narrower type than Joi's own. */
export interface Typed<T> {
  readonly [TYPE]?: T;
}

type IsAny<T> = 0 extends 1 & T ? true : false;

/** The type of the values that a schema accepts. */
export type Infer<S> = S extends unknown ? (typeof TYPE extends keyof S ? TypedBy<S> : OfJoi<S>) : never;
type TypedBy<S> = S extends Typed<infer T> ? Exclude<T, undefined> : never;
type OfJoi<S> = S extends Joi.AnySchema<infer T> ? (IsAny<T> extends true ? unknown : T) : never;

type PresentKeys<M> = { [K in keyof M]: typeof PRESENT extends keyof M[K] ? K : never }[keyof M];
type Flat<T> = { [K in keyof T]: T[K] };
/** The type of an object whose fields have these schemas. */
export type Shape<M> = Flat<
  { [K in PresentKeys<M>]: Infer<M[K]> } & { [K in Exclude<keyof M, PresentKeys<M>>]?: Infer<M[K]> }
>;

/** States the type of a schema that cannot be inferred, for example because its keys are computed. */
export const typed = <T>(schema: Joi.AnySchema): Joi.AnySchema & Typed<T> => schema;

/* oxlint-disable typescript/no-explicit-any -- Merged interfaces must repeat Joi's type parameters exactly. */
declare module 'joi' {
  interface AnySchema<TSchema = any> {
    required(): this & Present;
    default(value?: unknown): this & Present;
    valid<const V extends string | number | boolean | null>(...values: readonly V[]): this & Typed<V>;
  }
  interface ArraySchema<TSchema = any[]> {
    items<S extends Joi.Schema>(schema: S): ArraySchema & Typed<Infer<S>[]>;
  }
  interface Root {
    // Without type parameters, which TypeScript would infer as `any` from the place where the schema is used.
    string(): StringSchema;
    number(): NumberSchema;
    boolean(): BooleanSchema;
    date(): DateSchema;
    object<M extends Readonly<Record<string, Joi.Schema>>>(fields: M): ObjectSchema & Typed<Shape<M>>;
    alternatives<S extends readonly Joi.Schema[]>(...schemas: S): AlternativesSchema & Typed<Infer<S[number]>>;
  }
}
