import { invalid } from '../errors.js';

type Key = string | number;

interface Container {
  readonly value: readonly unknown[] | Readonly<Record<string, unknown>>;
  readonly parent: Container | null;
  readonly key: Key;
}

const pathOf = ({ parent, key }: Container): Key[] => (parent ? [...pathOf(parent), key] : []);

const isNumber = (value: unknown): boolean => typeof value === 'number';

/**
 * Visits all values of parsed JSON without recursion. The elements of lists of numbers are counted but not visited:
 * vectors have hundreds of thousands of them.
 * @returns the number of values, visited or not
 */
function visit(root: unknown, onValue: (value: unknown, key: Key, holder: Container) => void): number {
  const unvisited: Container[] = [];
  let count = 0;
  const enter = (value: unknown, key: Key, holder: Container): void => {
    count += 1;
    onValue(value, key, holder);
    if (typeof value === 'object' && value !== null)
      unvisited.push({ value: value as Container['value'], parent: holder, key });
  };
  enter(root, '', { value: {}, parent: null, key: '' });
  for (let holder = unvisited.pop(); holder; holder = unvisited.pop()) {
    const { value } = holder;
    if (!Array.isArray(value))
      for (const key of Object.keys(value)) enter((value as Record<string, unknown>)[key], key, holder);
    else if (value.every(isNumber)) count += value.length;
    else for (let index = 0; index < value.length; index += 1) enter(value[index], index, holder);
  }
  return count;
}

/**
 * Rejects keys that no body may contain, before schema validation.
 * @returns the number of values in the body
 * @throws HttpError 422 for a key that would change an object's prototype
 */
export function inspectBody(body: unknown): number {
  return visit(body, (_value, key, holder) => {
    if (key === '__proto__')
      throw invalid(['body', ...pathOf(holder).slice(1), key], 'This key is reserved', 'value_error');
  });
}

/** Returns why a text cannot be stored; null if it can, or is not a string. */
function faultOf(text: unknown): string | null {
  if (typeof text !== 'string') return null;
  if (!text.isWellFormed()) return 'Contains half of a surrogate pair, which is not a character';
  return text.includes('\0') ? 'Contains a NUL character (U+0000)' : null;
}

/**
 * Rejects text that cannot be stored or compared exactly.
 * @throws HttpError 422 that names the text, or the object if the text is one of its keys
 */
export function inspectText(root: unknown, where: string): void {
  visit(root, (value, key, holder) => {
    const fault = faultOf(key) ?? faultOf(value);
    if (fault === null) return;
    // The path in the error must not contain a key with the fault.
    const path = faultOf(key) === null ? [...pathOf(holder), key] : pathOf(holder);
    throw invalid([where, ...path.slice(1)], fault, 'string_type');
  });
}
