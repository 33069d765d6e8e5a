/**
 * Private properties of a Joi schema. Joi's `describe()` returns the same content, but takes ten times as long.
 * `test/api/toJsonSchema.test.ts` compares the conversion that uses these properties with Joi's own conversion.
 */
import Joi from 'joi';

import type { ReferenceMeta } from '../schemas/reference.js';

interface Rule {
  readonly name: string;
  readonly args?: { readonly limit?: unknown; readonly regex?: RegExp };
}

interface Dependency {
  readonly rel: string;
  readonly key: { readonly key: string } | null;
  readonly peers: readonly { readonly key: string }[];
}

interface Pattern {
  readonly regex?: RegExp;
  readonly schema?: Joi.Schema;
  readonly rule: Joi.Schema;
}

interface Condition {
  readonly then?: Joi.Schema;
  readonly otherwise?: Joi.Schema;
}
interface Match extends Condition {
  readonly schema?: Joi.Schema;
  readonly switch?: readonly Condition[];
}

interface JoiInternals {
  readonly type: string;
  readonly _flags: {
    readonly only?: boolean;
    readonly presence?: 'required' | 'optional' | 'forbidden';
    readonly default?: unknown;
    readonly description?: string;
    readonly unknown?: boolean;
    readonly single?: boolean;
  };
  readonly _rules: readonly Rule[];
  readonly _valids: { readonly _values: ReadonlySet<unknown> } | null;
  readonly $_terms: {
    readonly keys?: readonly { readonly key: string; readonly schema: Joi.Schema }[] | null;
    readonly patterns?: readonly Pattern[] | null;
    readonly items?: readonly Joi.Schema[];
    readonly matches?: readonly Match[];
    readonly dependencies?: readonly Dependency[] | null;
    readonly metas?: readonly ReferenceMeta[] | null;
    readonly whens?: readonly unknown[] | null;
  };
}

/** Returns the internal state of a Joi schema. */
export const internalsOf = (schema: Joi.Schema): JoiInternals => schema as unknown as JoiInternals;

/** Returns the metadata of a schema. */
export const metaOf = (schema: Joi.Schema): ReferenceMeta =>
  Object.assign({}, ...(internalsOf(schema).$_terms.metas ?? [])) as ReferenceMeta;

/** Returns the limit of a rule; undefined if another field sets it, which JSON Schema cannot express. */
export const limitOf = ({ args }: Rule): unknown => (Joi.isRef(args?.limit) ? undefined : args?.limit);
