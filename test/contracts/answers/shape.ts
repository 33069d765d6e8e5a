/**
 * Shapes of JSON in the answers of providers, and their comparison with an answer. A shape contains the facts of a
 * published schema: names, types, allowed values, and which fields are always present.
 */

export interface Shape {
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array' | 'any';
  readonly isNullable?: true;
  readonly enum?: readonly string[];
  readonly pattern?: RegExp;
  /** Fields of an object, by name. */
  readonly fields?: Readonly<Record<string, Shape>>;
  /** Names of the fields that are always present. */
  readonly required?: readonly string[];
  /** The shape of all fields that `fields` does not name. Unset: there are none. */
  readonly others?: Shape;
  /** The shape of the elements of a list. */
  readonly items?: Shape;
  /** Alternative shapes, one of which the value must match. They replace the check of `type`. */
  readonly either?: readonly Shape[];
  /** Further fields of an object, by the value of its field `by`. */
  readonly variants?: { readonly by: string; readonly of: Readonly<Record<string, Shape>> };
  /** Whether a selection of fields applies to the objects in its lists, not to the object itself. */
  readonly isPage?: true;
}

export const text: Shape = { type: 'string' };
export const integer: Shape = { type: 'integer' };
export const number: Shape = { type: 'number' };
export const flag: Shape = { type: 'boolean' };
export const anything: Shape = { type: 'any' };
/** An ISO 8601 timestamp with a time zone. */
export const timestamp: Shape = {
  type: 'string',
  pattern: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)$/,
};
/** An object that is not compared further. */
export const anyObject: Shape = { type: 'object', others: anything };

export const orNull = (shape: Shape): Shape => ({ ...shape, isNullable: true });
/** Returns a shape that matches a value if one of the given shapes matches. */
export const eitherOf = (...shapes: readonly Shape[]): Shape => ({ type: 'any', either: shapes });
/** Returns the shape of a boolean with a constant value, which distinguishes alternatives. */
export const always = (value: boolean): Shape => ({ type: 'boolean', enum: [String(value)] });
/** A 64-bit integer, which JSON contains as a string of digits. */
export const digits: Shape = { type: 'string', pattern: /^-?\d+$/ };
export const oneOf = (...allowed: readonly string[]): Shape => ({ type: 'string', enum: allowed });
export const listOf = (items: Shape): Shape => ({ type: 'array', items });
/** Returns the shape of an object. @param required names of the fields that are always present */
export const object = (fields: Readonly<Record<string, Shape>>, required: readonly string[] = []): Shape => ({
  type: 'object',
  fields,
  required,
});
/** Returns the shape of an object whose further fields depend on the value of its field `by`. */
export const objectBy = (
  by: string,
  of: Readonly<Record<string, Shape>>,
  common: Readonly<Record<string, Shape>> = {},
  required: readonly string[] = [],
): Shape => ({ ...object({ [by]: text, ...common }, [by, ...required]), variants: { by, of } });
/** Returns fields with the same shape, by name. */
export const each = <N extends string>(shape: Shape, ...names: readonly N[]): Record<N, Shape> =>
  Object.fromEntries(names.map((name) => [name, shape])) as Record<N, Shape>;

const typeOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : Number.isInteger(value) ? 'integer' : typeof value;

/** Returns the shape of an object with the fields of its variant; null if the specification has no such variant. */
function withVariant(shape: Shape, value: object): Shape | null {
  const { variants, ...common } = shape;
  if (variants === undefined) return shape;
  const name = String((value as Readonly<Record<string, unknown>>)[variants.by]);
  const variant = Object.hasOwn(variants.of, name) ? variants.of[name] : undefined;
  if (variant === undefined) return null;
  const required = [...(common.required ?? []), ...(variant.required ?? [])];
  return { ...common, ...variant, required, fields: { ...common.fields, ...variant.fields } };
}

function fieldProblems(at: string, given: Shape, value: object, selected: readonly string[] | null): string[] {
  const shape = withVariant(given, value);
  if (shape === null) {
    const { by, of } = given.variants!;
    const name = String((value as Readonly<Record<string, unknown>>)[by]);
    return [`${at}.${by} is ${name}, none of ${Object.keys(of).join(', ')}`];
  }
  const { fields = {}, required = [], others, isPage = false } = shape;
  const selectedHere = isPage ? null : selected;
  const missing = required.filter((name) => !Object.hasOwn(value, name) && (selectedHere?.includes(name) ?? true));
  return [
    ...missing.map((name) => `${at}.${name} is missing`),
    ...Object.entries(value).flatMap(([name, inner]) => {
      const fieldShape = Object.hasOwn(fields, name) ? fields[name] : others;
      if (fieldShape === undefined) return [`${at}.${name} is not in the specification`];
      return shapeProblems(fieldShape, inner, `${at}.${name}`, isPage ? selected : null);
    }),
  ];
}

/**
 * Returns how a value differs from a shape; empty if it does not.
 * @param at path of the value, for the messages
 * @param selected fields that the request selected; null: all
 */
export function shapeProblems(
  shape: Shape,
  value: unknown,
  at: string,
  selected: readonly string[] | null = null,
): string[] {
  const { type, isNullable, enum: allowed, pattern, items = anything, either } = shape;
  const typeOfValue = typeOf(value);
  if (either && !(typeOfValue === 'null' && isNullable)) {
    // Report the differences from the most similar alternative.
    const all = either.map((one) => shapeProblems(one, value, at, selected));
    return all.toSorted((a, b) => a.length - b.length)[0] ?? [];
  }
  if (type === 'any' || (typeOfValue === 'null' && isNullable)) return [];
  if (typeOfValue !== type && !(type === 'number' && typeOfValue === 'integer'))
    return [`${at} is ${typeOfValue}, not ${type}`];
  if (allowed && !allowed.includes(String(value))) return [`${at} is ${String(value)}, none of ${allowed.join(', ')}`];
  if (pattern && !pattern.test(String(value))) return [`${at} is ${String(value)}, which does not match ${pattern}`];
  if (Array.isArray(value)) return [...new Set(value.flatMap((one) => shapeProblems(items, one, `${at}[]`, selected)))];
  return type === 'object' ? fieldProblems(at, shape, value as object, selected) : [];
}
