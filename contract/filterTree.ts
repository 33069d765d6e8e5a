/** Conditions joined by AND and OR, as callers write them who select mail by what it is. */

export type FilterTree<Condition> =
  | Condition
  | { readonly AND: readonly FilterTree<Condition>[] }
  | { readonly OR: readonly FilterTree<Condition>[] };

/** Groups in groups at most; each condition is one of so many. */
const MOST_LEVELS = 5;
const MOST_CONDITIONS = 50;

type Path = readonly (string | number)[];

/** What is wrong with a filter, and where in it. */
export class FilterError extends Error {
  readonly path: Path;

  constructor(path: Path, message: string) {
    super(message);
    this.path = path;
  }
}

/** Reads one condition, which is given with where it stands. Throws a FilterError. */
export type ReadCondition<Condition> = (given: Readonly<Record<string, unknown>>, path: Path) => Condition;

const isObject = (given: unknown): given is Readonly<Record<string, unknown>> =>
  typeof given === 'object' && given !== null && !Array.isArray(given);

/** What a caller gave as a filter; null for an empty object, which asks for everything. @throws FilterError */
export function readFilterTree<Condition>(
  given: unknown,
  readCondition: ReadCondition<Condition>,
): FilterTree<Condition> | null {
  let conditions = 0;
  const readNode = (node: unknown, path: Path, level: number): FilterTree<Condition> => {
    if (!isObject(node)) throw new FilterError(path, 'Give an object with a key and a value, or with AND or OR');
    const joints = (['AND', 'OR'] as const).filter((joint) => Object.hasOwn(node, joint));
    const [joint] = joints;
    if (joint === undefined) {
      conditions += 1;
      if (conditions > MOST_CONDITIONS) throw new FilterError(path, `Give ${MOST_CONDITIONS} conditions at most`);
      return readCondition(node, path);
    }
    if (Object.keys(node).length > 1)
      throw new FilterError(path, 'Beside AND or OR there is nothing else in an object');
    const members = node[joint];
    if (!Array.isArray(members) || members.length === 0)
      throw new FilterError([...path, joint], 'Give a list of conditions');
    if (level >= MOST_LEVELS) throw new FilterError(path, `Put groups ${MOST_LEVELS} levels deep at most`);
    const inner = members.map((member: unknown, index) => readNode(member, [...path, joint, index], level + 1));
    return joint === 'AND' ? { AND: inner } : { OR: inner };
  };
  return isObject(given) && Object.keys(given).length === 0 ? null : readNode(given, [], 0);
}

/** The day that YYYY/mm/dd means, as YYYY-mm-dd; null where it means none. Days may be written with one figure, and with dashes. */
export function dayOf(value: string): string | null {
  const [, year, month = '', day = ''] = /^(\d{4})[/-](\d{1,2})[/-](\d{1,2})$/.exec(value.trim()) ?? [];
  if (year === undefined) return null;
  const text = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text) ? text : null;
}

const PREFIX = 'filter:';

/** What a selection is called as an item: what it finds lies below it. The same selection has the same id. */
export const idOfSelection = (selection: unknown): string =>
  `${PREFIX}${Buffer.from(JSON.stringify(selection)).toString('base64url')}`;

export const isSelection = (externalId: string): boolean => externalId.startsWith(PREFIX);

/** What such an id says, not read yet: whoever brings it may have written it by hand. @throws SyntaxError where it says nothing */
export const selectionOf = (externalId: string): unknown =>
  JSON.parse(Buffer.from(externalId.slice(PREFIX.length), 'base64url').toString());
