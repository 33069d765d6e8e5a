/** The part of OData's $filter that the emulated mailbox understands, read by itself: what it does not know is refused. */

/** What of a message can be asked for. */
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

/** @returns null for what is no filter that is known */
export function readFilter(filter: string): Test | null {
  let rest = filter;
  const take = (pattern: RegExp): string | null => {
    const found = pattern.exec(rest);
    if (!found) return null;
    rest = rest.slice(found[0].length);
    return found[1] ?? found[0];
  };
  const readOne = (): Test | null => {
    if (take(/^\(/) !== null) {
      const inner = readAll();
      return take(/^\)/) === null ? null : inner;
    }
    for (const [pattern, make] of CONDITIONS) {
      const given = take(pattern);
      if (given !== null) return make(given);
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
    // Who mixes them without brackets relies on which binds stronger.
    if (joins.size > 1 || tests.includes(null)) return null;
    const whole = tests as Test[];
    return joins.has('or') ? (one) => whole.some((test) => test(one)) : (one) => whole.every((test) => test(one));
  };
  const test = readAll();
  return rest === '' ? test : null;
}
