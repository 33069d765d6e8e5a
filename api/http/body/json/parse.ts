import type { JsonLimits } from './limits.js';
import { nextTurn } from './nextTurn.js';
import { createScanner } from './scan.js';

/** Number of bytes scanned or parsed per turn of the event loop: a few milliseconds. */
const SLICE_BYTES = 262_144;

/** An object or array whose closing bracket was not scanned yet. */
interface Open {
  readonly isObject: boolean;
  /** Position of its opening bracket. */
  readonly at: number;
  /** The elements parsed so far; null: the container is parsed together with its parent. */
  target: Container | null;
  /** Position of the first unparsed byte. */
  from: number;
  /** Position of the last comma between its elements; -1: none. */
  comma: number;
  /** Key of the element that is parsed separately; '' in a list. */
  key: string;
  /** The last element was parsed separately: only white space may follow before the next token. */
  isAttached: boolean;
}

/** Returns whether a text contains only JSON white space. */
const isBlank = (text: string): boolean => /^[ \t\r\n]*$/.test(text);

/** Returns the key in `"key":` with surrounding white space. @throws SyntaxError for any other text */
function keyOf(text: string): string {
  const [key, ...more] = Object.keys(JSON.parse(`{${text}0}`) as object);
  if (key === undefined || more.length > 0 || !/:[ \t\r\n]*$/.test(text)) throw new SyntaxError('JSON without a key');
  return key;
}

type Container = unknown[] | Record<string, unknown>;

/** Adds parsed elements to a container as JSON.parse would: of several equal keys, the last one is used. */
function append(target: Container, part: Container): void {
  if (Array.isArray(target)) for (const value of part as unknown[]) target.push(value);
  else
    for (const [key, value] of Object.entries(part))
      // Assigning the key __proto__ would change the prototype.
      Object.defineProperty(target, key, { value, configurable: true, enumerable: true, writable: true });
}

/**
 * Parses JSON like JSON.parse, but long texts over several turns of the event loop.
 * @param bytes UTF-8
 * @param sliceBytes number of bytes per turn; an element with a longer text is parsed at once
 * @throws SyntaxError for invalid JSON; HttpError 422 above a limit
 */
export async function parseJson(bytes: Buffer, limits: JsonLimits, sliceBytes = SLICE_BYTES): Promise<unknown> {
  const open: Open[] = [];
  const root: { value: unknown; from: number; end: number } = { value: null, from: 0, end: -1 };
  let parsedTo = 0;
  const textOf = (from: number, to: number): string => bytes.toString('utf8', from, to);

  /** Parses the elements of a container up to `to`. */
  function flush(container: Open, to: number, isEnd = false): void {
    const text = textOf(container.from, to);
    const target = (container.target ??= container.isObject ? {} : []);
    // A comma must follow an element and precede one.
    const isEmpty = isBlank(text);
    if (container.isAttached ? !isEmpty : isEmpty && (!isEnd || container.comma >= 0))
      throw new SyntaxError('JSON with a misplaced element');
    if (!isEmpty) append(target, JSON.parse(container.isObject ? `{${text}}` : `[${text}]`) as Container);
    container.isAttached = false;
    parsedTo = to;
  }

  /** Parses the parts of the outer containers before the innermost one, so that it can be parsed separately. */
  function detachAncestors(): void {
    for (const [index, ancestor] of open.entries()) {
      const child = open[index + 1];
      if (!child) return;
      if (child.target !== null) continue;
      if (ancestor.isAttached) throw new SyntaxError('JSON without a comma');
      if (ancestor.comma >= ancestor.from) {
        flush(ancestor, ancestor.comma);
        ancestor.from = ancestor.comma + 1;
      }
      ancestor.target ??= ancestor.isObject ? {} : [];
      const before = textOf(ancestor.from, child.at);
      if (!ancestor.isObject && !isBlank(before)) throw new SyntaxError('JSON without a comma');
      ancestor.key = ancestor.isObject ? keyOf(before) : '';
      child.target = child.isObject ? {} : [];
    }
  }

  const scanner = createScanner(bytes, limits, {
    opened(at, isObject) {
      open.push({ isObject, at, target: null, from: at + 1, comma: -1, key: '', isAttached: false });
    },
    separated(at) {
      const innermost = open.at(-1);
      if (!innermost) throw new SyntaxError('JSON with a comma outside of a container');
      if (innermost.isAttached || at - Math.max(parsedTo, innermost.from) >= sliceBytes) {
        detachAncestors();
        flush(innermost, at);
        innermost.from = at + 1;
      }
      innermost.comma = at;
    },
    closed(at, isObject) {
      const closed = open.pop();
      if (closed?.isObject !== isObject) throw new SyntaxError('JSON with brackets that do not match');
      if (closed.target === null) return;
      flush(closed, at, true);
      const parent = open.at(-1);
      if (parent) {
        append(parent.target ?? [], parent.isObject ? { [parent.key]: closed.target } : [closed.target]);
        Object.assign(parent, { from: at + 1, isAttached: true });
      } else Object.assign(root, { value: closed.target, from: closed.at, end: at + 1 });
    },
  });
  for (let end = 0; end < bytes.length;) {
    end = Math.min(bytes.length, end + sliceBytes);
    scanner.advance(end);
    if (bytes.length > sliceBytes) await nextTurn();
  }
  const { value, from, end } = root;
  if (end < 0) return JSON.parse(textOf(0, bytes.length)) as unknown;
  if (open.length > 0 || !isBlank(textOf(0, from)) || !isBlank(textOf(end, bytes.length)))
    throw new SyntaxError('JSON that does not end');
  return value;
}
