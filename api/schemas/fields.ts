import Joi from 'joi';

import { callable } from './deploymentRules.js';
import { type Infer, type Present, typed } from './inferred.js';

/** Returns the schema of integers that JavaScript and MongoDB both represent exactly. 5.0 is valid, "5" is not. */
export const integer = () => Joi.number().integer();

/** Returns the schema of an optional field of a request, in which null counts as absent. @param fallback its default */
export function orNull<S extends Joi.Schema>(schema: S): S;
export function orNull<S extends Joi.Schema>(schema: S, fallback: unknown): S & Present;
export function orNull(schema: Joi.Schema, fallback?: unknown): Joi.Schema {
  // `allow` makes /openapi.json show null as a valid value; `empty` makes Joi read null as absent.
  const optional = schema.allow(null).empty(null);
  return fallback === undefined ? optional : optional.default(fallback);
}

/** Returns the schema of a list of strings. @param longest maximum number of characters per string */
export const strings = (longest = 65_536) => Joi.array().items(Joi.string().allow('').max(longest));

/** Returns the schema of an object with any members. */
export const openObject = () => Joi.object().unknown();
/** Returns the schema of an object with any names, whose values have one schema. */
export const byName = (value: Joi.Schema) => Joi.object().pattern(Joi.string().allow(''), value);

/** Returns the schema of a field that may be null. */
export const nullable = <S extends Joi.Schema>(schema: S) => typed<Infer<S> | null>(schema.allow(null));
export const timestamp = () => Joi.string().isoDate();

/** Maximum length of a URL in a request. */
const MAX_URL = 8_192;
export const address = () => Joi.string().max(MAX_URL).custom(callable).required();
/** Returns the schema of a list of prefixes of paths or URLs. */
export const prefixes = () => strings(MAX_URL);
