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
  ours,
  shapesOf,
  theirs,
  usualAnswerOf,
  valueAt,
  withValue,
} from '../support/contract.js';
import { everyRow } from '../support/everyRow.js';

/** Of a deployment that may call any address. */
const RULES = { mayCall: () => true, redirectUriSchemes: [] };

/** Fields that take null though the contract does not say so, as api/extensions.ts lists them. */
const NULL_EXTENSIONS = Object.keys(EXTENSIONS.fields).flatMap((text) => /^(\S+) null$/.exec(text)?.[1] ?? []);

const built = operations.filter(({ method, path }) => bodyOf(theirs, method, path) !== undefined);
/** Fields by path; what several shapes of one object have in common is one field. */
function byPath(fields: readonly Field[]): Map<string, Field> {
  const found = new Map<string, Field>();
  for (const field of fields) {
    const known = found.get(field.path);
    const schema = known ? { anyOf: [known.schema, field.schema] } : field.schema;
    found.set(field.path, { ...field, schema, required: field.required && (known?.required ?? true) });
  }
  return found;
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

const boundsOf = (document: typeof ours, { schema }: Field) =>
  Object.fromEntries(
    choices(document, schema).flatMap((one) => Object.entries(one).filter(([word]) => BOUNDS.includes(word))),
  );

/** In words, without null. A choice of integers is one of integers, whatever it is called. */
function typesOf(document: typeof ours, { schema }: Field): string {
  const types = choices(document, schema).flatMap((one) =>
    one.enum?.some(Number.isInteger) ? ['integer'] : [one.type].flat(),
  );
  return [...new Set(types)]
    .filter((type) => type !== 'null')
    .map(String)
    .toSorted()
    .join();
}

/** Values that the contract leaves open and the service does not. */
const EXAMPLES: Readonly<Record<string, Record<string, unknown>>> = {
  '/modify_user_configuration': { value: { enabled: true } },
};

/** An operation with a body: its fields by the contract and by us. */
const rows = built.map((operation) => {
  const { method, path } = operation;
  const [wanted, offered] = [bodyOf(theirs, method, path) ?? {}, bodyOf(ours, method, path) ?? {}];
  const [contract, mine] = [byPath(fieldsOf(theirs, wanted)), byPath(fieldsOf(ours, offered))];
  const both = [...contract.values()].flatMap((field) => {
    const own = mine.get(field.path);
    return own ? [{ ...field, own }] : [];
  });
  return { method, path, operation, wanted, contract, mine, both };
});
type Row = (typeof rows)[number];
const each = (rule: (row: Row) => void) => everyRow(rows, ({ method, path }) => `${method} ${path}`, rule);

test('every operation takes just the fields of the contract', () =>
  each(({ path, mine, contract }) => {
    const isOfContract = (field: string): boolean => !(`${path.slice(1)}.${field}` in EXTENSIONS.requestFields);
    expect([...mine.keys()].filter(isOfContract).toSorted()).toEqual([...contract.keys()].toSorted());
    for (const [field, { schema }] of mine)
      expect({ field, marked: schema['x-allotrope-extension'] === true }).toEqual({
        field,
        marked: !isOfContract(field),
      });
  }));

test('every operation requires just what the contract requires', () =>
  each(({ mine, contract }) => {
    const required = (fields: Row['mine']) => [...fields.values()].filter((one) => one.required).map((one) => one.path);
    expect(required(mine).toSorted()).toEqual(required(contract).toSorted());
  }));

test('every operation takes null just where the contract does', () =>
  each(({ path, both }) => {
    const nullable = both.filter(({ own }) => allowsNull(ours, own.schema)).map((one) => one.path);
    const expected = both
      .filter((one) => allowsNull(theirs, one.schema) || NULL_EXTENSIONS.includes(`${path.slice(1)}.${one.path}`))
      .map((one) => one.path);
    expect(nullable.toSorted()).toEqual(expected.toSorted());
  }));

test('every operation knows the values of each enum as they are written', () =>
  each(({ both }) => {
    const values = (document: typeof ours, field: Field) => [field.path, enumOf(document, field.schema)];
    expect(both.map(({ own }) => values(ours, own))).toEqual(both.map((one) => values(theirs, one)));
  }));

test('every operation takes values of the types of the contract', () =>
  each(({ both }) => {
    const differences = both
      .map(({ own, ...one }) => [one.path, typesOf(ours, own), typesOf(theirs, one)])
      .filter(([, taken, asked]) => taken !== asked);
    expect(differences).toEqual([]);
  }));

test('every operation keeps the bounds of the contract; those that only we have are in docs/api/conventions.md', () =>
  each(({ both }) => {
    for (const { own, ...one } of both)
      if (!choices(ours, own.schema).some((choice) => choice.enum))
        expect({ field: one.path, ...boundsOf(ours, own) }).toMatchObject({
          field: one.path,
          ...boundsOf(theirs, one),
        });
  }));

test('every operation fills in the defaults of the contract, for what is absent and for null, wherever the field lies', () =>
  each(({ path, operation, wanted, mine }) => {
    for (const shape of shapesOf(theirs, wanted)) {
      const least = path in EXAMPLES ? { ...(shape.body as object), ...EXAMPLES[path] } : shape.body;
      const filled = validate(operation.body!, least, 'body', RULES);
      for (const { path: name, schema } of shape.fields) {
        // Absent, it restricts nothing: docs/api/integrations.md.
        if (name.endsWith('auto_synced_source_types')) continue;
        if (!('default' in schema) || valueAt(least, name) !== undefined) continue;
        // Of an object that is not sent nothing is filled in where it may be absent: it is sent then.
        const parent = name.slice(0, Math.max(0, name.lastIndexOf('.')));
        const sent = parent === '' || valueAt(least, parent) !== undefined ? least : withValue(least, parent, {});
        const whole = sent === least ? filled : validate(operation.body!, sent, 'body', RULES);
        // Of an object, inner defaults may be filled in too.
        expect({ [name]: valueAt(whole, name) }).toMatchObject({ [name]: schema.default });
        if (!allowsNull(ours, mine.get(name)!.schema)) continue;
        expect(validate(operation.body!, withValue(sent, name, null), 'body', RULES)).toEqual(whole);
      }
    }
  }));

test('every operation takes null where the contract allows it, else refuses it by its path', () => {
  const fields = rows.flatMap((row) =>
    shapesOf(theirs, row.wanted).flatMap((shape) => shape.fields.map((field) => ({ ...row, shape, field }))),
  );
  return everyRow(
    fields,
    ({ method, path, field }) => `${method} ${path} ${field.path}`,
    ({ path, operation, shape, field }) => {
      // For another service than the body's it may hold anything.
      const { service } = shape.body as { readonly service?: string };
      if (field.path.startsWith('servicenow_credentials.') && service !== 'SERVICENOW') return;
      let refused = false;
      try {
        validate(operation.body!, withValue(shape.body, field.path, null), 'body', RULES);
      } catch (error) {
        const { status, detail } = error as HttpError;
        expect(status).toBe(422);
        refused = JSON.stringify(detail).includes(JSON.stringify(['body', ...keysOf(field.path)]));
      }
      const isNullable = allowsNull(theirs, field.schema) || NULL_EXTENSIONS.includes(`${path.slice(1)}.${field.path}`);
      expect(refused).toBe(!isNullable);
    },
  );
});

/** Answers that the contract describes: objects, and the lists of the older forms. */
const answering = operations.filter(({ method, path }) => {
  const answer = answerOf(theirs, method, path);
  return answer?.properties !== undefined || answer?.items !== undefined;
});

test('every answer has the fields of the contract, and those that api/extensions.ts adds', () =>
  everyRow(
    answering,
    ({ method, path }) => `${method} ${path}`,
    ({ method, path }) => {
      const names = (document: typeof ours, schema: Schema) =>
        [...byPath(fieldsOf(document, schema)).keys()].toSorted();
      const answers = `${method.toUpperCase()} ${path}.`;
      const added = Object.keys(EXTENSIONS.fields).flatMap((name) =>
        name.startsWith(answers) ? [name.slice(answers.length)] : [],
      );
      // Wherever a record is.
      const isOfRecord = (name: string): boolean => (name.split('.').at(-1) ?? '') in EXTENSIONS.records;
      expect(names(ours, usualAnswerOf(method, path)).filter((name) => !isOfRecord(name))).toEqual(
        [...names(theirs, answerOf(theirs, method, path) ?? {}), ...added].toSorted(),
      );
    },
  ));
