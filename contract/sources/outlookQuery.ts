/** A selection of mails: the request of /integrations/outlook/sync, and the external id that encodes it. */
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

/** Keys of the conditions in a filter. */
const OUTLOOK_KEYS = ['category', 'after', 'before', 'is', 'from'] as const;
export type OutlookKey = (typeof OUTLOOK_KEYS)[number];

/** Values of `is`. */
const OUTLOOK_STATES = ['flagged', 'unread', 'read'] as const;

export interface OutlookCondition {
  readonly key: OutlookKey;
  readonly value: string;
}
export type OutlookFilter = FilterTree<OutlookCondition>;

/** A selection of mails in one folder. */
export interface OutlookQuery {
  /** The id of the folder. */
  readonly folder: string;
  /** Null: the whole folder. */
  readonly filter: OutlookFilter | null;
  /** Whether attachments become files too. */
  readonly attachments: boolean;
}

const MAX_VALUE = 300;
/** Maximum length of an item id. */
const MAX_ID = 2_048;

const readCondition: ReadCondition<OutlookCondition> = ({ key, value, ...more }, path) => {
  const [unknown] = Object.keys(more);
  if (unknown !== undefined) throw new FilterError([...path, unknown], 'A condition can have only key and value');
  const conditionKey = OUTLOOK_KEYS.find((known) => known === key);
  if (conditionKey === undefined) throw new FilterError([...path, 'key'], `Must be one of ${OUTLOOK_KEYS.join(', ')}`);
  const valuePath = [...path, 'value'];
  if (typeof value !== 'string' || value.trim() === '' || value.length > MAX_VALUE)
    throw new FilterError(valuePath, `Must be a text of 1 to ${MAX_VALUE} characters`);
  if ((conditionKey === 'after' || conditionKey === 'before') && dayOf(value) === null)
    throw new FilterError(valuePath, 'Must be a date as YYYY/mm/dd');
  if (conditionKey === 'is' && !OUTLOOK_STATES.some((state) => state === value))
    throw new FilterError(valuePath, `Must be one of ${OUTLOOK_STATES.join(', ')}`);
  return { key: conditionKey, value };
};

/** Parses a tree of AND and OR over conditions {key, value}; `{}` selects everything. @throws FilterError */
export const readOutlookFilter = (given: unknown): OutlookFilter | null => readFilterTree(given, readCondition);

/** Returns the external id of a query; null if it would be too long. Equal queries have equal ids. */
export function idOfOutlookQuery({ folder, filter, attachments }: OutlookQuery): string | null {
  const id = idOfSelection({ folder, filter, attachments });
  return id.length <= MAX_ID ? id : null;
}

/** Parses the external id of a query; null if it is invalid. The caller may have written the id by hand. */
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
