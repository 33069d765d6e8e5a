/** Rows handed on at once, so that a page of any size takes bounded memory. */
const ROWS_PER_PART = 250;

/** The rows of a cursor, some at a time. */
export async function* inParts<T>(cursor: AsyncIterable<unknown>): AsyncIterable<T[]> {
  let part: T[] = [];
  for await (const row of cursor) {
    part.push(row as T);
    if (part.length === ROWS_PER_PART) {
      yield part;
      part = [];
    }
  }
  if (part.length > 0) yield part;
}
