import type Joi from 'joi';

import { internalsOf, limitOf, metaOf } from './joiSchema.js';
import type { Json } from './types.js';

/** `input`: of requests; fields with defaults may be absent. `output`: of responses. */
type Direction = 'input' | 'output';

/** Schemas of the OpenAPI document. */
export interface Schemas {
  /** Returns the JSON Schema of a Joi schema: a `$ref` if it has a name. */
  of(schema: Joi.Schema, direction: Direction): Json;
  /** Stores a JSON Schema under a name that no other schema has. @returns a reference to it */
  store(name: string, schema: Json): Json;
  /** Returns what a schema refers to, or the schema itself. */
  resolved(schema: Json): Json;
  /** Returns `components.schemas`: all named schemas that were requested, by name. */
  components(): Record<string, Json>;
}

/** Returns the JSON Schema keywords of a Joi rule with its limit or expression. */
type Keywords = (limit: unknown, regex: RegExp | undefined) => Json;
const NONE: Keywords = () => ({});
const RULES: Readonly<Record<string, Keywords>> = {
  'string.min': (limit) => (limit === 0 ? {} : { minLength: limit }),
  'string.max': (limit) => ({ maxLength: limit }),
  'string.pattern': (_limit, regex) => ({ pattern: regex?.source }),
  'string.isoDate': () => ({ format: 'date-time' }),
  'string.trim': () => ({ pattern: '\\S' }),
  'number.integer': () => ({ type: 'integer' }),
  'number.min': (limit) => ({ minimum: limit }),
  'number.max': (limit) => ({ maximum: limit }),
  'number.greater': (limit) => ({ exclusiveMinimum: limit }),
  'number.less': (limit) => ({ exclusiveMaximum: limit }),
  'array.items': NONE,
  'array.min': (limit) => ({ minItems: limit }),
  'array.max': (limit) => ({ maxItems: limit }),
  'array.unique': () => ({ uniqueItems: true }),
  'object.min': (limit) => ({ minProperties: limit }),
  'object.max': (limit) => ({ maxProperties: limit }),
  'numbers.min': (limit) => ({ minItems: limit }),
  'numbers.max': (limit) => ({ maxItems: limit }),
  'numbers.all': NONE,
};

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

/** Returns a schema that also allows null. */
function orNull(schema: Json): Json {
  const { type, enum: values, anyOf: choice } = schema;
  if (Object.keys(schema).length === 0 || type === 'null') return schema;
  if (typeof type === 'string')
    return { ...schema, type: [type, 'null'], ...(Array.isArray(values) ? { enum: [...values, null] } : {}) };
  if (Array.isArray(choice)) return { ...schema, anyOf: [...choice, { type: 'null' }] };
  return { anyOf: [schema, { type: 'null' }] };
}

/** Returns one schema, or a choice of several. */
function oneOrAny(schemas: readonly Json[]): Json {
  const different = schemas.filter((schema, index) => schemas.findIndex((other) => same(schema, other)) === index);
  return different.length === 1 ? (different[0] ?? {}) : { anyOf: different };
}

/**
 * Converts Joi schemas to JSON Schema. Schemas with a name become references; each is stored once.
 * @throws an error for a rule that it cannot convert, and for a name of two different schemas
 */
