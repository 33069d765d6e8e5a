/** Metadata of Joi schemas for the API reference (/openapi.json): names, extensions of the contract, keywords. */
import type Joi from 'joi';

/** Metadata of a Joi schema; later entries of a schema replace earlier ones. */
export interface ReferenceMeta {
  /** Name of the schema in `components.schemas`. */
  readonly name?: string;
  /** Description that the schema had when it was named; a later one describes the property that uses it. */
  readonly ownDescription?: string | null;
  /** Whether the public contract does not have the property. */
  readonly extension?: true;
  /** Keywords of JSON Schema for rules that Joi checks in code. */
  readonly keywords?: Readonly<Record<string, unknown>>;
  /** JSON Schema of values that Joi reads as absent. */
  readonly alsoAccepts?: Readonly<Record<string, unknown>>;
  /** Whether the schema only reports an error, and accepts nothing. */
  readonly hidden?: true;
}

const withMeta = <S extends Joi.Schema>(schema: S, meta: ReferenceMeta): S => schema.meta(meta) as S;

/**
 * Gives a schema its name in the reference. Use the name that the public contract has for it. A schema that is derived
 * from a named one by `keys()`, `min()` or the like needs a name of its own.
 */
export const named = <S extends Joi.Schema>(name: string, schema: S): S =>
  withMeta(schema, { name, ownDescription: (schema.$_getFlag('description') as string | undefined) ?? null });

/** Marks a property that the public contract does not have. It needs a row in `api/extensions.ts` too. */
export const extension = <S extends Joi.Schema>(schema: S): S => withMeta(schema, { extension: true });

/** Adds keywords of JSON Schema for a rule that Joi checks in code. */
export const keywords = <S extends Joi.Schema>(schema: S, more: Readonly<Record<string, unknown>>): S =>
  withMeta(schema, { keywords: more });

/** Adds values that Joi reads as absent (`empty()`), as JSON Schema. */
export const alsoAccepting = <S extends Joi.Schema>(schema: S, values: Readonly<Record<string, unknown>>): S =>
  withMeta(schema, { alsoAccepts: values });

/** Marks an alternative that only reports an error, so that the reference omits it. */
export const hidden = <S extends Joi.Schema>(schema: S): S => withMeta(schema, { hidden: true });
