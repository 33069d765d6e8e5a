/** The part of OData's $filter that the emulated mailbox supports; other filters are refused. */

/** The properties of a message that a filter can match. */
interface Filtered {
  readonly received: string;
  readonly from?: string;
  readonly categories?: readonly string[];
  readonly flagged?: boolean;
  readonly read?: boolean;
}
type Test = (message: Filtered) => boolean;

const unquote = (text: string): string => text.slice(1, -1).replaceAll("''", "'");

const CONDITIONS: readonly (readonly [RegExp, (given: string) => Test])[] = [
  [
    /^categories\/any\(\w+:\w+ eq ('(?:[^']|'')*')\)/,
    (given) =>
      ({ categories = [] }) =>
        categories.includes(unquote(given)),
  ],
  [
    /^receivedDateTime ge ([\dT:Z-]+)/,
    (given) =>
      ({ received }) =>
        received >= given,
  ],
  [
    /^receivedDateTime lt ([\dT:Z-]+)/,
    (given) =>
      ({ received }) =>
        received < given,
  ],
  [
    /^flag\/flagStatus eq ('flagged')/,
    () =>
      ({ flagged = false }) =>
        flagged,
  ],
  [
    /^isRead eq (true|false)/,
    (given) =>
      ({ read = false }) =>
        String(read) === given,
  ],
  [
    /^from\/emailAddress\/address eq ('(?:[^']|'')*')/,
    (given) =>
      ({ from = '' }) =>
        from.toLowerCase() === unquote(given).toLowerCase(),
  ],
];

/** Parses a filter into a predicate. @returns null for an unsupported filter */
export function readFilter(filter: string): Test | null {
  let remaining = filter;
  const take = (pattern: RegExp): string | null => {
    const found = pattern.exec(remaining);
    if (!found) return null;
    remaining = remaining.slice(found[0].length);
    return found[1] ?? found[0];
  };
  const readOne = (): Test | null => {
    if (take(/^\(/) !== null) {
      const inner = readAll();
      return take(/^\)/) === null ? null : inner;
    }
    for (const [pattern, make] of CONDITIONS) {
      const literal = take(pattern);
      if (literal !== null) return make(literal);
    }
    return null;
  };
  const readAll = (): Test | null => {
    const tests: (Test | null)[] = [readOne()];
    const joins = new Set<string>();
    for (let join = take(/^ (and|or) /); join !== null; join = take(/^ (and|or) /)) {
      joins.add(join);
      tests.push(readOne());
    }
    // Mixing `and` and `or` without parentheses is refused: it would rely on operator precedence.
    if (joins.size > 1 || tests.includes(null)) return null;
    const whole = tests as Test[];
    return joins.has('or')
      ? (message) => whole.some((test) => test(message))
      : (message) => whole.every((test) => test(message));
  };
  const test = readAll();
  return remaining === '' ? test : null;
}
