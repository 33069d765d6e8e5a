import { dayOf } from '../../../contract/sources/filterTree.js';
import type { OutlookFilter } from '../../../contract/sources/outlookQuery.js';

/** A text as OData writes it: a quote within is written twice. */
const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Each condition in the words of Graph's messages. Days begin at midnight UTC; the day of `after` is in, that of `before` is not. */
const CONDITIONS: Readonly<Record<Extract<OutlookFilter, { key: unknown }>['key'], (value: string) => string>> = {
  category: (value) => `categories/any(category:category eq ${quoted(value)})`,
  after: (value) => `receivedDateTime ge ${dayOf(value)}T00:00:00Z`,
  before: (value) => `receivedDateTime lt ${dayOf(value)}T00:00:00Z`,
  is: (value) =>
    value === 'flagged' ? "flag/flagStatus eq 'flagged'" : `isRead eq ${value === 'read' ? 'true' : 'false'}`,
  from: (value) => `from/emailAddress/address eq ${quoted(value.trim())}`,
};

/** A tree of conditions as the $filter of a listing of messages. */
export function odataFilter(filter: OutlookFilter): string {
  if ('key' in filter) return CONDITIONS[filter.key](filter.value);
  const [members, join] = 'AND' in filter ? [filter.AND, ' and '] : [filter.OR, ' or '];
  const parts = members.map(odataFilter);
  return parts.length === 1 ? (parts[0] ?? '') : `(${parts.join(join)})`;
}
