/**
 * The OpenAPI document of the public contract (`publishedDocument`) and ours (`ourDocument`), with functions that read
 * the schemas of either.
 */
import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

import { openApiDocument } from '../../api/openapi/document.js';
import { operations } from '../../api/routes.js';

export interface Schema {
  readonly [keyword: string]: unknown;
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly minItems?: number;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly default?: unknown;
}

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema: Schema;
}

interface Described {
  readonly parameters?: readonly Parameter[];
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
  readonly responses: Readonly<
    Record<string, { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }>
  >;
}

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly schemas?: Readonly<Record<string, Schema>> };
}

export const publishedDocument = JSON.parse(
  readFileSync(new URL('../fixtures/openapi.json', import.meta.url), 'utf8'),
) as Document;
export const ourDocument = inPlace(openApiDocument()) as Document;

/** Returns our document with its shared parameters, headers and responses in place of the references to them. */
function inPlace(document: Readonly<Record<string, unknown>>): unknown {
  const shared = document['components'] as Record<string, Record<string, unknown>>;
  const replace = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(replace);
    if (typeof part !== 'object' || part === null) return part;
    const { $ref } = part as Schema;
    const [, kind = '', name = ''] = /^#\/components\/(parameters|headers|responses)\/(.+)$/.exec($ref ?? '') ?? [];
    if (kind !== '') return replace(shared[kind]?.[name]);
    return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, replace(value)]));
  };
  return { ...document, paths: replace(document['paths']) };
}

/** Follows a reference into the document's components. */
export function resolve(document: Document, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  return resolve(document, document.components.schemas?.[schema.$ref.split('/').at(-1) ?? ''] ?? {});
}

/** Returns the schemas that a value may follow: the resolved schemas of anyOf or oneOf, or else the schema itself. */
export function choices(document: Document, schema: Schema): readonly Schema[] {
  const whole = resolve(document, schema);
  const parts = whole.anyOf ?? whole.oneOf;
  return parts ? parts.flatMap((part) => choices(document, part)) : [whole];
}

export function bodyOf(document: Document, method: string, path: string): Schema | undefined {
  const schema = document.paths[path]?.[method]?.requestBody?.content['application/json']?.schema;
  return schema && resolve(document, schema);
}

/** Returns the schema of an operation's response with this status. */
export function answerOf(document: Document, method: string, path: string, status = 200): Schema | undefined {
  const schema = document.paths[path]?.[method]?.responses[status]?.content['application/json']?.schema;
  return schema && resolve(document, schema);
}

export interface Field {
  /** Path of the field, such as filters.ids; [] means each member of a list. */
  readonly path: string;
  readonly schema: Schema;
  readonly required: boolean;
}

/** Returns all fields of a request, including those of nested objects. */
export function fieldsOf(document: Document, schema: Schema, prefix = ''): Field[] {
  return choices(document, schema).flatMap((option) => {
    const members = option.items ? fieldsOf(document, option.items, `${prefix}[].`) : [];
    const fields = Object.entries(option.properties ?? {}).flatMap(([name, field]) => [
      { path: `${prefix}${name}`, schema: field, required: option.required?.includes(name) ?? false },
      // Skip the members of tags: the public contract allows any object there, and only our document describes them.
      ...(name === 'tags_v2' || name === 'tags' ? [] : fieldsOf(document, field, `${prefix}${name}.`)),
    ]);
    return [...members, ...fields];
  });
}

/** Keywords that restrict nothing. */
const ANNOTATIONS = ['description', 'default', 'title', 'x-allotrope-extension'];
const isOpen = (schema: Schema): boolean => Object.keys(schema).every((keyword) => ANNOTATIONS.includes(keyword));

export const allowsNull = (document: Document, schema: Schema): boolean =>
  choices(document, schema).some(
    (option) => option.type === 'null' || [option.type].flat().includes('null') || isOpen(option),
  );

/** Returns the values of an enum or of a list of enum values; null for other schemas. */
export function enumOf(document: Document, schema: Schema): readonly string[] | null {
  const values = choices(document, schema).flatMap((choice) => [
    ...(choice.enum ?? []),
    ...(choice.items ? (enumOf(document, choice.items) ?? []) : []),
  ]);
  const strings = values.filter((value) => typeof value === 'string');
  return strings.length === 0 ? null : [...new Set(strings)].toSorted();
}

