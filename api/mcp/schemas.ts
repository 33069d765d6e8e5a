import Joi from 'joi';

import { createSchemas } from '../openapi/toJsonSchema.js';
import type { Json } from '../openapi/types.js';
import { integer, nullable } from '../schemas/fields.js';

/** Converts a Joi schema to a JSON Schema without references, which agents need not support. */
export function jsonSchemaOf(schema: Joi.Schema, direction: 'input' | 'output'): Json & { readonly type: 'object' } {
  const schemas = createSchemas();
  const inlined = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inlined);
    if (typeof value !== 'object' || value === null) return value;
    const { $ref, ...rest } = value as Json;
    const whole = $ref === undefined ? rest : { ...schemas.resolved({ $ref }), ...rest };
    return Object.fromEntries(Object.entries(whole).map(([key, member]) => [key, inlined(member)]));
  };
  const converted = inlined(schemas.of(schema, direction)) as Json;
  return { ...converted, type: 'object' };
}

const text = () => Joi.string().allow('');

/** Returns the schema of an object in a result. All of its fields are required. */
export const record = (fields: Readonly<Record<string, Joi.Schema>>): Joi.ObjectSchema =>
  Joi.object(Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, schema.required()])));

/** Returns the schema of the text that says how to get the remaining part of a result. */
export const more = () =>
  nullable(text()).description('How to get the remaining part; null if the result is complete.');

/** Fields that describe a file in results. */
export const fileFields = {
  file_id: integer().description('Id of the file, for the other tools.'),
  uri: text().description('URI of the file as an MCP resource.'),
  name: nullable(text()).description('Name of the file.'),
  source: text().description('Where the file comes from, such as GOOGLE_DRIVE or PDF.'),
  url: nullable(text()).description(
    'Address of the file at its source, where a person can open it. Null if it has none.',
  ),
};

/** Fields that describe the state of a file in results. */
export const stateFields = {
  status: text().description(
    'READY: searchable. SYNC_ERROR: see `error`. SYNC_ABORTED: cancelled. READY_TO_SYNC: not processed. Others: ' +
      'in progress.',
  ),
  error: nullable(text()).description('Why the file failed; null if it did not.'),
};

/** Returns the schema of the maximum number of entries per page. */
export const limit = (fallback: number, max: number) =>
  integer().min(1).max(max).default(fallback).description(`Maximum number of entries, at most ${max}.`);

/** An answer of a list operation. */
export interface Listed<T> {
  readonly results: readonly T[];
  readonly count: number;
}
