/** Rules that hold for every row of a table, as one test each. */

interface RowOptions {
  /** Rows checked at once; 1 keeps them in order. */
  readonly atOnce?: number;
}

/** Longest part of a failure that is shown for a row: a table of hundreds may fail as a whole. */
const MAX_SHOWN = 1_500;

const messageOf = (error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error);
  return message.length > MAX_SHOWN ? `${message.slice(0, MAX_SHOWN)}…` : message;
};

/**
 * Checks a rule for each row, to the last one. Throws an error that names every row that breaks the rule, with its failure;
 * also for a table without rows, which would prove nothing.
 * @param nameOf names a row in that error
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
