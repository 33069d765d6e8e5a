/** Maximum length of a name for which a similar name is searched, since the search time grows with its square. */
const MAX_NAME = 64;

/** Returns a name in lower case with underscores: `maxPages` and `max-pages` become `max_pages`. */
const plain = (name: string): string =>
  name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase();

/** Returns the number of letters to insert, delete, replace or swap with a neighbour (optimal string alignment). */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isEqual = a[i - 1] === b[j - 1];
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(
        Math.min(
          (last[j] ?? 0) + 1,
          (row[j - 1] ?? 0) + 1,
          (last[j - 1] ?? 0) + (isEqual ? 0 : 1),
          isSwapped ? (before[j - 2] ?? 0) + 1 : Infinity,
        ),
      );
    }
    before = last;
    last = row;
  }
  return last[b.length] ?? 0;
}

/** Returns whether one name consists of the first or last words of the other: `max_pages` of `max_pages_to_scrape`. */
const isPartOf = (a: string, b: string): boolean => b.startsWith(`${a}_`) || b.endsWith(`_${a}`);

/** Returns the known name that the caller probably meant; null if none is similar enough. */
export function nearestName(name: string, knownNames: readonly string[]): string | null {
  if (name.length > MAX_NAME) return null;
  const plainName = plain(name);
  const maxDistance = Math.max(1, Math.floor(plainName.length / 3));
  let nearest: { readonly name: string; readonly distanceToName: number } | null = null;
  for (const candidate of knownNames) {
    const plainCandidate = plain(candidate);
    const isPart = isPartOf(plainName, plainCandidate) || isPartOf(plainCandidate, plainName);
    if (!isPart && Math.abs(plainCandidate.length - plainName.length) > maxDistance) continue;
    // A match of a part has the largest allowed distance, so a misspelling is preferred.
    const distanceToName = isPart ? maxDistance : distance(plainName, plainCandidate);
    if (distanceToName <= maxDistance && (nearest === null || distanceToName < nearest.distanceToName))
      nearest = { name: candidate, distanceToName };
  }
  return nearest?.name ?? null;
}
