/** Maximum rows per batch. It bounds the memory, however many rows the cursor returns. */
const ROWS_PER_PART = 250;

/** Yields the rows of a cursor in batches. */
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
