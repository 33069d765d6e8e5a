/**
 * Selections of fields in Google's APIs: `nextPageToken,files(id,owners/displayName)`.
 * https://developers.google.com/workspace/drive/api/guides/fields-parameter
 */
import type { Shape } from '../shape.js';

/** The selected fields of an object, each with the selection within the field. Null: all fields. */
export type Mask = ReadonlyMap<string, Mask | null> | null;

const TOKEN = /[\w@-]+|[*(),/]/g;

/** Parses a mask. @throws SyntaxError if it is malformed */
export function readMask(text: string): Mask {
  const tokens = text.match(TOKEN) ?? [];
  let at = 0;
  const list = (): Mask => {
    const found = new Map<string, Mask>();
    let isWhole = false;
    do {
      const name = tokens[at++] ?? '';
      if (name === '*') isWhole = true;
      else if (/^[\w@-]+$/.test(name)) found.set(name, innerMask());
      else throw new SyntaxError(`no field at ${name}`);
    } while (tokens[at] === ',' && ++at > 0);
    return isWhole ? null : found;
  };
  const innerMask = (): Mask => {
    if (tokens[at] === '/') {
      const name = tokens[++at] ?? '';
      at += 1;
      return name === '*' ? null : new Map([[name, innerMask()]]);
    }
    if (tokens[at] !== '(') return null;
    at += 1;
    const inner = list();
    if (tokens[at++] !== ')') throw new SyntaxError('no closing parenthesis');
    return inner;
  };
  const mask = list();
  if (at < tokens.length || tokens.join('') !== text) throw new SyntaxError(`malformed: ${text}`);
  return mask;
}

/** Returns the shape of the selected part of a value: other fields are neither required nor allowed. */
export function narrowShape(shape: Shape, mask: Mask): Shape {
  if (mask === null) return shape;
  const { items, fields, required = [], either } = shape;
  if (either) return { ...shape, either: either.map((one) => narrowShape(one, mask)) };
  if (items) return { ...shape, items: narrowShape(items, mask) };
  if (!fields) return shape;
  return {
    ...shape,
    required: required.filter((name) => mask.has(name)),
    fields: Object.fromEntries(
      Object.entries(fields).flatMap(([name, inner]) =>
        mask.has(name) ? [[name, narrowShape(inner, mask.get(name) ?? null)]] : [],
      ),
    ),
  };
}

/** Returns the selected fields that a shape does not have. Google refuses such a request with 400. */
export function unknownInMask(shape: Shape, mask: Mask, path = ''): string[] {
  if (mask === null) return [];
  const { items, fields, either, others } = shape;
  if (either) {
    const all = either.map((one) => unknownInMask(one, mask, path));
    const isIn = (names: readonly string[], name: string): boolean =>
      names.some((one) => name === one || name.startsWith(`${one}/`));
    return [...new Set(all.flat())].filter((name) => all.every((names) => isIn(names, name)));
  }
  if (items) return unknownInMask(items, mask, path);
  return [...mask].flatMap(([name, inner]) => {
    const known = fields?.[name] ?? others;
    return known === undefined ? [`${path}${name}`] : unknownInMask(known, inner, `${path}${name}/`);
  });
}
