import Joi from 'joi';

import type { TagCondition, TagTree } from '../../contract/fileFilters.js';
import type { TagValue } from '../../contract/records.js';
import { RESERVED_TAG_KEYS } from '../../contract/tags.js';
import { typed } from './inferred.js';
import { named } from './reference.js';

const scalar = [Joi.string().allow(''), Joi.number(), Joi.boolean()];

/** Values of a tag: text, number, boolean, or a list of one of these. */
export const tagValue = named(
  'TagValue',
  Joi.alternatives(...scalar, ...scalar.map((one) => Joi.array().items(one)))
    .messages({
      'alternatives.types': 'must be a string, number, boolean or a list of one of these',
      'alternatives.match': 'must be a string, number, boolean or a list of one of these',
    })
    .description('Value of a tag: a text, a number, a boolean, or a list of one of these.'),
);

/** Rejects keys with a special meaning in MongoDB, JavaScript or the vector payloads. */
const reservedKey = new RegExp(`^(\\$.*|__proto__|${RESERVED_TAG_KEYS.join('|')})$`, 's');

const MAX_KEY = 256;
/** Maximum size of the tags of one request as JSON: they are stored on every file that it creates. */
const MAX_CHARACTERS = 65_536;

/** Tags of a request. */
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

/** The older tag filter: all of the tags must match. */
export const tagFilter = () =>
  typed<Record<string, unknown>>(
    Joi.object()
      .pattern(/^\$/, Joi.forbidden().messages({ 'any.unknown': 'A tag key does not begin with $' }))
      .pattern(Joi.string().allow(''), tagValue),
  );

/** Maximum nesting of AND and OR, as in the interface. */
const MAX_NESTING = 3;
/** Maximum number of conditions per AND or OR, to limit the size of the query. */
const MAX_CONDITIONS = 1_000;

const condition = named(
  'TagCondition',
  Joi.object({
    key: Joi.string()
      .pattern(/^(?!\$)/)
      .required()
      .description('Name of the tag. It does not begin with `$`.'),
    value: tagValue
      .required()
      .description('Value that the tag must have. A list matches any of its values, also if the tag itself is a list.'),
    negate: Joi.boolean().description('`true`: the tag must not have the value. Files without the tag match.'),
  }).description('One condition on a tag.'),
);

/** Names of trees in the reference, by the nesting that they allow. */
const TREE_NAMES: Readonly<Record<number, string>> = { 1: 'InnerTagTree', 2: 'MiddleTagTree', 3: 'TagTree' };

function tree(depth: number): Joi.ObjectSchema {
  const member =
    depth === 1
      ? condition
      : Joi.alternatives().conditional(Joi.object().or('AND', 'OR').unknown(), {
          then: tree(depth - 1),
          otherwise: condition,
        });
  const members = Joi.array().items(member).max(MAX_CONDITIONS);
  const what = depth === 1 ? 'Conditions' : 'Conditions, or further ANDs and ORs,';
  return named(
    TREE_NAMES[depth] ?? '',
    Joi.object({
      AND: members.description(`${what} that must all hold. At most 1,000; an empty list matches everything.`),
      OR: members.description(`${what} of which one must hold. At most 1,000; an empty list matches everything.`),
    })
      .xor('AND', 'OR')
      .description(
        `Conditions on tags: an object with either AND or OR, not both. ${depth === 1 ? 'It cannot be nested further.' : `It can be nested ${depth - 1} levels deeper.`}`,
      ),
  );
}

/** tags_v2: exactly one of AND and OR, with conditions or further ANDs and ORs. */
export const tagTree = () => typed<TagTree>(tree(MAX_NESTING));

/** Returns whether a tree has conditions: an AND or OR without elements has none. */
export const asksForTags = (part: TagTree | TagCondition): boolean =>
  'key' in part || ('AND' in part ? part.AND : part.OR).some(asksForTags);
