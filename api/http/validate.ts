import type Joi from 'joi';

import type { DeploymentRules } from '../schemas/deploymentRules.js';
import type { Infer } from '../schemas/inferred.js';
import { HttpError, type ValidationDetail } from './errors.js';
import { inspectBody, inspectText } from './inspect.js';

/** Of a body that holds more values than this only the first fault is told: an answer must not outgrow its question. */
const MANY_VALUES = 10_000;

/** Joi's word for a fault → the word that clients of this interface know. */
const TYPES: readonly [RegExp, string][] = [
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

const wordOf = (type: string): string => TYPES.find(([pattern]) => pattern.test(type))?.[1] ?? 'value_error';

/** The sentence without the field's name and never with its value. */
function sentence(detail: Joi.ValidationErrorItem): string {
  return detail.message.replace(/^"[^"]*" /, '').replace(/^./, (letter) => letter.toUpperCase());
}

/**
 * Checks a part of a request against its schema: strict about types, unknown fields stripped, defaults filled in.
 * @throws HttpError 422 with the exact path of every fault
 */
export function validate<S extends Joi.Schema>(
  schema: S,
  value: unknown,
  where: 'body' | 'query' | 'header',
  rules: DeploymentRules,
): Infer<S> {
  const result = schema.validate(value, {
    context: rules,
    abortEarly: where === 'body' && inspectBody(value) > MANY_VALUES,
    stripUnknown: { objects: true, arrays: false },
    convert: where !== 'body',
    errors: { wrap: { label: '"' } },
  });
  if (!result.error) {
    inspectText(result.value, where);
    return result.value as Infer<S>;
  }
  const details: ValidationDetail[] = result.error.details.map((detail) => ({
    loc: [where, ...detail.path],
    msg: sentence(detail),
    type: wordOf(detail.type),
  }));
  throw new HttpError(422, details);
}
