import Joi from 'joi';

import { callable } from './deploymentRules.js';

/** Integers that JavaScript and MongoDB both hold exactly. 5.0 is one, "5" is not. */
export const integer = () => Joi.number().integer();

/** A field marked `| null` in the interface: null means what absent means. */
export function orNull(schema: Joi.Schema, fallback?: unknown): Joi.Schema {
  // The first is what /openapi.json says; the second is what happens.
  const optional = schema.allow(null).empty(null);
  return fallback === undefined ? optional : optional.default(fallback);
}

/** @param longest characters of one at most */
export const strings = (longest = 65_536) => Joi.array().items(Joi.string().allow('').max(longest));

/** A field of an answer that may be null. */
export const nullable = (schema: Joi.Schema): Joi.Schema => schema.allow(null);
export const timestamp = () => Joi.string().isoDate();

/** Longest address that a request may name. */
const MAX_URL = 8_192;
export const address = () => Joi.string().max(MAX_URL).custom(callable).required();
/** Path prefixes, or addresses that begin with them. */
export const prefixes = () => strings(MAX_URL);
