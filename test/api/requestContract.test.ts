import { expect, test } from '@jest/globals';

import { EXTENSIONS } from '../../api/extensions.js';
import type { HttpError } from '../../api/http/errors.js';
import { validate } from '../../api/http/validate.js';
import { operations } from '../../api/routes.js';
import {
  allowsNull,
  answerOf,
  bodyOf,
  choices,
  enumOf,
  type Field,
  type Schema,
  fieldsOf,
  keysOf,
  ourDocument,
  shapesOf,
  publishedDocument,
  usualAnswerOf,
  valueAt,
  withValue,
} from '../support/contract.js';
import { everyRow } from '../support/everyRow.js';

/** Validation rules of a deployment that allows requests to any address. */
const RULES = { mayCall: () => true, redirectUriSchemes: [] };

/** Fields that accept null as an extension of the contract, listed in api/extensions.ts. */
const NULL_EXTENSIONS = Object.keys(EXTENSIONS.fields).flatMap((text) => /^(\S+) null$/.exec(text)?.[1] ?? []);

const withBody = operations.filter(({ method, path }) => bodyOf(publishedDocument, method, path) !== undefined);
/** Returns fields by path. Fields of several shapes with the same path are merged. */
function byPath(fields: readonly Field[]): Map<string, Field> {
  const fieldsByPath = new Map<string, Field>();
  for (const field of fields) {
    const earlier = fieldsByPath.get(field.path);
    const schema = earlier ? { anyOf: [earlier.schema, field.schema] } : field.schema;
    fieldsByPath.set(field.path, { ...field, schema, required: field.required && (earlier?.required ?? true) });
  }
  return fieldsByPath;
}

const BOUNDS = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'pattern',
];

const boundsOf = (document: typeof ourDocument, { schema }: Field) =>
  Object.fromEntries(
    choices(document, schema).flatMap((one) => Object.entries(one).filter(([word]) => BOUNDS.includes(word))),
  );

/** Returns the names of the types, without null. An enum with integers counts as integer. */
function typesOf(document: typeof ourDocument, { schema }: Field): string {
  const types = choices(document, schema).flatMap((one) =>
    one.enum?.some(Number.isInteger) ? ['integer'] : [one.type].flat(),
  );
  return [...new Set(types)]
    .filter((type) => type !== 'null')
    .map(String)
    .toSorted()
    .join();
}

/** Values for fields that the service restricts more than the contract. */
const EXAMPLES: Readonly<Record<string, Record<string, unknown>>> = {
  '/modify_user_configuration': { value: { enabled: true } },
};

/** Operations with a body: their fields in the contract and in our document. */
const rows = withBody.map((operation) => {
  const { method, path } = operation;
  const [wanted, offered] = [bodyOf(publishedDocument, method, path) ?? {}, bodyOf(ourDocument, method, path) ?? {}];
  const [contract, described] = [byPath(fieldsOf(publishedDocument, wanted)), byPath(fieldsOf(ourDocument, offered))];
  const both = [...contract.values()].flatMap((field) => {
    const own = described.get(field.path);
    return own ? [{ ...field, own }] : [];
  });
  return { method, path, operation, wanted, contract, described, both };
});
type Row = (typeof rows)[number];
const each = (rule: (row: Row) => void) => everyRow(rows, ({ method, path }) => `${method} ${path}`, rule);

test('every operation has the fields of the contract, and others only as marked extensions', () =>
  each(({ path, described, contract }) => {
    const isOfContract = (field: string): boolean => !(`${path.slice(1)}.${field}` in EXTENSIONS.requestFields);
    expect([...described.keys()].filter(isOfContract).toSorted()).toEqual([...contract.keys()].toSorted());
    for (const [field, { schema }] of described)
      expect({ field, marked: schema['x-allotrope-extension'] === true }).toEqual({
        field,
        marked: !isOfContract(field),
      });
  }));

test('every operation requires exactly the fields that the contract requires', () =>
  each(({ described, contract }) => {
    const required = (fields: Row['described']) =>
      [...fields.values()].filter((field) => field.required).map((field) => field.path);
    expect(required(described).toSorted()).toEqual(required(contract).toSorted());
  }));

test('every operation accepts null where the contract or api/extensions.ts allows it, and nowhere else', () =>
  each(({ path, both }) => {
    const nullable = both.filter(({ own }) => allowsNull(ourDocument, own.schema)).map((one) => one.path);
    const expected = both
      .filter(
        (one) => allowsNull(publishedDocument, one.schema) || NULL_EXTENSIONS.includes(`${path.slice(1)}.${one.path}`),
      )
      .map((one) => one.path);
    expect(nullable.toSorted()).toEqual(expected.toSorted());
  }));

