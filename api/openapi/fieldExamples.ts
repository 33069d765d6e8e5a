/**
 * Examples of properties and parameters, taken from the recorded requests and responses that the document contains.
 * A value is an example of every field with the same name, schema and description as the field that it was recorded in.
 */
import { isDeepStrictEqual } from 'node:util';

import type { Json } from './types.js';

type Named = Readonly<Record<string, Json>>;

/** A recorded value, and the schema of its field. */
interface Recorded {
  readonly schema: Json;
  readonly value: unknown;
}
/** Recorded values by the key of their field (`keyOf`), in the order of the document. */
type Values = ReadonlyMap<string, readonly Recorded[]>;

/** Maximum number of characters of a text, or of a list as JSON. */
const MAX_CHARACTERS = 80;
const MAX_ITEMS = 4;
/** Minimum length of a string. Shorter ones are test data such as `b`, which explain nothing. */
const MIN_CHARACTERS = 3;

const REFERENCE = '#/components/schemas/';
const SCALAR_TYPES: readonly unknown[] = ['string', 'number', 'integer', 'null'];
/** A secret that the recorder replaced, a text that it shortened, or an address with a password. */
const UNSUITABLE_EXAMPLE = /^<\w+>$|…|:\/\/[^/]*@/;

const isRecord = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? (value as Json[]) : []);
const propertiesOf = (schema: Json): Named => (schema['properties'] ?? {}) as Named;

/** Returns what a reference points to, or the schema itself. */
function resolved(schema: Json, schemas: Named): Json {
  const { $ref } = schema;
  return typeof $ref === 'string' ? (schemas[$ref.slice(REFERENCE.length)] ?? schema) : schema;
}

/** Returns the alternatives of a schema, nested ones included, without those that only allow null. */
function partsOf(schema: Json, schemas: Named): readonly Json[] {
  const whole = resolved(schema, schemas);
  const choice = whole['anyOf'] ?? whole['oneOf'];
  if (choice !== undefined) return listOf(choice).flatMap((one) => partsOf(one, schemas));
  return whole['type'] === 'null' ? [] : [whole];
}

/** Returns whether a schema is a string or a number, or a list of these. Booleans and enums explain themselves. */
function isPlain(schema: Json, schemas: Named, inList = false): boolean {
  if ('$ref' in schema) return false;
  const parts = partsOf(schema, schemas);
  return (
    parts.length > 0 &&
    parts.every((part) => {
      if ('enum' in part) return false;
      if (part['type'] !== undefined && [part['type']].flat().every((type) => SCALAR_TYPES.includes(type))) return true;
      const isList = !inList && [part['type']].flat().every((type) => type === 'array' || type === 'null');
      return isList && isRecord(part['items']) && isPlain(part['items'], schemas, true);
    })
  );
}

/** Returns whether a value is short and has content. 0 contains no more information than the type. */
function isUseful(value: unknown, inList = false): boolean {
  if (typeof value === 'number') return value !== 0;
  if (typeof value === 'string')
    return value.length >= MIN_CHARACTERS && value.length <= MAX_CHARACTERS && !UNSUITABLE_EXAMPLE.test(value);
  if (inList || !Array.isArray(value) || value.length === 0 || value.length > MAX_ITEMS) return false;
  return value.every((element) => isUseful(element, true)) && JSON.stringify(value).length <= MAX_CHARACTERS;
}

/**
 * Returns whether a value has one of the types of a schema. An object can fit several alternatives in which the same
 * property has different types.
 */
function isOfType(schema: Json, value: unknown, schemas: Named): boolean {
  const type = Array.isArray(value) ? 'array' : typeof value;
  return partsOf(schema, schemas).some((part) =>
    [part['type']]
      .flat()
      .some((allowedType) => allowedType === type || (allowedType === 'integer' && Number.isInteger(value))),
  );
}

const keyOf = (name: string, { description }: Json): string => `${name} ${String(description)}`;
const isSame = (a: Json, b: Json): boolean => a === b || isDeepStrictEqual(a, b);

/**
 * Returns whether an object fits a schema: it has all required keys, no forbidden key, and an allowed value for each
 * enum. Of several alternatives, the enums usually leave only one.
 */
function isMadeBy(schema: Json, value: Json, schemas: Named): boolean {
  const properties = propertiesOf(schema);
  if (listOf(schema['required']).some((key) => typeof key === 'string' && !(key in value))) return false;
  if (schema['additionalProperties'] === false && Object.keys(value).some((key) => !(key in properties))) return false;
  return Object.entries(properties).every(([key, property]) => {
    const allowed = resolved(property, schemas)['enum'];
    return !(key in value) || !Array.isArray(allowed) || allowed.includes(value[key]);
  });
}

/** The operation's parts that are read here. */
export interface Described {
  readonly parameters?: readonly Json[];
  readonly requestBody?: { readonly content: Named };
  readonly responses: Readonly<Record<string, { readonly content?: Named }>>;
}

