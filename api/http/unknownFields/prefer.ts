export const PREFER_HEADER = 'prefer';
export const PREFERENCE_APPLIED_HEADER = 'preference-applied';
/** The preference that this server applies. */
export const STRICT = 'handling=strict';

/**
 * Returns whether a request prefers that unknown fields are refused: `Prefer: handling=strict`. If a preference is
 * repeated, its first value is used (https://www.rfc-editor.org/rfc/rfc7240#section-2).
 */
export function prefersStrict(header: string | readonly string[] | undefined): boolean {
  const text = typeof header === 'string' ? header : (header ?? []).join(',');
  // Commas within quotes do not separate preferences.
  for (const part of text.match(/(?:[^",]|"[^"]*"?)+/g) ?? []) {
    // Parameters after `;` have no meaning here.
    const [preference = ''] = part.split(';', 1);
    const [name = '', value = ''] = preference.split('=', 2).map((word) => word.trim().toLowerCase());
    if (name === 'handling') return value === 'strict' || value === '"strict"';
  }
  return false;
}
