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

const isData = (cell: string): boolean => {
  const value = cell.trim();
  return NUMBER.test(value) || DATE.test(value);
};

const isYear = (cell: string): boolean => /^(?:19|20)\d\d$/.test(cell.trim());

const NUMBER = /^[-+]?[$€£¥]?\s?\d[\d\s.,']*(?:e[-+]?\d+)?\s?[%$€£¥]?$/i;
const DATE = /^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[T ]\d.*)?$/;
