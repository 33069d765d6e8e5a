/** Which messages of Gmail a caller means: conditions, joined by AND and OR, and what such a query is called as an item. */

export interface GmailCondition {
  readonly key: GmailKey;
  readonly value: string;
  /** What does not meet it is meant. */
  readonly negate?: true;
}
export type GmailFilter =
  | GmailCondition
  | { readonly AND: readonly GmailFilter[] }
  | { readonly OR: readonly GmailFilter[] };

/** Values that a key takes: these, or what a pattern lets through. */
const KEYS = {
  label: /^[^"\p{Cc}]{1,225}$/u,
  after: /^\d{4}\/\d{1,2}\/\d{1,2}$/,
  before: /^\d{4}\/\d{1,2}\/\d{1,2}$/,
  is: ['starred', 'important', 'snoozed', 'unread', 'read'],
  from: /^[^"\p{Cc}]{1,320}$/u,
  to: /^[^"\p{Cc}]{1,320}$/u,
  // What lies in spam and in the trash is not taken in.
  in: ['sent', 'inbox', 'drafts', 'archive'],
  has: ['attachment'],
} as const satisfies Record<string, RegExp | readonly string[]>;
export type GmailKey = keyof typeof KEYS;

/** Groups in groups at most; each condition is one of so many. */
const MOST_LEVELS = 5;
const MOST_CONDITIONS = 50;
/** Longest id of a query: it becomes part of an address. */
const MOST_LETTERS = 6_000;

/** Where a filter is wrong, and how. */
export interface WrongFilter {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

const isDate = (value: string): boolean => {
  const [year = 0, month = 0, day = 0] = value.split('/').map(Number);
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
};

class Wrong extends Error {
  readonly where: WrongFilter;
  constructor(path: readonly (string | number)[], message: string) {
    super(message);
    this.where = { path, message };
  }
}

function readCondition(given: Readonly<Record<string, unknown>>, path: readonly (string | number)[]): GmailCondition {
  const { key, value, negate = false, ...more } = given;
  const [unknown] = Object.keys(more);
  if (unknown !== undefined) throw new Wrong([...path, unknown], 'A condition has a key, a value and negate, no more');
  if (typeof key !== 'string' || !Object.hasOwn(KEYS, key))
    throw new Wrong([...path, 'key'], `Give one of ${Object.keys(KEYS).join(', ')}; or AND or OR with a list`);
  if (typeof negate !== 'boolean') throw new Wrong([...path, 'negate'], 'Give true or false');
  const name = key as GmailKey;
  const allowed: RegExp | readonly string[] = KEYS[name];
  const text = typeof value === 'string' ? value.trim() : '';
  const isList = !(allowed instanceof RegExp);
  const meant = isList ? text.toLowerCase() : text;
  if (isList ? !allowed.includes(meant) : !allowed.test(meant))
    throw new Wrong(
      [...path, 'value'],
      isList
        ? `Give one of ${allowed.join(', ')}`
        : name === 'after' || name === 'before'
          ? 'Give a date as YYYY/mm/dd'
          : 'Give a text without quotation marks, of a reasonable length',
    );
  if ((name === 'after' || name === 'before') && !isDate(meant))
    throw new Wrong([...path, 'value'], 'There is no such day');
  return { key: name, value: meant, ...(negate ? { negate } : {}) };
}

/** @param budget conditions that are still allowed; counted down */
function readNode(given: unknown, path: readonly (string | number)[], budget: { left: number }): GmailFilter {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new Wrong(path, 'Give an object with a key and a value, or with AND or OR');
  const node = given as Readonly<Record<string, unknown>>;
  const joints = (['AND', 'OR'] as const).filter((joint) => node[joint] !== undefined);
  const [joint] = joints;
  if (joint === undefined) {
    budget.left -= 1;
    if (budget.left < 0) throw new Wrong(path, `Give ${MOST_CONDITIONS} conditions at most`);
    return readCondition(node, path);
  }
  if (joints.length > 1 || Object.keys(node).length > 1)
    throw new Wrong(path, 'Beside AND or OR there is nothing else in an object');
  const members = node[joint];
  if (!Array.isArray(members) || members.length === 0) throw new Wrong([...path, joint], 'Give a list of conditions');
  if (path.length >= 2 * MOST_LEVELS) throw new Wrong(path, `Put groups ${MOST_LEVELS} levels deep at most`);
  const inner = members.map((member: unknown, index) => readNode(member, [...path, joint, index], budget));
  return joint === 'AND' ? { AND: inner } : { OR: inner };
}

/** What a caller gave as a filter; an empty object means every message. */
export function readGmailFilter(given: unknown): { filter: GmailFilter | null } | { wrong: WrongFilter } {
  if (typeof given === 'object' && given !== null && !Array.isArray(given) && Object.keys(given).length === 0)
    return { filter: null };
  try {
    const filter = readNode(given, [], { left: MOST_CONDITIONS });
    if (idOfGmailFilter(filter).length > MOST_LETTERS) throw new Wrong([], 'Give fewer or shorter conditions');
    return { filter };
  } catch (error) {
    if (error instanceof Wrong) return { wrong: error.where };
    throw error;
  }
}

const PREFIX = 'filter:';

/** The query as an item: what it finds lies below it. The same query has the same id. */
export const idOfGmailFilter = (filter: GmailFilter | null): string =>
  `${PREFIX}${Buffer.from(JSON.stringify(filter ?? {})).toString('base64url')}`;

/** The query of such an id, read as carefully as when it was given; undefined for any other id. */
export function gmailFilterOf(externalId: string): GmailFilter | null | undefined {
  if (!externalId.startsWith(PREFIX) || externalId.length > MOST_LETTERS) return undefined;
  try {
    const read = readGmailFilter(JSON.parse(Buffer.from(externalId.slice(PREFIX.length), 'base64url').toString()));
    return 'filter' in read ? read.filter : undefined;
  } catch {
    return undefined;
  }
}
