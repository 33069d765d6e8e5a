import { dayOf } from '../../../contract/sources/filterTree.js';
import type { GmailCondition, GmailFilter } from '../../../contract/sources/gmailFilters.js';

/** Returns the start of a day in UTC, in seconds since 1970. Gmail would read a date as a day in California. */
const secondsOf = (date: string): number => Date.parse(`${dayOf(date)}T00:00:00Z`) / 1000;

/** Quotes everything except plain words, so that no character has a special meaning. */
const quoted = (text: string): string => (/^[\p{L}\p{N}_.@+][\p{L}\p{N}_.@+-]*$/u.test(text) ? text : `"${text}"`);

const CATEGORY = /^CATEGORY_(\w+)$/i;

/** Returns the term for a label. Gmail's search treats white space and `/&(){}|` in label names like `-`. */
function labelTerm(name: string): string {
  const category = CATEGORY.exec(name)?.[1]?.toLowerCase();
  if (category !== undefined) return `category:${category === 'personal' ? 'primary' : category}`;
  return `label:${quoted(name.replaceAll(/[\s/&(){}|]/g, '-'))}`;
}

function term({ key, value, negate }: GmailCondition): string {
  const sign = negate ? '-' : '';
  if (key === 'after' || key === 'before') return `${sign}${key}:${secondsOf(value)}`;
  if (key === 'label') return `${sign}${labelTerm(value)}`;
  return `${sign}${key}:${quoted(value)}`;
}

function node(filter: GmailFilter, isInner: boolean): string {
  if ('key' in filter) return term(filter);
  const isAll = 'AND' in filter;
  const members = (isAll ? filter.AND : filter.OR).map((member) => node(member, true));
  const [only] = members;
  if (members.length === 1 && only !== undefined) return only;
  const joined = members.join(' ');
  if (!isAll) return `{${joined}}`;
  return isInner ? `(${joined})` : joined;
}

/** A filter in Gmail's search language; '' for every message. https://support.google.com/mail/answer/7190 */
export const gmailQuery = (filter: GmailFilter | null): string => (filter === null ? '' : node(filter, false));
