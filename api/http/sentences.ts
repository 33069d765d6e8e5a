import Joi from 'joi';

import { OWN_MESSAGE } from '../schemas/messages.js';

type Context = Readonly<Record<string, unknown>>;
type Sentence = string | ((context: Context) => string);

/** Returns a limit as text: a reference to another field becomes the field's name. */
const shown = (limit: unknown): string => {
  if (Joi.isRef(limit)) return limit.path.join('.');
  return limit instanceof Date ? limit.toISOString() : String(limit);
};
const list = (values: unknown): string =>
  (Array.isArray(values) ? values : [values])
    .filter((value) => value !== null)
    .map(shown)
    .join(', ');
const bound =
  (before: string, after = '', name = 'limit'): Sentence =>
  (context) =>
    `${before} ${shown(context[name])}${after}`;
const peers =
  (before: string): Sentence =>
  ({ peers: names }) =>
    `${before} ${list(names)}`;

const notAllowed = 'This field is not allowed here. Remove it';
const noneOfTypes = 'Has none of the allowed types. Look them up in the API reference';
const wrongShape = 'Does not have the required format. Look it up in the API reference';

/**
 * Our sentence for each error that validation can raise, by Joi's error code. Joi's own messages name internals of Joi,
 * and some contain the value.
 */