/** Returns all recorded values that are fit for examples. */
function recordedValues(operations: readonly Described[], schemas: Named): Values {
  const values = new Map<string, Recorded[]>();
  const add = (name: string, schema: Json, value: unknown): void => {
    if (!isUseful(value) || !isPlain(schema, schemas) || !isOfType(schema, value, schemas)) return;
    const key = keyOf(name, schema);
    const examples = values.get(key) ?? [];
    if (examples.some((example) => example.schema === schema && example.value === value)) return;
    values.set(key, [...examples, { schema, value }]);
  };
  const collect = (schema: Json, value: unknown): void => {
    for (const part of partsOf(schema, schemas)) {
      const { items, additionalProperties: others, contentSchema } = part;
      if (isRecord(contentSchema) && typeof value === 'string') collect(contentSchema, JSON.parse(value));
      if (Array.isArray(value) && isRecord(items)) for (const element of value) collect(items, element);
      if (!isRecord(value) || !isMadeBy(part, value, schemas)) continue;
      for (const [name, member] of Object.entries(value)) {
        const property = propertiesOf(part)[name];
        if (property) add(name, property, member);
        const inner = property ?? others;
        if (isRecord(inner)) collect(inner, member);
      }
    }
  };
  for (const { parameters = [], requestBody, responses } of operations) {
    for (const parameter of parameters) add(String(parameter['name']), fieldOf(parameter), parameter['example']);
    const contents = [requestBody?.content, ...Object.values(responses).map((response) => response.content)];
    for (const content of contents) {
      const { schema, example } = content?.['application/json'] ?? {};
      if (isRecord(schema)) collect(schema, example);
    }
  }
  return values;
}

/** Converts a parameter to a property: moves its description into its schema. */
const fieldOf = ({ schema, description, 'x-allotrope-extension': isExtension }: Json): Json => ({
  ...(schema as Json | undefined),
  ...(description === undefined ? {} : { description }),
  ...(isExtension === undefined ? {} : { 'x-allotrope-extension': isExtension }),
});

/** Returns the example of a field; undefined if there is none, or only its default. */
const exampleOf = (name: string, field: Json, values: Values): unknown =>
  values
    .get(keyOf(name, field))
    ?.find(({ schema, value }) => !isDeepStrictEqual(value, field['default']) && isSame(schema, field))?.value;

/** Returns a schema with examples in its properties, nested ones too. References are not followed. */
function withExamples(schema: Json, exampleAt: (name: string, property: Json) => unknown): Json {
  const inner = (innerSchema: unknown): unknown =>
    isRecord(innerSchema) ? withExamples(innerSchema, exampleAt) : innerSchema;
  const changed: Record<string, unknown> = {};
  for (const key of ['items', 'additionalProperties', 'contentSchema'])
    if (key in schema) changed[key] = inner(schema[key]);
  for (const key of ['anyOf', 'oneOf']) if (key in schema) changed[key] = listOf(schema[key]).map(inner);
  if ('properties' in schema)
    changed['properties'] = Object.fromEntries(
      Object.entries(propertiesOf(schema)).map(([name, property]) => {
        const example = 'examples' in property ? undefined : exampleAt(name, property);
        return [name, example === undefined ? inner(property) : { ...property, examples: [example] }];
      }),
    );
  return Object.keys(changed).length === 0 ? schema : { ...schema, ...changed };
}

/** The document's parts that are read here. */
interface Documented {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly webhooks: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly schemas: Named };
}

/**
 * Returns the document with examples in the properties of named schemas and in parameters. Existing ones are kept.
 * Headers are not recorded, so they get none.
 */
export function withFieldExamples<D extends Documented>(document: D): D {
  const { paths, webhooks, components } = document;
  const { schemas } = components;
  const operations = [...Object.values(paths), ...Object.values(webhooks)].flatMap((methods) => Object.values(methods));
  const values = recordedValues(operations, schemas);
  const exampleAt = (name: string, field: Json): unknown => exampleOf(name, field, values);
  const parameterWith = (parameter: Json): Json => {
    if ('example' in parameter || '$ref' in parameter) return parameter;
    const example = exampleAt(String(parameter['name']), fieldOf(parameter));
    return example === undefined ? parameter : { ...parameter, example };
  };
  const operationWith = (operation: Described): Described =>
    operation.parameters ? { ...operation, parameters: operation.parameters.map(parameterWith) } : operation;
  const mapped = <A, B>(record: Readonly<Record<string, A>>, change: (entry: A) => B): Record<string, B> =>
    Object.fromEntries(Object.entries(record).map(([key, entry]) => [key, change(entry)]));
  return {
    ...document,
    paths: mapped(paths, (methods) => mapped(methods, operationWith)),
    components: { ...components, schemas: mapped(schemas, (schema) => withExamples(schema, exampleAt)) },
  };
}