test('every operation has the enum values of the contract, and no others than those in api/extensions.ts', () =>
  each(({ both }) => {
    const differing = both.flatMap(({ own, ...one }) => {
      const [ourValues, contractValues] = [
        enumOf(ourDocument, own.schema) ?? [],
        enumOf(publishedDocument, one.schema) ?? [],
      ];
      const added = ourValues.filter((value) => !contractValues.includes(value) && !(value in EXTENSIONS.values));
      const missing = contractValues.filter((value) => !ourValues.includes(value));
      return [
        ...added.map((value) => `${one.path}: ${value} needs a row in EXTENSIONS.values`),
        ...missing.map((value) => `${one.path}: ${value} of the contract is missing`),
      ];
    });
    expect(differing).toEqual([]);
  }));

test('every operation has the types of the contract', () =>
  each(({ both }) => {
    const differences = both
      .map(({ own, ...one }) => [one.path, typesOf(ourDocument, own), typesOf(publishedDocument, one)])
      .filter(([, own, expected]) => own !== expected);
    expect(differences).toEqual([]);
  }));

// docs/api/conventions.md describes the bounds that only our document has.
test('every operation has the bounds of the contract', () =>
  each(({ both }) => {
    for (const { own, ...one } of both)
      if (!choices(ourDocument, own.schema).some((choice) => choice.enum))
        expect({ field: one.path, ...boundsOf(ourDocument, own) }).toMatchObject({
          field: one.path,
          ...boundsOf(publishedDocument, one),
        });
  }));

test('every operation fills in the defaults of the contract for absent and null fields at any depth', () =>
  each(({ path, operation, wanted, described }) => {
    for (const shape of shapesOf(publishedDocument, wanted)) {
      const least = path in EXAMPLES ? { ...(shape.body as object), ...EXAMPLES[path] } : shape.body;
      const filled = validate(operation.body!, least, 'body', RULES);
      for (const { path: name, schema } of shape.fields) {
        // Without a value, the sources are not restricted: docs/api/integrations.md.
        if (name.endsWith('auto_synced_source_types')) continue;
        if (!('default' in schema) || valueAt(least, name) !== undefined) continue;
        // Defaults of an optional object are filled in only if it is sent, so send it empty.
        const parent = name.slice(0, Math.max(0, name.lastIndexOf('.')));
        const sent = parent === '' || valueAt(least, parent) !== undefined ? least : withValue(least, parent, {});
        const whole = sent === least ? filled : validate(operation.body!, sent, 'body', RULES);
        // An object may contain filled-in inner defaults too.
        expect({ [name]: valueAt(whole, name) }).toMatchObject({ [name]: schema.default });
        if (!allowsNull(ourDocument, described.get(name)!.schema)) continue;
        expect(validate(operation.body!, withValue(sent, name, null), 'body', RULES)).toEqual(whole);
      }
    }
  }));

test('every operation accepts null where the contract allows it, and otherwise refuses it with the path of the field', () => {
  const fields = rows.flatMap((row) =>
    shapesOf(publishedDocument, row.wanted).flatMap((shape) => shape.fields.map((field) => ({ ...row, shape, field }))),
  );
  return everyRow(
    fields,
    ({ method, path, field }) => `${method} ${path} ${field.path}`,
    ({ path, operation, shape, field }) => {
      let refused = false;
      try {
        validate(operation.body!, withValue(shape.body, field.path, null), 'body', RULES);
      } catch (error) {
        const { status, detail } = error as HttpError;
        expect(status).toBe(422);
        refused = JSON.stringify(detail).includes(JSON.stringify(['body', ...keysOf(field.path)]));
      }
      const isNullable =
        allowsNull(publishedDocument, field.schema) || NULL_EXTENSIONS.includes(`${path.slice(1)}.${field.path}`);
      expect(refused).toBe(!isNullable);
    },
  );
});

/** Operations whose answer the contract describes as an object or a list. */
const answering = operations.filter(({ method, path }) => {
  const answer = answerOf(publishedDocument, method, path);
  return answer?.properties !== undefined || answer?.items !== undefined;
});

test('every answer has the fields of the contract and of api/extensions.ts', () =>
  everyRow(
    answering,
    ({ method, path }) => `${method} ${path}`,
    ({ method, path }) => {
      const names = (document: typeof ourDocument, schema: Schema) =>
        [...byPath(fieldsOf(document, schema)).keys()].toSorted();
      const answers = `${method.toUpperCase()} ${path}.`;
      const added = Object.keys(EXTENSIONS.fields).flatMap((name) =>
        name.startsWith(answers) ? [name.slice(answers.length)] : [],
      );
      // A record may occur at any depth.
      const isOfRecord = (name: string): boolean => (name.split('.').at(-1) ?? '') in EXTENSIONS.records;
      expect(names(ourDocument, usualAnswerOf(method, path)).filter((name) => !isOfRecord(name))).toEqual(
        [...names(publishedDocument, answerOf(publishedDocument, method, path) ?? {}), ...added].toSorted(),
      );
    },
  ));
