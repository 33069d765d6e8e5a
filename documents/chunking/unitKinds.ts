/** The kinds of UTF-16 units that cl100k's expression for pre-tokens distinguishes. */
export const OTHER = 0;
export const LETTER = 1;
export const DIGIT = 2;
export const SPACE = 3;
export const NEWLINE = 4;
/** Half of a character of two units: only the expression knows its kind. */
export const SURROGATE = 5;
const UNIT_COUNT = 0x10000;
const KINDS = readKinds();

/** Returns the kind of a unit; control characters and punctuation are OTHER. */
export const kindOf = (units: Uint16Array, at: number): number => KINDS[units[at] ?? 0] ?? OTHER;

function readKinds(): Uint8Array {
  const kinds = new Uint8Array(UNIT_COUNT).fill(OTHER);
  const units = Buffer.from(Uint16Array.from({ length: UNIT_COUNT }, (_, unit) => unit).buffer).toString('utf16le');
  const set = (runs: RegExp, kind: number): void => {
    for (const { index, 0: run } of units.matchAll(runs)) kinds.fill(kind, index, index + run.length);
  };
  set(/\p{L}+/gu, LETTER);
  set(/\p{N}+/gu, DIGIT);
  set(/\s+/gu, SPACE);
  set(/[\r\n]/gu, NEWLINE);
  return kinds.fill(SURROGATE, 0xd800, 0xe000);
}
