/** Maximum length of a quoted reason, in characters. */
const MAX_CHARACTERS = 300;

/**
 * Returns the reason that an upstream gives for an error, in one line without a full stop; '' if it gives none.
 * @param answer the raw response body
 * @param places the values of its JSON that may be the reason, the best first
 */
export function statedReason(answer: string, places: (body: unknown) => readonly unknown[]): string {
  try {
    const reason = places(JSON.parse(answer) as unknown).find(
      (value): value is string => typeof value === 'string' && value.trim() !== '',
    );
    return (reason ?? '').replace(/\s+/g, ' ').trim().replace(/\.$/, '').slice(0, MAX_CHARACTERS);
  } catch {
    return '';
  }
}
