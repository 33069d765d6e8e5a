/** A selection of mails by what they are: what a caller of /integrations/outlook/sync writes, and the external id that says it. */

/** The conditions that a tree is made of. */
export const OUTLOOK_KEYS = ['category', 'after', 'before', 'is', 'from'] as const;
export type OutlookKey = (typeof OUTLOOK_KEYS)[number];

/** What `is` may ask for. */
export const OUTLOOK_STATES = ['flagged', 'unread', 'read'] as const;

export interface OutlookCondition {
  readonly key: OutlookKey;
  readonly value: string;
}
export type OutlookFilter =
  | OutlookCondition
  | { readonly AND: readonly OutlookFilter[] }
  | { readonly OR: readonly OutlookFilter[] };

/** Mails of one folder. */
export interface OutlookQuery {
  /** The id of the folder. */
  readonly folder: string;
  /** Null: all that lies in the folder. */
  readonly filter: OutlookFilter | null;
  /** Whether what is attached to the mails becomes files too. */
  readonly attachments: boolean;
}

const MAX_DEPTH = 5;
const MAX_CONDITIONS = 50;
const MAX_VALUE = 300;
/** Longest id of an item. */
const MAX_ID = 2_048;
const PREFIX = 'filter:';

/** What is wrong with a tree, and where in it. */
export class OutlookFilterError extends Error {
  readonly path: readonly (string | number)[];

  constructor(path: readonly (string | number)[], message: string) {
    super(message);
    this.path = path;
  }
}

/** The day that YYYY/mm/dd means, as YYYY-mm-dd; null where it means none. Days may be written with one figure, and with dashes. */
export function dayOf(value: string): string | null {
  const [, year, month = '', day = ''] = /^(\d{4})[/-](\d{1,2})[/-](\d{1,2})$/.exec(value.trim()) ?? [];
  if (year === undefined) return null;
  const text = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text) ? text : null;
}

type Place = readonly (string | number)[];

function readCondition(given: Record<string, unknown>, place: Place): OutlookCondition {
  const { key, value } = given;
  const known = OUTLOOK_KEYS.find((one) => one === key);
  if (known === undefined) throw new OutlookFilterError([...place, 'key'], `Must be one of ${OUTLOOK_KEYS.join(', ')}`);
  const at = [...place, 'value'];
  if (typeof value !== 'string' || value.trim() === '' || value.length > MAX_VALUE)
    throw new OutlookFilterError(at, `Must be a text of 1 to ${MAX_VALUE} characters`);
  if ((known === 'after' || known === 'before') && dayOf(value) === null)
    throw new OutlookFilterError(at, 'Must be a date as YYYY/mm/dd');
  if (known === 'is' && !OUTLOOK_STATES.some((state) => state === value))
    throw new OutlookFilterError(at, `Must be one of ${OUTLOOK_STATES.join(', ')}`);
  return { key: known, value };
}

/**
 * A tree of AND and OR over conditions {key, value}; `{}` asks for everything.
 * @throws OutlookFilterError
 */
export function readOutlookFilter(given: unknown): OutlookFilter | null {
  let conditions = 0;
  const read = (node: unknown, place: Place, depth: number): OutlookFilter => {
    if (typeof node !== 'object' || node === null || Array.isArray(node))
      throw new OutlookFilterError(place, 'Must be a condition {key, value}, or a list of them under AND or OR');
    const named = node as Record<string, unknown>;
    const joins = (['AND', 'OR'] as const).filter((join) => Object.hasOwn(named, join));
    const [join] = joins;
    if (join === undefined) {
      conditions += 1;
      if (conditions > MAX_CONDITIONS)
        throw new OutlookFilterError(place, `The filter has more than ${MAX_CONDITIONS} conditions`);
      return readCondition(named, place);
    }
    const members = named[join];
    if (joins.length > 1 || Object.hasOwn(named, 'key'))
      throw new OutlookFilterError(place, 'Give one of AND, OR or key');
    if (!Array.isArray(members) || members.length === 0 || members.length > MAX_CONDITIONS)
      throw new OutlookFilterError([...place, join], `Must be a list of 1 to ${MAX_CONDITIONS} conditions`);
    if (depth >= MAX_DEPTH)
      throw new OutlookFilterError([...place, join], `AND and OR may be nested ${MAX_DEPTH} deep`);
    const read1 = members.map((member, index) => read(member, [...place, join, index], depth + 1));
    return join === 'AND' ? { AND: read1 } : { OR: read1 };
  };
  const isEmpty = typeof given === 'object' && given !== null && Object.keys(given).length === 0;
  return isEmpty && !Array.isArray(given) ? null : read(given, [], 0);
}

/** The external id of a query; null where it would be too long. The same query has the same id. */
export function idOfOutlookQuery({ folder, filter, attachments }: OutlookQuery): string | null {
  const id = PREFIX + Buffer.from(JSON.stringify({ folder, filter, attachments })).toString('base64url');
  return id.length <= MAX_ID ? id : null;
}

export const isOutlookQuery = (externalId: string): boolean => externalId.startsWith(PREFIX);

/** What such an id says; null where it says nothing. Whoever brings it may have written it by hand. */
export function outlookQueryOf(externalId: string): OutlookQuery | null {
  try {
    const text = Buffer.from(externalId.slice(PREFIX.length), 'base64url').toString();
    const { folder, filter, attachments } = JSON.parse(text) as Record<string, unknown>;
    if (typeof folder !== 'string' || externalId.length > MAX_ID) return null;
    return { folder, filter: filter === null ? null : readOutlookFilter(filter), attachments: attachments === true };
  } catch {
    return null;
  }
}
