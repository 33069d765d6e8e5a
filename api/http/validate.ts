import type Joi from 'joi';

import type { DeploymentRules } from '../schemas/deploymentRules.js';
import type { Infer } from '../schemas/inferred.js';
import { HttpError, type ValidationDetail } from './errors.js';
import { inspectBody, inspectText } from './inspect.js';

/**
 * Above this number of values, only the first error of a body is reported, so that a response is not larger than its
 * request.
 */
const MANY_VALUES = 10_000;

/** Joi's error types, mapped to those of the interface. */
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

/** Returns the message without the field's name and value. */
function sentence(detail: Joi.ValidationErrorItem): string {
  return detail.message.replace(/^"[^"]*" /, '').replace(/^./, (letter) => letter.toUpperCase());
}

/**
 * Validates a part of a request: strict types, unknown fields removed, defaults filled in.
 * @throws HttpError 422 with the path of every error
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
