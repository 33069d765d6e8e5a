/** Whether the UTF-16 unit is white space, as in the regular expression `\s`. */
export function isSpace(unit: number): boolean {
  if (unit < 128) return unit === 32 || (unit >= 9 && unit <= 13);
  return (
    unit === 0xa0 ||
    unit === 0x3000 ||
    unit === 0xfeff ||
    unit === 0x1680 ||
    (unit >= 0x2000 && unit <= 0x200a) ||
    unit === 0x2028 ||
    unit === 0x2029 ||
    unit === 0x202f ||
    unit === 0x205f
  );
}

/** Returns the first offset from `at` on that is not white space; `end` if there is none. */
export function skipSpace(text: string, at: number, end = text.length): number {
  let i = at;
  while (i < end && isSpace(text.charCodeAt(i))) i++;
  return i;
}

/** Returns `end` moved back over white space, at least `start`. */
export function trimEnd(text: string, start: number, end: number): number {
  let i = end;
  while (i > start && isSpace(text.charCodeAt(i - 1))) i--;
  return i;
}
