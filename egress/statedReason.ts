/** Of a reason that is quoted. */
const MAX_CHARACTERS = 300;

/**
 * What an upstream says is wrong, in one line without a full stop; '' where it says nothing.
 * @param answer as it came
 * @param places where it may stand in its JSON, the best first
 */
export function statedReason(answer: string, places: (body: unknown) => readonly unknown[]): string {
  try {
    const said = places(JSON.parse(answer) as unknown).find((one) => typeof one === 'string');
    return String(said ?? '')
      .replace(/\s+/g, ' ')
      .trim()
      .replace(/\.$/, '')
      .slice(0, MAX_CHARACTERS);
  } catch {
    return '';
  }
}
