import { dayOf } from '../../../contract/sources/filterTree.js';
import type { OutlookFilter } from '../../../contract/sources/outlookQuery.js';

/** Quotes a text for OData, which doubles single quotes. */
const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** OData conditions by filter key. Days begin at midnight UTC; `after` includes its day, `before` excludes it. */
const CONDITIONS: Readonly<Record<Extract<OutlookFilter, { key: unknown }>['key'], (value: string) => string>> = {
  category: (value) => `categories/any(category:category eq ${quoted(value)})`,
  after: (value) => `receivedDateTime ge ${dayOf(value)}T00:00:00Z`,
  before: (value) => `receivedDateTime lt ${dayOf(value)}T00:00:00Z`,
  is: (value) =>
    value === 'flagged' ? "flag/flagStatus eq 'flagged'" : `isRead eq ${value === 'read' ? 'true' : 'false'}`,
  from: (value) => `from/emailAddress/address eq ${quoted(value.trim())}`,
};

/** Converts a tree of conditions to the $filter of a message listing. */
export function odataFilter(filter: OutlookFilter): string {
  if ('key' in filter) return CONDITIONS[filter.key](filter.value);
  const [members, join] = 'AND' in filter ? [filter.AND, ' and '] : [filter.OR, ' or '];
  const parts = members.map(odataFilter);
  return parts.length === 1 ? (parts[0] ?? '') : `(${parts.join(join)})`;
}