/** Returns a minimal value of a schema. */
export function sample(document: Document, schema: Schema): unknown {
  const [chosen] = choices(document, schema);
  if (!chosen) return null;
  if (chosen.enum) return chosen.enum[0];
  switch ([chosen.type].flat()[0]) {
    case 'object':
      return Object.fromEntries(
        (chosen.required ?? []).map((name) => [name, sample(document, chosen.properties?.[name] ?? {})]),
      );
    case 'array':
      return Array.from({ length: chosen.minItems ?? 0 }, () => sample(document, chosen.items ?? {}));
    case 'integer':
    case 'number':
      return 1;
    case 'boolean':
      return true;
    case 'string':
      return 'https://nowhere.invalid/sitemap.xml';
    case undefined:
    default:
      return {};
  }
}

/** One of the alternatives of a request body: a minimal body, and its fields with their paths. */
export interface Shape {
  readonly body: unknown;
  readonly fields: readonly Field[];
}

/** Returns the shapes of an object: if a field allows several kinds of objects, one shape for each kind. */
function shapesOfObject(document: Document, schema: Schema): Shape[] {
  const alternatives = Object.entries(schema.properties ?? {}).map(([name, field]) => ({
    name,
    kinds: choices(document, field).filter(({ properties }) => properties !== undefined),
  }));
  const choice = alternatives.find(({ name, kinds }) => kinds.length > 1 && name !== 'tags' && name !== 'tags_v2');
  if (!choice) return [{ body: sample(document, schema), fields: fieldsOf(document, schema) }];
  return choice.kinds.map((kind) => {
    const narrow = { ...schema, properties: { ...schema.properties, [choice.name]: kind } };
    const body = { ...(sample(document, narrow) as object), [choice.name]: sample(document, kind) };
    return { body, fields: fieldsOf(document, narrow) };
  });
}

/**
 * Returns the shapes of a request body, one per alternative. If the body is a list, each shape is a list of one member,
 * one shape per alternative of the members.
 */
export function shapesOf(document: Document, schema: Schema): Shape[] {
  return choices(document, schema).flatMap((choice) =>
    choice.items
      ? choices(document, choice.items).map((member) => ({
          body: [sample(document, member)],
          fields: fieldsOf(document, member, '[].'),
        }))
      : shapesOfObject(document, choice),
  );
}

/** Returns the keys and indexes of a path; [] becomes index 0, the first member of a list. */
export const keysOf = (path: string): (string | number)[] => path.split('.').map((key) => (key === '[]' ? 0 : key));

/** Returns a copy of a body with another value at a path; missing parents are created. */
export function withValue(body: unknown, path: string, value: unknown): unknown {
  const copy = structuredClone(body);
  const keys = keysOf(path);
  let holder = copy as Record<string | number, unknown>;
  for (const [index, key] of keys.slice(0, -1).entries())
    holder = (holder[key] ??= keys[index + 1] === 0 ? [] : {}) as typeof holder;
  holder[keys.at(-1) ?? ''] = value;
  return copy;
}

/** Returns the value at a path; undefined if there is none. */
export const valueAt = (body: unknown, path: string): unknown =>
  keysOf(path).reduce<unknown>((holder, key) => (holder as Record<string | number, unknown> | undefined)?.[key], body);

/** Returns the schema of our response to a request without dry_run. */
export function usualAnswerOf(method: string, path: string): Schema {
  const whole = answerOf(ourDocument, method, path) ?? {};
  const dry = operations.find((operation) => operation.method === method && operation.path === path)?.dryAnswer;
  return dry ? (whole.anyOf?.[0] ?? {}) : whole;
}

const validators = new Map<string, ValidateFunction>();
const compilers = new Map<Document, (schema: Schema) => ValidateFunction>();

/**
 * Returns the violations of a response against a document's schema; null if it is valid or the document has no schema
 * for it.
 */
export function answerFault(
  name: 'ours' | 'theirs',
  operation: { method: string; path: string; status: number },
  body: unknown,
): string | null {
  const document = name === 'ours' ? ourDocument : publishedDocument;
  const { method, path, status } = operation;
  const schema = answerOf(document, method, path, status);
  if (!schema) return null;
  const key = `${name} ${method} ${path} ${status}`;
  const compile = compilers.get(document) ?? compilerOf(document);
  compilers.set(document, compile);
  const validate = validators.get(key) ?? compile(schema);
  validators.set(key, validate);
  if (validate(body)) return null;
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`).join('; ');
}

const isTime = (text: string): boolean => /^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(Date.parse(text));

/** Returns a compiler for the schemas of a document. A compiler for each schema would take 15 times as long. */
function compilerOf({ components }: Document): (schema: Schema) => ValidateFunction {
  const ajv = new Ajv2020({ strict: false, formats: { 'date-time': isTime, binary: true } });
  ajv.addSchema({ components }, 'document');
  const withReferences = (schema: Schema): Schema =>
    JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
      key === '$ref' && typeof value === 'string' && value.startsWith('#') ? `document${value}` : value,
    ) as Schema;
  return (schema) => ajv.compile(withReferences(schema));
}
