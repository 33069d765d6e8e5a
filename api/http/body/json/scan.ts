import { invalid } from '../../errors.js';
import type { JsonLimits } from './limits.js';

const [QUOTE, BACKSLASH, COMMA, COLON, MINUS] = [0x22, 0x5c, 0x2c, 0x3a, 0x2d];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Callbacks of the scanner. Positions are byte offsets of the token. */
export interface Structure {
  opened(at: number, isObject: boolean): void;
  closed(at: number, isObject: boolean): void;
  /** A comma between two elements of the innermost container. */
  separated(at: number): void;
}

export interface Scanner {
  /** Scans up to `end`. @throws HttpError 422 above a limit */
  advance(end: number): void;
}

/**
 * Creates a scanner that reports brackets and commas of a JSON text and counts its elements. The scanner does not
 * validate the syntax; the parser does.
 * @param bytes UTF-8
 */
export function createScanner(bytes: Uint8Array, limits: JsonLimits, structure: Structure): Scanner {
  let at = 0;
  let inString = false;
  let inNumber = false;
  /** Number of keys of each open object; -1 for a list. */
  const open: number[] = [];
  /** Counts so far. `strings` includes keys. */
  let [keys, strings, containersAndLiterals, numbers] = [0, 0, 0, 0];

  function checkLimits(): void {
    if (keys > limits.keys) throw tooMany(`${limits.keys.toLocaleString('en')} keys in all`);
    if (strings - keys + containersAndLiterals > limits.values)
      throw tooMany(`${limits.values.toLocaleString('en')} values`);
    if (numbers > limits.numbers) throw tooMany(`${limits.numbers.toLocaleString('en')} numbers`);
  }

  function begin(isObject: boolean): void {
    if (open.length >= limits.depth)
      throw invalid(['body'], `Nested deeper than ${limits.depth} levels`, 'json_invalid');
    containersAndLiterals += 1;
    open.push(isObject ? 0 : -1);
    structure.opened(at, isObject);
  }

  function end(isObject: boolean): void {
    open.pop();
    structure.closed(at, isObject);
  }

  function countKey(): void {
    keys += 1;
    const count = (open.pop() ?? 0) + 1;
    if (count > limits.objectKeys) throw tooMany(`${limits.objectKeys.toLocaleString('en')} keys in one object`);
    open.push(count);
  }

  function scanByte(byte: number): void {
    const wasNumber = inNumber;
    inNumber = false;
    if (byte === QUOTE) {
      strings += 1;
      inString = true;
    } else if (byte === COMMA) structure.separated(at);
    else if (byte === COLON) countKey();
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) begin(byte === OPEN_OBJECT);
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) end(byte === CLOSE_OBJECT);
    else if ((byte >= 0x30 && byte <= 0x39) || byte === MINUS) {
      if (!wasNumber) numbers += 1;
      inNumber = true;
    } else if (wasNumber && (byte === 0x2e || byte === 0x2b || byte === 0x65 || byte === 0x45)) inNumber = true;
    // First letters of the three literals.
    else if (byte === 0x74 || byte === 0x66 || byte === 0x6e) containersAndLiterals += 1;
  }

  return {
    advance(to) {
      for (; at < to; at += 1) {
        const byte = bytes[at] ?? 0;
        if (!inString) scanByte(byte);
        else if (byte === BACKSLASH) at += 1;
        else if (byte === QUOTE) inString = false;
      }
      checkLimits();
    },
  };
}

const tooMany = (what: string) =>
  invalid(['body'], `Contains more than ${what}. Send it in several requests`, 'too_long');
