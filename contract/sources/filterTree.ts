/** Conditions combined by AND and OR, with which callers select mail. */

export type FilterTree<Condition> =
  | Condition
  | { readonly AND: readonly FilterTree<Condition>[] }
  | { readonly OR: readonly FilterTree<Condition>[] };

/** Maximum depth of nested groups, and maximum number of conditions in total. */
const MAX_LEVELS = 5;
const MAX_CONDITIONS = 50;

type Path = readonly (string | number)[];

/** An invalid filter: the message, and the path to the invalid part. */
export class FilterError extends Error {
  readonly path: Path;

  constructor(path: Path, message: string) {
    super(message);
    this.path = path;
  }
}

/** Parses one condition at a path. Throws a FilterError. */
export type ReadCondition<Condition> = (given: Readonly<Record<string, unknown>>, path: Path) => Condition;

const isObject = (given: unknown): given is Readonly<Record<string, unknown>> =>
  typeof given === 'object' && given !== null && !Array.isArray(given);

/** Parses a caller's filter; null for an empty object, which selects everything. @throws FilterError */
export function readFilterTree<Condition>(
  given: unknown,
  readCondition: ReadCondition<Condition>,
): FilterTree<Condition> | null {
  let conditions = 0;
  const readNode = (node: unknown, path: Path, level: number): FilterTree<Condition> => {
    if (!isObject(node)) throw new FilterError(path, 'Give an object with a key and a value, or with AND or OR');
    const operators = (['AND', 'OR'] as const).filter((operator) => Object.hasOwn(node, operator));
    const [operator] = operators;
    if (operator === undefined) {
      conditions += 1;
      if (conditions > MAX_CONDITIONS) throw new FilterError(path, `Give at most ${MAX_CONDITIONS} conditions`);
      return readCondition(node, path);
    }
    if (Object.keys(node).length > 1) throw new FilterError(path, 'An object with AND or OR can have no other key');
    const members = node[operator];
    if (!Array.isArray(members) || members.length === 0)
      throw new FilterError([...path, operator], 'Give a list of conditions');
    if (level >= MAX_LEVELS) throw new FilterError(path, `Nest groups at most ${MAX_LEVELS} levels deep`);
    const inner = members.map((member: unknown, index) => readNode(member, [...path, operator, index], level + 1));
    return operator === 'AND' ? { AND: inner } : { OR: inner };
  };
  return isObject(given) && Object.keys(given).length === 0 ? null : readNode(given, [], 0);
}

/**
 * Converts YYYY/mm/dd to YYYY-mm-dd; null if it is not a valid day. One-digit months and days, and dashes, are
 * accepted.
 */
export function dayOf(value: string): string | null {
  const [, year, month = '', day = ''] = /^(\d{4})[/-](\d{1,2})[/-](\d{1,2})$/.exec(value.trim()) ?? [];
  if (year === undefined) return null;
  const text = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text) ? text : null;
}

const PREFIX = 'filter:';

/** Returns the item id of a selection: its results are children of that item. Equal selections have equal ids. */
export const idOfSelection = (selection: unknown): string =>
  `${PREFIX}${Buffer.from(JSON.stringify(selection)).toString('base64url')}`;

export const isSelection = (externalId: string): boolean => externalId.startsWith(PREFIX);

/**
 * Parses the id of a selection. Callers may write such an id by hand, so the result is unchecked.
 * @throws SyntaxError if it is not JSON
 */
export const selectionOf = (externalId: string): unknown =>
  JSON.parse(Buffer.from(externalId.slice(PREFIX.length), 'base64url').toString());
