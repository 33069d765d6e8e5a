/**
 * Maximum number of cells of a title row: a title has one cell, and a line such as "Date: 2024" above a wide table has
 * two.
 */
const MAX_TITLE_CELLS = 2;

/**
 * Returns the index of the row with the column names; null if there is none. Rows above it with few cells are titles
 * of the table.
 */
export function findHeader(rows: readonly (readonly string[])[]): number | null {
  const counts = rows.map((row) => row.filter((cell) => cell.trim() !== '').length);
  const widest = Math.max(0, ...counts);
  const first = widest < 2 ? 0 : counts.findIndex((count) => count > widest / 2);
  const areTitles = counts.slice(0, first).every((count) => count <= MAX_TITLE_CELLS);
  if (first > 0 && areTitles && hasHeader(rows.slice(first))) return first;
  return hasHeader(rows) ? 0 : null;
}

/**
 * Whether the first row contains column names. It does not if it is the only row, or has a number or date in a column
 * with only such values below: names are words. Years count as names if the other cells are words.
 */
export function hasHeader(rows: readonly (readonly string[])[]): boolean {
  const [first, ...rest] = rows;
  if (first === undefined || rest.length === 0) return false;
  if (!first.some((cell) => cell.trim() !== '' && !isData(cell))) return false;
  return !first.some((cell, column) => {
    if (!isData(cell) || isYear(cell)) return false;
    const below = rest.map((row) => row[column] ?? '').filter((value) => value.trim() !== '');
    return below.length > 0 && below.every(isData);
  });
}

/**
 * Whether the first row is a header beyond doubt: it has only words, at least two, and a column has only numbers or
 * dates below its name. Decides whether the rows after an empty row begin another table, and whether a header with
 * merged cells has a second row.
 */
export function isClearHeader(rows: readonly (readonly string[])[]): boolean {
  const [first = [], ...rest] = rows;
  const names = [...first.entries()].filter(([, cell]) => cell.trim() !== '');
  if (names.length < 2 || names.some(([, cell]) => isData(cell))) return false;
  return names.some(([column]) => {
    const below = rest.map((row) => row[column] ?? '').filter((value) => value.trim() !== '');
    return below.length > 0 && below.every(isData);
  });
}

const isData = (cell: string): boolean => {
  const value = cell.trim();
  return NUMBER.test(value) || DATE.test(value);
};

const isYear = (cell: string): boolean => /^(?:19|20)\d\d$/.test(cell.trim());

const NUMBER = /^\(?[-+]?[$€£¥]?\s?[-+]?\d[\d\s.,']*(?:e[-+]?\d+)?\s?[%$€£¥]?\)?$/i;
const DATE = /^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[T ]\d.*)?$/;