export function createSchemas(): Schemas {
  const stored = new Map<string, Json>();
  const converted: Record<Direction, WeakMap<Joi.Schema, Json>> = { input: new WeakMap(), output: new WeakMap() };

  const of = (schema: Joi.Schema, direction: Direction): Json => {
    const made = converted[direction].get(schema) ?? convertWithAnnotations(schema, direction);
    converted[direction].set(schema, made);
    return made;
  };

  /**
   * Converts a schema with its default, its description and null. These can differ each time the schema is used.
   */
  const convertWithAnnotations = (schema: Joi.Schema, direction: Direction): Json => {
    const { _flags: flags, _valids: valids } = internalsOf(schema);
    const { name, ownDescription = null, extension, alsoAccepts } = metaOf(schema);
    const base = name === undefined ? convertBare(schema, direction) : reference(name, schema, direction);
    const isNullable = valids?._values.has(null) ?? false;
    const { description, default: fallback } = flags;
    const isPlain = !['function', 'symbol', 'undefined'].includes(typeof fallback);
    const withAlternative = alsoAccepts ? oneOrAny([base, alsoAccepts]) : base;
    return {
      ...(isNullable ? orNull(withAlternative) : withAlternative),
      ...(description === undefined || description === ownDescription ? {} : { description }),
      // openapi-python-client drops operations with an object as a default, and openapi-generator writes invalid Go.
      ...(isPlain && !isObject(fallback) && !(flags.single && isEmptyList(fallback)) ? { default: fallback } : {}),
      ...(extension ? { 'x-allotrope-extension': true } : {}),
    };
  };

  const reference = (name: string, schema: Joi.Schema, direction: Direction): Json => {
    const { ownDescription = null } = metaOf(schema);
    return store(name, {
      ...(ownDescription === null ? {} : { description: ownDescription }),
      ...convertBare(schema, direction),
    });
  };

  const store = (name: string, made: Json): Json => {
    const earlier = stored.get(name);
    if (earlier && !same(earlier, made))
      throw new Error(
        `Two different schemas are named ${name}: rename one.\n${JSON.stringify(earlier)}\n${JSON.stringify(made)}`,
      );
    stored.set(name, made);
    return { $ref: `#/components/schemas/${name}` };
  };

  /** Converts a schema without null, default and description. */
  const convertBare = (schema: Joi.Schema, direction: Direction): Json => {
    const { type, _flags: flags, _valids: valids, _rules: rules, $_terms: terms } = internalsOf(schema);
    if (terms.whens) throw new Error('when() is not converted: use alternatives');
    const values = [...(valids?._values ?? [])].filter((value) => value !== null && typeof value !== 'symbol');
    const { keywords = {} } = metaOf(schema);
    if (flags.only) {
      if (values.length === 0) return { type: 'null' };
      const types = [...new Set(values.map((value) => (Number.isInteger(value) ? 'integer' : typeof value)))];
      return { type: types.length === 1 ? types[0] : types, enum: values, ...keywords };
    }
    const kind = ofType(type, schema, direction);
    const ruled = rules.map((rule): Json => {
      if (rule.name === 'custom') return {};
      const convert = RULES[`${type}.${rule.name}`];
      if (!convert) throw new Error(`The rule ${type}.${rule.name} is not converted to JSON Schema`);
      const limit = limitOf(rule);
      return rule.args?.limit !== undefined && limit === undefined ? {} : convert(limit, rule.args?.regex);
    });
    const whole = Object.assign({}, kind, ...ruled, keywords) as Json;
    return flags.single ? oneOrAny([whole, ...itemsOf(schema, direction)]) : whole;
  };

  const ofType = (type: string, schema: Joi.Schema, direction: Direction): Json => {
    switch (type) {
      case 'any':
        return {};
      case 'string': {
        const takesEmpty = internalsOf(schema)._valids?._values.has('') ?? false;
        return { type, ...(takesEmpty ? {} : { minLength: 1 }) };
      }
      case 'number':
      case 'boolean':
        return { type };
      case 'date':
        return { type: 'string', format: 'date-time' };
      case 'numbers':
        return { type: 'array', items: { type: 'number' } };
      case 'array': {
        const items = itemsOf(schema, direction);
        return { type, ...(items.length > 0 ? { items: oneOrAny(items) } : {}) };
      }
      case 'object':
        return ofObject(schema, direction);
      case 'alternatives':
        return oneOrAny(alternativesOf(schema).map((alternative) => of(alternative, direction)));
      default:
        throw new Error(`The type ${type} is not converted to JSON Schema`);
    }
  };

  const itemsOf = (schema: Joi.Schema, direction: Direction): Json[] =>
    (internalsOf(schema).$_terms.items ?? []).map((item) => of(item, direction));

  const ofObject = (schema: Joi.Schema, direction: Direction): Json => {
    const { _flags: flags, $_terms: terms } = internalsOf(schema);
    const keys = terms.keys ?? [];
    const properties = Object.fromEntries(keys.map(({ key, schema: property }) => [key, of(property, direction)]));
    const required = keys.filter(({ schema: property }) => {
      const { presence, default: fallback } = internalsOf(property)._flags;
      return presence === 'required' || (direction === 'output' && fallback !== undefined);
    });
    const isClosed = flags.unknown === undefined && Boolean(terms.keys ?? terms.patterns);
    const object = {
      type: 'object',
      ...(terms.keys ? { properties } : {}),
      ...(required.length > 0 ? { required: required.map(({ key }) => key).toSorted() } : {}),
      // Requests may have unknown fields: they are ignored.
      ...(isClosed && direction === 'output' ? { additionalProperties: false } : {}),
      // Without properties and without this keyword, client generators treat an object as empty.
      ...(isClosed ? {} : { additionalProperties: true }),
      ...patternsOf(schema, direction),
    };
    return (terms.dependencies ?? []).reduce<Json>(
      (whole, { rel, key, peers }) =>
        dependent(
          whole,
          rel,
          key?.key ?? null,
          peers.map((peer) => peer.key),
        ),
      object,
    );
  };

  /** Returns the keywords of an object whose keys the caller chooses. */
  const patternsOf = (schema: Joi.Schema, direction: Direction): Json => {
    const patterns = internalsOf(schema).$_terms.patterns ?? [];
    const isForbidden = ({ rule }: (typeof patterns)[number]) => internalsOf(rule)._flags.presence === 'forbidden';
    const allowed = patterns.filter((pattern) => !isForbidden(pattern));
    // Joi applies the first pattern that matches. Forbidden patterns after the last allowed one only refuse all other
    // keys, and are omitted.
    const before = patterns.slice(0, patterns.findLastIndex((pattern) => !isForbidden(pattern)) + 1);
    const forbidden = before.flatMap((pattern) =>
      isForbidden(pattern) && pattern.regex ? [{ not: { pattern: pattern.regex.source } }] : [],
    );
    if (allowed.some(({ regex }) => regex)) throw new Error('Keys that match an expression are not converted');
    const names = [
      ...forbidden,
      ...allowed.flatMap(({ schema: one }) =>
        one && !same(of(one, 'input'), { type: 'string' }) ? [of(one, 'input')] : [],
      ),
    ];
    return {
      ...(allowed.length > 0 ? { additionalProperties: oneOrAny(allowed.map(({ rule }) => of(rule, direction))) } : {}),
      ...(names.length > 1 ? { propertyNames: { allOf: names } } : {}),
      ...(names.length === 1 ? { propertyNames: names[0] } : {}),
    };
  };

  return {
    of,
    store,
    resolved: (schema) => stored.get(String(schema['$ref']).split('/').at(-1) ?? '') ?? schema,
    components: () => Object.fromEntries([...stored].toSorted(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** Returns the alternatives of a schema, except hidden ones, which only report an error. */
function alternativesOf(schema: Joi.Schema): Joi.Schema[] {
  const { matches = [] } = internalsOf(schema).$_terms;
  return matches
    .flatMap((match) => [match.schema, ...(match.switch ?? [match]).flatMap((one) => [one.then, one.otherwise])])
    .filter((one): one is Joi.Schema => one !== undefined && metaOf(one).hidden !== true);
}

/** Adds a rule about keys that must or must not occur together. */
function dependent(object: Json, rel: string, key: string | null, peers: readonly string[]): Json {
  const { properties } = object as { properties: Record<string, Json> };
  if (rel === 'xor' && same(Object.keys(properties), peers))
    return {
      oneOf: peers.map((peer) => ({ type: 'object', properties: { [peer]: properties[peer] }, required: [peer] })),
    };
  if (rel === 'without') {
    // Extend one keyword instead of using `allOf`: client generators turn that into an intersection of unknown types.
    const { not: { anyOf: before = [] } = {} } = object as { not?: { anyOf?: readonly Json[] } };
    return { ...object, not: { anyOf: [...before, ...peers.map((peer) => ({ required: [key, peer] }))] } };
  }
  throw new Error(`The rule ${rel} is not converted to JSON Schema`);
}
