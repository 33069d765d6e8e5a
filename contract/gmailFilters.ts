/** Which messages of Gmail a caller means: the conditions there are, and what such a query is called as an item. */
import {
  dayOf,
  FilterError,
  type FilterTree,
  idOfSelection,
  isSelection,
  type ReadCondition,
  readFilterTree,
  selectionOf,
} from './filterTree.js';

export interface GmailCondition {
  readonly key: GmailKey;
  readonly value: string;
  /** What does not meet it is meant. */
  readonly negate?: true;
}
export type GmailFilter = FilterTree<GmailCondition>;

const DATE = /^\d{4}\/\d{1,2}\/\d{1,2}$/;
/** Values that a key takes: these, or what a pattern lets through. */
const KEYS = {
  label: /^[^"\p{Cc}]{1,225}$/u,
  after: DATE,
  before: DATE,
  is: ['starred', 'important', 'snoozed', 'unread', 'read'],
  from: /^[^"\p{Cc}]{1,320}$/u,
  to: /^[^"\p{Cc}]{1,320}$/u,
  // What lies in spam and in the trash is not taken in.
  in: ['sent', 'inbox', 'drafts', 'archive'],
  has: ['attachment'],
} as const satisfies Record<string, RegExp | readonly string[]>;
export type GmailKey = keyof typeof KEYS;

/** Longest id of a query: it becomes part of an address. */
const MOST_LETTERS = 6_000;

const readCondition: ReadCondition<GmailCondition> = (given, path) => {
  const { key, value, negate = false, ...more } = given;
  const [unknown] = Object.keys(more);
  if (unknown !== undefined)
    throw new FilterError([...path, unknown], 'A condition has a key, a value and negate, no more');
  if (typeof key !== 'string' || !Object.hasOwn(KEYS, key))
    throw new FilterError([...path, 'key'], `Give one of ${Object.keys(KEYS).join(', ')}; or AND or OR with a list`);
  if (typeof negate !== 'boolean') throw new FilterError([...path, 'negate'], 'Give true or false');
  const name = key as GmailKey;
  const allowed: RegExp | readonly string[] = KEYS[name];
  const text = typeof value === 'string' ? value.trim() : '';
  const isList = !(allowed instanceof RegExp);
  const meant = isList ? text.toLowerCase() : text;
  const isDate = allowed === DATE;
  if (isList ? !allowed.includes(meant) : !allowed.test(meant))
    throw new FilterError(
      [...path, 'value'],
      isList
        ? `Give one of ${allowed.join(', ')}`
        : isDate
          ? 'Give a date as YYYY/mm/dd'
          : 'Give a text without quotation marks, of a reasonable length',
    );
  if (isDate && dayOf(meant) === null) throw new FilterError([...path, 'value'], 'There is no such day');
  return { key: name, value: meant, ...(negate ? { negate } : {}) };
};

/** What a caller gave as a filter; an empty object means every message. @throws FilterError */
export function readGmailFilter(given: unknown): GmailFilter | null {
  const filter = readFilterTree(given, readCondition);
  if (idOfGmailFilter(filter).length > MOST_LETTERS) throw new FilterError([], 'Give fewer or shorter conditions');
  return filter;
}

/** The query as an item. The same query has the same id. */
export const idOfGmailFilter = (filter: GmailFilter | null): string => idOfSelection(filter ?? {});

/** The query of such an id, read as carefully as when it was given; undefined for any other id. */
export function gmailFilterOf(externalId: string): GmailFilter | null | undefined {
  if (!isSelection(externalId) || externalId.length > MOST_LETTERS) return undefined;
  try {
    return readGmailFilter(selectionOf(externalId));
  } catch {
    return undefined;
  }
}
