import Joi from 'joi';

import type { TagCondition, TagTree } from '../../contract/fileFilters.js';
import type { TagValue } from '../../contract/records.js';
import { RESERVED_TAG_KEYS } from '../../contract/tags.js';
import { typed } from './inferred.js';

const scalar = [Joi.string().allow(''), Joi.number(), Joi.boolean()];

/** What a tag may be: text, number, boolean, or a list of one of these. */
export const tagValue = Joi.alternatives(...scalar, ...scalar.map((one) => Joi.array().items(one))).messages({
  'alternatives.types': 'must be a string, number, boolean or a list of one of these',
  'alternatives.match': 'must be a string, number, boolean or a list of one of these',
});

/** Keys that would mean something to MongoDB, JavaScript or the vector payloads are refused. */
const reservedKey = new RegExp(`^(\\$.*|__proto__|${RESERVED_TAG_KEYS.join('|')})$`, 's');

const MAX_KEY = 256;
/** Tags of one write as JSON at most: they are kept on every file that the write makes. */
const MAX_CHARACTERS = 65_536;

/** Tags of a write. */
export const tags = () =>
  typed<Record<string, TagValue>>(
    Joi.object()
      .pattern(reservedKey, Joi.forbidden().messages({ 'any.unknown': 'This tag key is reserved' }))
      .pattern(Joi.string().max(MAX_KEY), tagValue)
      .custom((value: object, helpers) =>
        JSON.stringify(value).length > MAX_CHARACTERS ? helpers.error('string.max', { limit: MAX_CHARACTERS }) : value,
      )
      .messages({ 'string.max': `Holds more than ${MAX_CHARACTERS} characters` }),
  );

/** The older filter by tags: all of them must match. */
export const tagFilter = () =>
  typed<Record<string, unknown>>(
    Joi.object()
      .pattern(/^\$/, Joi.forbidden().messages({ 'any.unknown': 'A tag key does not begin with $' }))
      .pattern(Joi.string().allow(''), tagValue),
  );

/** Deepest nesting of AND and OR, as the interface has it. */
const MAX_NESTING = 3;
/** Conditions of one AND or OR, so that a query stays a query. */
const MAX_CONDITIONS = 1_000;

const condition = Joi.object({
  key: Joi.string()
    .pattern(/^(?!\$)/)
    .required(),
  value: tagValue.required(),
  negate: Joi.boolean(),
});

function tree(depth: number): Joi.ObjectSchema {
  const member =
    depth === 1
      ? condition
      : Joi.alternatives().conditional(Joi.object().or('AND', 'OR').unknown(), {
          then: tree(depth - 1),
          otherwise: condition,
        });
  const members = Joi.array().items(member).max(MAX_CONDITIONS);
  return Joi.object({ AND: members, OR: members }).xor('AND', 'OR');
}

/** tags_v2: exactly one of AND and OR, holding conditions or further ANDs and ORs. */
export const tagTree = () => typed<TagTree>(tree(MAX_NESTING));

/** Whether a tree asks for anything: ANDs and ORs of nothing don't. */
export const asksForTags = (part: TagTree | TagCondition): boolean =>
  'key' in part || ('AND' in part ? part.AND : part.OR).some(asksForTags);
