/** Converts the letters of a reference like `AB12` to a column number from 0; null if there are none. */
export function columnOf(reference: string | undefined): number | null {
  const letters = /^\$?([A-Z]{1,3})/i.exec(reference ?? '')?.[1];
  if (letters === undefined) return null;
  let column = 0;
  for (const letter of letters.toUpperCase()) column = column * 26 + letter.charCodeAt(0) - 64;
  return column - 1;
}
