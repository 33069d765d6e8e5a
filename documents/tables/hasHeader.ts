/**
 * Whether the first of some rows names the columns. It does not where it is the only one, or has a number or date in a
 * column that holds nothing else below: names of columns are words. Years are names too, where other cells are words.
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
