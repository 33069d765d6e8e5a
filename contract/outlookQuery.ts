/** A selection of mails by what they are: what a caller of /integrations/outlook/sync writes, and the external id that says it. */
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

/** The conditions that a tree is made of. */
const OUTLOOK_KEYS = ['category', 'after', 'before', 'is', 'from'] as const;
export type OutlookKey = (typeof OUTLOOK_KEYS)[number];

/** What `is` may ask for. */
const OUTLOOK_STATES = ['flagged', 'unread', 'read'] as const;

export interface OutlookCondition {
  readonly key: OutlookKey;
  readonly value: string;
}
export type OutlookFilter = FilterTree<OutlookCondition>;

/** Mails of one folder. */
export interface OutlookQuery {
  /** The id of the folder. */
  readonly folder: string;
  /** Null: all that lies in the folder. */
  readonly filter: OutlookFilter | null;
  /** Whether what is attached to the mails becomes files too. */
  readonly attachments: boolean;
}

const MAX_VALUE = 300;
/** Longest id of an item. */
const MAX_ID = 2_048;

const readCondition: ReadCondition<OutlookCondition> = ({ key, value }, path) => {
  const known = OUTLOOK_KEYS.find((one) => one === key);
  if (known === undefined) throw new FilterError([...path, 'key'], `Must be one of ${OUTLOOK_KEYS.join(', ')}`);
  const at = [...path, 'value'];
  if (typeof value !== 'string' || value.trim() === '' || value.length > MAX_VALUE)
    throw new FilterError(at, `Must be a text of 1 to ${MAX_VALUE} characters`);
  if ((known === 'after' || known === 'before') && dayOf(value) === null)
    throw new FilterError(at, 'Must be a date as YYYY/mm/dd');
  if (known === 'is' && !OUTLOOK_STATES.some((state) => state === value))
    throw new FilterError(at, `Must be one of ${OUTLOOK_STATES.join(', ')}`);
  return { key: known, value };
};

/** A tree of AND and OR over conditions {key, value}; `{}` asks for everything. @throws FilterError */
export const readOutlookFilter = (given: unknown): OutlookFilter | null => readFilterTree(given, readCondition);

/** The external id of a query; null where it would be too long. The same query has the same id. */
export function idOfOutlookQuery({ folder, filter, attachments }: OutlookQuery): string | null {
  const id = idOfSelection({ folder, filter, attachments });
  return id.length <= MAX_ID ? id : null;
}

/** What such an id says; null where it says nothing. Whoever brings it may have written it by hand. */
export function outlookQueryOf(externalId: string): OutlookQuery | null {
  if (!isSelection(externalId) || externalId.length > MAX_ID) return null;
  try {
    const { folder, filter, attachments } = selectionOf(externalId) as Record<string, unknown>;
    if (typeof folder !== 'string') return null;
    return { folder, filter: filter === null ? null : readOutlookFilter(filter), attachments: attachments === true };
  } catch {
    return null;
  }
}
