import type Joi from 'joi';

import type { DeploymentRules } from '../schemas/deploymentRules.js';
import type { Infer } from '../schemas/inferred.js';
import { HttpError, type ValidationDetail } from './errors.js';
import { inspectBody, inspectText } from './body/inspect.js';
import { sentenceOf } from './sentences.js';
import { type FieldTree, fieldTreeOf, findUnknown, NO_FIELDS } from './unknownFields/fieldTree.js';
import type { IgnoredFields } from './unknownFields/ignoredFields.js';

/**
 * Above this number of values, only the first error of a body is reported, so that a response is not larger than its
 * request.
 */
const MANY_VALUES = 10_000;

/** Joi's error types, mapped to those of the API. */
const ERROR_TYPES: readonly [RegExp, string][] = [
  [/^any\.required$/, 'missing'],
  [/^any\.only$/, 'enum'],
  [/^number\.(base|unsafe|infinity)$/, 'int_type'],
  [/^number\.integer$/, 'int_type'],
  [/^number\.(min|greater)$/, 'greater_than_equal'],
  [/^number\.(max|less)$/, 'less_than_equal'],
  [/^string\.(base)$/, 'string_type'],
  [/^string\.(empty|min)$/, 'string_too_short'],
  [/^string\.max$/, 'string_too_long'],
  [/^boolean\.base$/, 'bool_type'],
  [/^array\.base$/, 'list_type'],
  [/^array\.max$/, 'too_long'],
  [/^array\.min$/, 'too_short'],
  [/^object\.base$/, 'dict_type'],
];

const wordOf = (type: string): string => ERROR_TYPES.find(([pattern]) => pattern.test(type))?.[1] ?? 'value_error';

/** Cached field trees of schemas, each computed at the first request that needs it. */
const trees = new WeakMap<Joi.Schema, FieldTree>();
function knownFields(schema: Joi.Schema): FieldTree {
  const fieldTree = trees.get(schema) ?? fieldTreeOf(schema) ?? { ...NO_FIELDS, isOpen: true };
  trees.set(schema, fieldTree);
  return fieldTree;
}

/**
 * Validates a part of a request. Values of a body must have the types of the schema; those of a query or header are
 * converted from text. Removes unknown fields, and fills in defaults.
 * @param ignored collects the unknown fields; absent: they are not searched
 * @throws HttpError 422 with the path of every error; if the request is strict, unknown fields are errors
 */
export function validate<S extends Joi.Schema>(
  schema: S,
  value: unknown,
  where: 'body' | 'query' | 'header',
  rules: DeploymentRules,
  ignored: IgnoredFields | null = null,
): Infer<S> {
  const abortEarly = where === 'body' && inspectBody(value) > MANY_VALUES;
  const result = schema.validate(value, {
    context: rules,
    abortEarly,
    stripUnknown: { objects: true, arrays: false },
    convert: where !== 'body',
    errors: { wrap: { label: '"' } },
  });
  const accepted: unknown = result.error ? null : result.value;
  const unknown = ignored
    ? findUnknown(knownFields(schema), value, accepted).map(({ path, knownNames }) => ({
        path: [where, ...path],
        knownNames,
      }))
    : [];
  if (!result.error) {
    inspectText(result.value, where);
    ignored?.note(unknown);
    return result.value as Infer<S>;
  }
  const details: ValidationDetail[] = result.error.details.map((detail) => ({
    loc: [where, ...detail.path],
    msg: sentenceOf(detail),
    type: wordOf(detail.type),
  }));
  if (!abortEarly) details.push(...(ignored?.errorsFor(unknown) ?? []));
  throw new HttpError(422, details);
}