export const SENTENCES: Readonly<Record<string, Sentence>> = {
  'any.required': 'Field required',
  'any.unknown': notAllowed,
  'any.invalid': 'This value is not allowed',
  'any.only': ({ valids }) => (list(valids) === '' ? 'Must be null' : `Must be one of ${list(valids)}`),
  'any.custom': 'Is not valid',
  'any.default': 'Is not valid',
  'any.failover': 'Is not valid',
  'any.ref': 'Depends on another field that is not valid',
  'alternatives.all': noneOfTypes,
  'alternatives.any': noneOfTypes,
  'alternatives.match': noneOfTypes,
  'alternatives.one': 'Has more than one of the allowed types',
  'alternatives.types': ({ types }) => `Must be one of these types: ${list(types)}`,
  'array.base': 'Must be a list',
  'array.excludes': 'This entry is not allowed',
  'array.hasKnown': 'Lacks a required entry',
  'array.hasUnknown': 'Lacks a required entry',
  'array.includes': noneOfTypes,
  'array.includesRequiredBoth': 'Lacks a required entry',
  'array.includesRequiredKnowns': 'Lacks a required entry',
  'array.includesRequiredUnknowns': 'Lacks a required entry',
  'array.length': bound('Must have exactly', ' entries'),
  'array.max': bound('Must have at most', ' entries'),
  'array.min': bound('Must have at least', ' entries'),
  'array.orderedLength': bound('Must have at most', ' entries'),
  'array.sort': 'Must be sorted',
  'array.sort.mismatching': 'Must have entries of one type',
  'array.sort.unsupported': 'Must have entries that can be sorted',
  'array.sparse': 'Must not have empty entries',
  'array.unique': 'Must not have an entry twice',
  'boolean.base': 'Must be true or false',
  'date.base': 'Must be a date and time of ISO 8601, such as 2026-01-31T12:00:00Z',
  'date.format': 'Must be a date and time of ISO 8601, such as 2026-01-31T12:00:00Z',
  'date.format.iso': 'Must be a date and time of ISO 8601, such as 2026-01-31T12:00:00Z',
  'date.format.javascript': 'Must be a number of milliseconds since 1970',
  'date.format.unix': 'Must be a number of seconds since 1970',
  'date.greater': bound('Must be after'),
  'date.less': bound('Must be before'),
  'date.max': bound('Must not be after'),
  'date.min': bound('Must not be before'),
  'number.base': 'Must be a number',
  'number.greater': bound('Must be greater than'),
  'number.infinity': 'Must be a finite number',
  'number.integer': 'Must be an integer',
  'number.less': bound('Must be less than'),
  'number.max': bound('Must be less than or equal to'),
  'number.min': bound('Must be greater than or equal to'),
  'number.multiple': bound('Must be a multiple of', '', 'multiple'),
  'number.negative': 'Must be less than 0',
  'number.port': 'Must be a port: 0 to 65535',
  'number.positive': 'Must be greater than 0',
  'number.precision': bound('Must have at most', ' decimal places'),
  'number.unsafe': 'Must be between -9007199254740991 and 9007199254740991',
  'object.and': 'A field is missing that another field requires. Look it up in the API reference',
  'object.assert': 'Is not valid',
  'object.base': 'Must be an object',
  'object.instance': 'Must be an object',
  'object.length': bound('Must have exactly', ' fields'),
  'object.max': bound('Must have at most', ' fields'),
  'object.min': bound('Must have at least', ' fields'),
  'object.missing': peers('Give one of'),
  'object.nand': 'Give only one of the fields that exclude each other',
  'object.oxor': peers('Give at most one of'),
  'object.pattern.match': 'Lacks a field with a required name',
  'object.refType': 'Is not valid',
  'object.regex': 'Is not valid',
  'object.rename.multiple': 'Give this field by one of its names only',
  'object.rename.override': 'Give this field by one of its names only',
  'object.rename.proto': 'This name is reserved',
  'object.schema': 'Is not valid',
  'object.unknown': notAllowed,
  'object.with': 'A field is missing that another field requires. Look it up in the API reference',
  'object.without': 'Give only one of the fields that exclude each other',
  'object.xor': peers('Give exactly one of'),
  'string.alphanum': 'Must have letters and digits only',
  'string.base': 'Must be a string',
  'string.base64': 'Must be base64',
  'string.creditCard': wrongShape,
  'string.dataUri': 'Must be a data URI',
  'string.domain': 'Must be a domain name',
  'string.email': 'Must be an e-mail address',
  'string.empty': 'Must not be empty',
  'string.guid': 'Must be a UUID',
  'string.hex': 'Must have hexadecimal digits only',
  'string.hexAlign': 'Must have an even number of hexadecimal digits',
  'string.hostname': 'Must be a host name',
  'string.ip': 'Must be an IP address',
  'string.ipVersion': 'Must be an IP address',
  'string.isoDate': 'Must be a date and time of ISO 8601, such as 2026-01-31T12:00:00Z',
  'string.isoDuration': 'Must be a duration of ISO 8601, such as PT1H',
  'string.length': bound('Must have exactly', ' characters'),
  'string.lowercase': 'Must be in lower case',
  'string.max': bound('Must have at most', ' characters'),
  'string.min': bound('Must have at least', ' characters'),
  'string.normalize': 'Must be normalized Unicode',
  'string.token': 'Must have letters, digits and underscores only',
  'string.pattern.base': wrongShape,
  'string.pattern.name': ({ name }) => `Must be ${String(name)}`,
  'string.pattern.invert.base': wrongShape,
  'string.pattern.invert.name': ({ name }) => `Must not be ${String(name)}`,
  'string.trim': 'Must not begin or end with white space',
  'string.uri': 'Must be a URI',
  'string.uriCustomScheme': 'Must be a URI with an allowed scheme',
  'string.uriRelativeOnly': 'Must be a relative URI',
  'string.uppercase': 'Must be in upper case',
};

/**
 * Returns the sentence for an error, without the field's name and value: the message that the schema of the field
 * defines, if there is one, else the sentence of the table. The table is not passed to Joi as messages, because Joi
 * would copy it for each field with a message of its own.
 */
export function sentenceOf({ type, message, context = {} }: Joi.ValidationErrorItem): string {
  const isOwn = type === 'custom' || message.startsWith(OWN_MESSAGE);
  const sentence = isOwn ? undefined : SENTENCES[type];
  if (sentence !== undefined) return typeof sentence === 'string' ? sentence : sentence(context);
  return message
    .slice(message.startsWith(OWN_MESSAGE) ? OWN_MESSAGE.length : 0)
    .replace(/^"[^"]*" /, '')
    .replace(/^./, (letter) => letter.toUpperCase());
}
