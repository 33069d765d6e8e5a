/** Characters of MCP_MAX_RESULT_CHARACTERS that are reserved for the parts of a result other than its items. */
const RESERVED_CHARACTERS = 1_000;

const sizeOf = (value: unknown): number => JSON.stringify(value).length;

/** Returns a beginning of the text that has at most `max` characters as JSON, and does not divide a surrogate pair. */
export function cutText(text: string, max: number): string {
  let end = Math.min(text.length, Math.max(0, max));
  // Escapes make a text up to six times as long.
  for (let size = sizeOf(text.slice(0, end)); end > 0 && size - 2 > max; size = sizeOf(text.slice(0, end)))
    end = Math.max(0, Math.min(end - 1, Math.floor((end * max) / size)));
  const last = text.charCodeAt(end - 1);
  return text.slice(0, last >= 0xd8_00 && last <= 0xdb_ff && end < text.length ? end - 1 : end);
}

/** Returns the number of characters that the items of a result may have. */
export const capacityOf = (maxCharacters: number): number => maxCharacters - RESERVED_CHARACTERS;

/** Returns the first items that fit. @param shorten shortens the first item if it does not fit by itself */
export function firstThatFit<T>(
  items: readonly T[],
  maxCharacters: number,
  shorten: (item: T, max: number) => T = (item) => item,
): T[] {
  let capacity = capacityOf(maxCharacters);
  const fitting: T[] = [];
  for (const item of items) {
    const size = sizeOf(item) + 1;
    if (size > capacity) {
      if (fitting.length === 0) fitting.push(shorten(item, capacity));
      break;
    }
    fitting.push(item);
    capacity -= size;
  }
  return fitting;
}
