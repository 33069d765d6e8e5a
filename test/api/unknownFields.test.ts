/** Tests of request fields that an operation does not define: they are reported, and refused in strict mode. */
import { expect, test } from '@jest/globals';
import Joi from 'joi';

import { HttpError } from '../../api/http/errors.js';
import { fieldTreeOf, findUnknown, MAX_UNKNOWN } from '../../api/http/unknownFields/fieldTree.js';
import { collectIgnored, ignoredFieldsOf, shownPaths, stringList } from '../../api/http/unknownFields/ignoredFields.js';
import { nearestName } from '../../api/http/unknownFields/nearestName.js';
import { prefersStrict } from '../../api/http/unknownFields/prefer.js';
import { validate } from '../../api/http/validate.js';
import { operations } from '../../api/routes.js';
import { bodyOf, sample, shapesOf, publishedDocument, withValue } from '../support/contract.js';

const RULES = { mayCall: () => true, redirectUriSchemes: [] };
const schema = Joi.object({
  id: Joi.string(),
  maybe: Joi.number().allow(null).empty(null),
  filter: Joi.object({ a: Joi.any() }).empty(Joi.object().length(0)),
  tags: Joi.object().pattern(Joi.string(), Joi.any()),
  free: Joi.object().unknown(),
  rows: Joi.array().items(Joi.object({ text: Joi.string().allow(''), vector: Joi.array().items(Joi.number()) })),
  either: Joi.alternatives().conditional('.kind', {
    is: 'A',
    then: Joi.object({ kind: Joi.string(), a: Joi.number() }),
    otherwise: Joi.object({ kind: Joi.string(), b: Joi.number() }),
  }),
}).rename('old_id', 'id', { ignoreUndefined: true, override: true });

/** Validates a body. Returns the response header with the unknown fields, and the fields for the log line. */
function validateBody(body: unknown, isStrict = false) {
  const headers = new Map<string, string>();
  const response = { locals: {}, setHeader: (name: string, value: string) => headers.set(name, value) } as never;
  validate(schema, body, 'body', RULES, collectIgnored(response, isStrict, '/things'));
  return { header: headers.get('allotrope-ignored-fields'), logged: ignoredFieldsOf(response) };
}
const refusalOf = (body: unknown) => {
  try {
    validateBody(body, true);
  } catch (error) {
    return error instanceof HttpError && error.status === 422 ? error.detail : error;
  }
  return null;
};

test('names unknown fields at any depth in a response header and in the log line', () => {
  const body = { more: 1, rows: [{ text: 'x' }, { txet: 'y' }], either: { kind: 'A', b: 1 } };
  const paths = ['body.more', 'body.rows[1].txet', 'body.either.b'];
  expect(validateBody(body)).toEqual({ header: paths.map((path) => `"${path}"`).join(', '), logged: paths });
});

test('does not report known fields: null, an empty object, renamed fields, arbitrary keys, vectors', () => {
  const body = {
    ...{ old_id: 'x', maybe: null, filter: {}, tags: { any: null } },
    ...{ free: { x: { y: 1 } }, rows: [{ vector: [1, 2] }] },
  };
  expect(validateBody(body)).toEqual({ header: undefined, logged: [] });
  expect(refusalOf(body)).toBeNull();
});

test('compares nested values with the validated value at the same path, even if a field name repeats', () => {
  const inner = Joi.object({ text: Joi.string() });
  const rows = Joi.array().items(Joi.object({ rows: Joi.array().items(inner) }));
  const tree = fieldTreeOf(Joi.object({ rows }))!;
  const body = { rows: [{ rows: [{ text: 'a' }] }] };
  expect(findUnknown(tree, body, body)).toEqual([]);
});

test('a strict request with unknown fields is refused, with the most similar known name', () => {
  expect(refusalOf({ rows: [{ txet: 'y' }], zzz: 1 })).toEqual([
    { loc: ['body', 'rows', 0, 'txet'], msg: 'Unknown field. Did you mean text?', type: 'extra_forbidden' },
    {
      ...{ loc: ['body', 'zzz'], type: 'extra_forbidden' },
      msg: 'Unknown field. Remove it, or check its name in the API reference',
    },
  ]);
});

test('a strict request is refused with unknown fields and other errors in one list', () => {
  expect(refusalOf({ id: 5, moer: 1 })).toMatchObject([{ loc: ['body', 'id'] }, { loc: ['body', 'moer'] }]);
});

