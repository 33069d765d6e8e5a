/** Filters for Gmail messages: the supported conditions, and the item id of a filter. */
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
  /** Selects messages that do not meet the condition. */
  readonly negate?: true;
}
export type GmailFilter = FilterTree<GmailCondition>;

const DATE = /^\d{4}\/\d{1,2}\/\d{1,2}$/;
/** Accepted values per key: a list, or a pattern. */
const KEYS = {
  label: /^[^"\p{Cc}]{1,225}$/u,
  after: DATE,
  before: DATE,
  is: ['starred', 'important', 'snoozed', 'unread', 'read'],
  from: /^[^"\p{Cc}]{1,320}$/u,
  to: /^[^"\p{Cc}]{1,320}$/u,
  // Spam and trash are never ingested.
  in: ['sent', 'inbox', 'drafts', 'archive'],
  has: ['attachment'],
} as const satisfies Record<string, RegExp | readonly string[]>;
export type GmailKey = keyof typeof KEYS;

/** Maximum length of a filter's id, which becomes part of a URL. */
const MAX_ID_LENGTH = 6_000;

const readCondition: ReadCondition<GmailCondition> = (given, path) => {
  const { key, value, negate = false, ...more } = given;
  const [unknown] = Object.keys(more);
  if (unknown !== undefined)
    throw new FilterError([...path, unknown], 'A condition can have only key, value and negate');
  if (typeof key !== 'string' || !Object.hasOwn(KEYS, key))
    throw new FilterError([...path, 'key'], `Give one of ${Object.keys(KEYS).join(', ')}; or AND or OR with a list`);
  if (typeof negate !== 'boolean') throw new FilterError([...path, 'negate'], 'Give true or false');
  const name = key as GmailKey;
  const allowed: RegExp | readonly string[] = KEYS[name];
  const text = typeof value === 'string' ? value.trim() : '';
  const isList = !(allowed instanceof RegExp);
  const normalized = isList ? text.toLowerCase() : text;
  const isDate = allowed === DATE;
  if (isList ? !allowed.includes(normalized) : !allowed.test(normalized))
    throw new FilterError(
      [...path, 'value'],
      isList
        ? `Give one of ${allowed.join(', ')}`
        : isDate
          ? 'Give a date as YYYY/mm/dd'
          : `Give a text without quotation marks, of at most ${name === 'label' ? 225 : 320} characters`,
    );
  if (isDate && dayOf(normalized) === null) throw new FilterError([...path, 'value'], 'This date does not exist');
  return { key: name, value: normalized, ...(negate ? { negate } : {}) };
};

/** Parses a caller's filter; an empty object selects every message. @throws FilterError */
export function readGmailFilter(given: unknown): GmailFilter | null {
  const filter = readFilterTree(given, readCondition);
  if (idOfGmailFilter(filter).length > MAX_ID_LENGTH) throw new FilterError([], 'Give fewer or shorter conditions');
  return filter;
}

/** Returns the item id of a filter. Equal filters have equal ids. */
export const idOfGmailFilter = (filter: GmailFilter | null): string => idOfSelection(filter ?? {});

/** Parses the filter from an item id and validates it again; undefined for any other id. */
export function gmailFilterOf(externalId: string): GmailFilter | null | undefined {
  if (!isSelection(externalId) || externalId.length > MAX_ID_LENGTH) return undefined;
  try {
    return readGmailFilter(selectionOf(externalId));
  } catch {
    return undefined;
  }
}
