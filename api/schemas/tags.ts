import Joi from 'joi';

import type { TagCondition, TagTree } from '../../contract/files/fileFilters.js';
import type { TagValue } from '../../contract/files/records.js';
import { RESERVED_TAG_KEYS } from '../../contract/files/tags.js';
import { boundedList } from './boundedList.js';
import { byName } from './fields.js';
import { typed } from './inferred.js';
import { withMessages } from './messages.js';
import { named } from './reference.js';

const scalar = [Joi.string().allow(''), Joi.number(), Joi.boolean()];

/** Values of a tag: text, number, boolean, or a list of one of these. */
export const tagValue = named(
  'TagValue',
  withMessages(Joi.alternatives(...scalar, ...scalar.map((schema) => Joi.array().items(schema))), {
    'alternatives.types': 'must be a string, number, boolean or a list of one of these',
    'alternatives.match': 'must be a string, number, boolean or a list of one of these',
  }).description('Value of a tag. Filters compare it as text, and a list matches if any of its members does.'),
);

/** Rejected keys: they have a special meaning in MongoDB or JavaScript, or the public contract reserves them. */
const reservedKey = new RegExp(`^(\\$.*|__proto__|${RESERVED_TAG_KEYS.join('|')})$`, 's');

const MAX_KEY = 256;
/** Maximum number of characters of a request's tags as JSON: every file that it creates stores them. */
export const MAX_TAG_CHARACTERS = 65_536;

/** Tags of a request. */
export const tags = () =>
  typed<Record<string, TagValue>>(
    named(
      'Tags',
      withMessages(
        Joi.object()
          .pattern(reservedKey, withMessages(Joi.forbidden(), { 'any.unknown': 'This tag key is reserved' }))
          .pattern(Joi.string().max(MAX_KEY), tagValue)
          .custom((value: object, helpers) =>
            JSON.stringify(value).length > MAX_TAG_CHARACTERS
              ? helpers.error('string.max', { limit: MAX_TAG_CHARACTERS })
              : value,
          ),
        { 'string.max': `Has more than ${MAX_TAG_CHARACTERS} characters` },
      ).description(
        `Tags: values by key, such as \`{"team": "sales"}\`. A key has up to ${MAX_KEY} characters and does not begin with \`$\`; all tags together have up to 65,536 characters as JSON.`,
      ),
    ),
  );

/** Tags of a record in a response. */
export const storedTags = () =>
  named(
    'StoredTags',
    byName(tagValue).description(
      'Tags of a record: a value or a list of values for each key, such as `{"team": "sales", "year": [2025, 2026]}`.',
    ),
  );

/** Returns the schema of the older tag filter: all of the tags must match. */
export const tagFilter = () =>
  typed<Record<string, unknown>>(
    Joi.object()
      .pattern(/^\$/, withMessages(Joi.forbidden(), { 'any.unknown': 'A tag key does not begin with $' }))
      .pattern(Joi.string().allow(''), tagValue),
  );

/** Maximum nesting of AND and OR, as in the public contract. */
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
      .description('Value that the tag must have, or a list of values, one of which it must have.'),
    negate: Joi.boolean().description(
      '`true`: matches files whose tag has none of these values, and files without this tag. Default: `false`.',
    ),
  }).description('Condition on one tag of a file: the tag has a value, or with `negate`, does not have it.'),
);

/** Names of trees in the OpenAPI document, by the nesting that they allow. */
const TREE_NAMES: Readonly<Record<number, string>> = { 1: 'InnerTagTree', 2: 'MiddleTagTree', 3: 'TagTree' };

function tree(depth: number): Joi.ObjectSchema {
  const member =
    depth === 1
      ? condition
      : Joi.alternatives().conditional(Joi.object().or('AND', 'OR').unknown(), {
          then: tree(depth - 1),
          otherwise: condition,
        });
  const members = boundedList(MAX_CONDITIONS).items(member);
  return named(
    TREE_NAMES[depth] ?? '',
    Joi.object({
      AND: members.description(
        'All of these conditions have to hold. At most 1,000; an empty list matches everything.',
      ),
      OR: members.description(
        'At least one of these conditions has to hold. At most 1,000; an empty list matches everything.',
      ),
    })
      .xor('AND', 'OR')
      .description(
        depth === 1
          ? 'Conditions on tags, combined with AND or OR. Each member is a single condition, without further nesting.'
          : `Conditions on tags, combined with AND or OR. Each member is a condition, or another AND or OR: ${depth} levels in all.`,
      ),
  );
}

/** Returns the schema of tags_v2: exactly one of AND and OR, with conditions or further ANDs and ORs. */
export const tagTree = () => typed<TagTree>(tree(MAX_NESTING));

/** Returns whether a tree has conditions: an AND or OR with an empty list has none. */
export const hasConditions = (part: TagTree | TagCondition): boolean =>
  'key' in part || ('AND' in part ? part.AND : part.OR).some(hasConditions);
