/** Returns the date in the parts of a date group, as ISO 8601; null for an invalid one. */
export function dateOf([year = 0, month = 1, day = 1, hour = 0, minute = 0]: readonly number[]): string | null {
  if (year < 1900) return null;
  const date = new Date(Date.UTC(year, month - 1, day, hour, minute));
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