test('limits the number and the length of reported paths', () => {
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`f${index}`, 1]));
  expect(validateBody(many).logged).toHaveLength(MAX_UNKNOWN);
  const [long = ''] = validateBody({ ['é"\r\n'.repeat(10_000)]: 1 }).logged;
  expect(long).toMatch(/^body\.%C3%A9"%0D%0A[ -~]{70,}\.\.\.$/);
  expect(long).toHaveLength(100);
  expect(stringList(['a"b\\c'])).toBe(String.raw`"a\"b\\c"`);
  expect(shownPaths([['query', '\uD800']])).toEqual(['query.%EF%BF%BD']);
});

test('parses Prefer according to RFC 7240', () => {
  const strict = [
    'handling=strict',
    'Handling = "strict"',
    'respond-async, handling=strict; x=1',
    'a="b,c",handling=strict',
  ];
  const otherPreferences = [
    undefined,
    '',
    'handling',
    'handling=lenient',
    'strict',
    'a="handling=strict"',
    'x="a, handling=strict"',
  ];
  for (const header of [...strict, ['wait=1', 'handling=strict']])
    expect([header, prefersStrict(header)]).toEqual([header, true]);
  for (const header of [...otherPreferences, 'handling=lenient, handling=strict'])
    expect([header, prefersStrict(header)]).toEqual([header, false]);
});

test('suggests the most similar field name, if any is similar enough', () => {
  const knownFields = ['max_pages_to_scrape', 'chunk_size', 'chunk_overlap', 'url', 'tags'];
  const suggestionFor = (name: string) => nearestName(name, knownFields);
  expect(['max_pages', 'chunkSize', 'chunk-sise', 'chunk_overlpa', 'tag', 'Url'].map(suggestionFor)).toEqual([
    ...['max_pages_to_scrape', 'chunk_size', 'chunk_size', 'chunk_overlap', 'tags', 'url'],
  ]);
  expect(['', 'colour', 'x'.repeat(100_000)].map(suggestionFor)).toEqual([null, null, null]);
});

test('no operation reports a field of the public contract as unknown', () => {
  let fields = 0;
  const reported = operations.flatMap(({ method, path, body }) => {
    const described = bodyOf(publishedDocument, method, path);
    const tree = body && fieldTreeOf(body);
    if (!tree || !described) return [];
    return shapesOf(publishedDocument, described).flatMap((shape) =>
      shape.fields.flatMap((field) => {
        fields += 1;
        const sent = withValue(shape.body, field.path, sample(publishedDocument, field.schema));
        return findUnknown(tree, sent, null).map((unknownField) => `${method} ${path}: ${unknownField.path.join('.')}`);
      }),
    );
  });
  expect([...new Set(reported)]).toEqual([]);
  expect(fields).toBeGreaterThan(500);
});

test('lists all unknown fields of a request in one header, except those that published clients always send', () => {
  const noted = (operation: string, ...paths: (string | number)[][]) => {
    const headers = new Map<string, string>();
    const response = { locals: {}, setHeader: (name: string, value: string) => headers.set(name, value) } as never;
    const ignored = collectIgnored(response, false, operation);
    for (const path of paths) ignored.note([{ path, knownNames: [] }]);
    return headers.get('allotrope-ignored-fields');
  };
  expect(noted('/things', ['query', 'page'], ['body', 'colour'])).toBe('"query.page", "body.colour"');
  const sent = ['body', 0, 'prepend_title_to_chunks'];
  expect([noted('/web_scrape', sent), noted('/things', sent)]).toEqual([
    undefined,
    '"body[0].prepend_title_to_chunks"',
  ]);
  // The exception is for the field of a scrape, not for a tag with the same name.
  expect(noted('/web_scrape', ['body', 0, 'tags', 'prepend_title_to_chunks'])).toBeDefined();
});

test('does not read the elements of vectors', () => {
  const tree = fieldTreeOf(schema)!;
  const vector = new Proxy([1, 2, 3], {
    get: () => {
      throw new Error('read');
    },
  });
  const body = { rows: Array.from({ length: 20_000 }, () => ({ text: '', vector })) };
  expect(findUnknown(tree, body, body)).toEqual([]);
});

test('the known fields of every operation can be read from its schemas', () => {
  for (const { body, query } of operations)
    for (const requestSchema of [body, query])
      if (requestSchema) expect(() => fieldTreeOf(requestSchema)).not.toThrow();
});
