import { invalid } from './errors.js';

type Key = string | number;

interface Container {
  readonly value: readonly unknown[] | Readonly<Record<string, unknown>>;
  readonly parent: Container | null;
  readonly key: Key;
}

const pathOf = ({ parent, key }: Container): Key[] => (parent ? [...pathOf(parent), key] : []);

const isNumber = (value: unknown): boolean => typeof value === 'number';

/**
 * Visits all that parsed JSON holds, without recursion. Lists of nothing but numbers are not entered: vectors have hundreds
 * of thousands, and none needs a look.
 * @returns how many values it holds
 */
function visit(root: unknown, see: (value: unknown, key: Key, holder: Container) => void): number {
  const open: Container[] = [];
  let count = 0;
  const look = (value: unknown, key: Key, holder: Container): void => {
    count += 1;
    see(value, key, holder);
    if (typeof value === 'object' && value !== null)
      open.push({ value: value as Container['value'], parent: holder, key });
  };
  look(root, '', { value: {}, parent: null, key: '' });
  for (let holder = open.pop(); holder; holder = open.pop()) {
    const { value } = holder;
    if (!Array.isArray(value))
      for (const key of Object.keys(value)) look((value as Record<string, unknown>)[key], key, holder);
    else if (value.every(isNumber)) count += value.length;
    else for (let index = 0; index < value.length; index += 1) look(value[index], index, holder);
  }
  return count;
}

/**
 * Refuses what no body may hold, before a schema looks at it.
 * @returns how many values the body holds
 * @throws HttpError 422 for a key that would change an object's prototype
 */
export function inspectBody(body: unknown): number {
  return visit(body, (_value, key, holder) => {
    if (key === '__proto__')
      throw invalid(['body', ...pathOf(holder).slice(1), key], 'This key is reserved', 'value_error');
  });
}

function faultOf(text: unknown): string | null {
  if (typeof text !== 'string') return null;
  if (!text.isWellFormed()) return 'Holds half of a surrogate pair, which is no character';
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
