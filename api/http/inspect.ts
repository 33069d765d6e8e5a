import { invalid } from './errors.js';

type Key = string | number;

/** Deepest nesting of a body. The deepest that the interface knows, filters of mails, stays below 20. */
const MAX_DEPTH = 64;

interface Container {
  readonly value: readonly unknown[] | Readonly<Record<string, unknown>>;
  readonly parent: Container | null;
  readonly key: Key;
  readonly depth: number;
}

const pathOf = ({ parent, key }: Container): Key[] => (parent ? [...pathOf(parent), key] : []);

/** Visits all that parsed JSON holds, without recursion: a body may be nested as deep as it is long. */
function visit(root: unknown, see: (value: unknown, key: Key, holder: Container) => void): void {
  const open: Container[] = [];
  const look = (value: unknown, key: Key, holder: Container): void => {
    see(value, key, holder);
    if (typeof value === 'object' && value !== null)
      open.push({ value: value as Container['value'], parent: holder, key, depth: holder.depth + 1 });
  };
  look(root, '', { value: {}, parent: null, key: '', depth: 0 });
  for (let holder = open.pop(); holder; holder = open.pop()) {
    const { value } = holder;
    if (Array.isArray(value)) for (let index = 0; index < value.length; index += 1) look(value[index], index, holder);
    else for (const key of Object.keys(value)) look((value as Record<string, unknown>)[key], key, holder);
  }
}

/**
 * Refuses what no body may hold, before a schema looks at it.
 * @returns how many values the body holds
 * @throws HttpError 422 for a body nested too deep, and for a key that would change an object's prototype
 */
export function inspectBody(body: unknown): number {
  let count = 0;
  visit(body, (_value, key, holder) => {
    count += 1;
    if (holder.depth > MAX_DEPTH) throw invalid(['body'], `Nested deeper than ${MAX_DEPTH} levels`, 'json_invalid');
    if (key === '__proto__')
      throw invalid(['body', ...pathOf(holder).slice(1), key], 'This key is reserved', 'value_error');
  });
  return count;
}

/** With the flag u, halves of a pair match and whole pairs don't. */
const HALF_A_PAIR = /\p{Surrogate}/u;

function faultOf(text: unknown): string | null {
  if (typeof text !== 'string') return null;
  if (HALF_A_PAIR.test(text)) return 'Holds half of a surrogate pair, which is no character';
  return text.includes('\0') ? 'Holds a zero character' : null;
}

/**
 * Refuses text that can't be kept, or compared, as it was sent.
 * @throws HttpError 422 naming the text, or what holds the key that is one
 */
export function inspectText(root: unknown, where: string): void {
  visit(root, (value, key, holder) => {
    const fault = faultOf(key) ?? faultOf(value);
    if (fault === null) return;
    // A key that is no text can't be named itself.
    const path = faultOf(key) === null ? [...pathOf(holder), key] : pathOf(holder);
    throw invalid([where, ...path.slice(1)], fault, 'string_type');
  });
}
