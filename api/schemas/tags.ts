import Joi from 'joi';

import { RESERVED_TAG_KEYS } from '../../contract/tags.js';

const scalar = [Joi.string().allow(''), Joi.number(), Joi.boolean()];

/** What a tag may be: text, number, boolean, or a list of one of these. */
export const tagValue = Joi.alternatives(...scalar, ...scalar.map((one) => Joi.array().items(one))).messages({
  'alternatives.types': 'must be a string, number, boolean or a list of one of these',
  'alternatives.match': 'must be a string, number, boolean or a list of one of these',
});

/** Keys that would mean something to MongoDB, JavaScript or the vector payloads are refused. */
const reservedKey = new RegExp(`^(\\$.*|__proto__|${RESERVED_TAG_KEYS.join('|')})$`, 's');

/** Tags of a write. */
export const tags = () =>
  Joi.object()
    .pattern(reservedKey, Joi.forbidden().messages({ 'any.unknown': 'This tag key is reserved' }))
    .pattern(Joi.string().max(256), tagValue);

/** Deepest nesting of AND and OR, as the interface has it. */
const MAX_NESTING = 3;

const condition = Joi.object({ key: Joi.string().required(), value: tagValue.required(), negate: Joi.boolean() });

function tree(depth: number): Joi.ObjectSchema {
  const member =
    depth === 1
      ? condition
      : Joi.alternatives().conditional(Joi.object().or('AND', 'OR').unknown(), {
          then: tree(depth - 1),
          otherwise: condition,
        });
  const members = Joi.array().items(member);
  return Joi.object({ AND: members, OR: members }).xor('AND', 'OR');
}

/** tags_v2: exactly one of AND and OR, holding conditions or further ANDs and ORs. */
export const tagTree = () => tree(MAX_NESTING);
