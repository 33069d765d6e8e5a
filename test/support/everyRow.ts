/** Checks a rule for every row of a table in one test. */

interface RowOptions {
  /** Number of rows checked concurrently. Default: 1, which checks them in order. */
  readonly atOnce?: number;
}

/** Maximum length of a row's failure in characters: all rows of a large table can fail. */
const MAX_SHOWN = 1_500;

const messageOf = (error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error);
  return message.length > MAX_SHOWN ? `${message.slice(0, MAX_SHOWN)}…` : message;
};

/**
 * Checks a rule for every row, even after failures. Throws an error that names every row that breaks the rule, with its
 * failure. An empty table fails too, because it would prove nothing.
 * @param nameOf returns the name of a row for that error
 */
export async function everyRow<Row>(
  rows: readonly Row[],
  nameOf: (row: Row) => string,
  rule: (row: Row, index: number) => unknown,
  { atOnce = 1 }: RowOptions = {},
): Promise<void> {
  if (rows.length === 0) throw new Error('The table has no rows');
  const failures = new Map<number, string>();
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < rows.length; index = next++)
      try {
        await rule(rows[index]!, index);
      } catch (error) {
        failures.set(index, `${nameOf(rows[index]!)}: ${messageOf(error)}`);
      }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  if (failures.size === 0) return;
  const inOrder = [...failures].toSorted(([a], [b]) => a - b).map(([, failure]) => failure);
  throw new Error(`${failures.size} of ${rows.length} rows break the rule:\n\n${inOrder.join('\n\n')}`);
}
