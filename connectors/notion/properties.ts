/**
 * Reads the property values of a page or database row. https://developers.notion.com/reference/page-property-values
 */
import type { GrantClient } from '../accountClient.js';
import type { NotionObject } from './adapter.js';
import { fetchPage } from './api.js';
import { type Form, richText } from './richText.js';
import { asList, asObject, asText, type Json } from '../json.js';

/**
 * Maximum number of values per property in Notion's answer for a page. The values of a property that reaches it are
 * requested separately.
 */
const INLINE_VALUES = 25;
const MAX_VALUES = 1_000;
const LONG_KINDS: ReadonlySet<string> = new Set(['title', 'rich_text', 'people']);

/** Returns the properties of a page. Of a long property, the first MAX_VALUES values or slightly more are read. */
export async function columnsOf(
  client: GrantClient,
  page: NotionObject,
): Promise<readonly (readonly [name: string, value: Json])[]> {
  const columns: [string, Json][] = [];
  for (const [name, value] of Object.entries(asObject(page['properties']))) {
    const column = asObject(value);
    const kind = asText(column['type']) ?? '';
    const [pageId, columnId] = [asText(page['id']), asText(column['id'])];
    const isLong = LONG_KINDS.has(kind) && asList(column[kind]).length >= INLINE_VALUES;
    if (!isLong || pageId === null || columnId === null) {
      columns.push([name, column]);
      continue;
    }
    const values: unknown[] = [];
    for (let at: string | null | undefined; at !== null && values.length < MAX_VALUES;) {
      // Property ids are already percent-encoded in answers.
      const path = ['pages', pageId, 'properties', decodeURIComponent(columnId)];
      const part = await fetchPage(client, path, at ?? null);
      values.push(...part.values.map((one) => one[kind]));
      at = part.next;
    }
    columns.push([name, { ...column, [kind]: values }]);
  }
  return columns;
}

const nameOf = (value: unknown): string => asText(asObject(value)['name']) ?? '';
const joined = (texts: readonly string[]): string => texts.filter((text) => text !== '').join(', ');
function dateText(value: unknown): string {
  const { start, end } = asObject(value);
  return [asText(start), asText(end)].filter((text) => text !== null).join(' – ');
}

/** Text by type of property. Relations are ids of other pages, which a reader cannot use; buttons have no value. */
const TEXTS: Readonly<Record<string, (value: unknown, form: Form) => string>> = {
  title: richText,
  rich_text: richText,
  number: (value) => (typeof value === 'number' ? String(value) : ''),
  select: nameOf,
  status: nameOf,
  multi_select: (value) => joined(asList(value).map(nameOf)),
  people: (value) => joined(asList(value).map(nameOf)),
  files: (value) => joined(asList(value).map(nameOf)),
  date: dateText,
  checkbox: (value) => (value === true ? 'yes' : 'no'),
  url: (value) => asText(value) ?? '',
  email: (value) => asText(value) ?? '',
  phone_number: (value) => asText(value) ?? '',
  created_time: (value) => asText(value) ?? '',
  last_edited_time: (value) => asText(value) ?? '',
  created_by: nameOf,
  last_edited_by: nameOf,
  unique_id: (value) => {
    const { prefix, number } = asObject(value);
    return typeof number === 'number' ? [asText(prefix), String(number)].filter((text) => text !== null).join('-') : '';
  },
  verification: (value) => asText(asObject(value)['state']) ?? '',
};

/** Returns the text of one property; '' if it is empty or has no text. */
export function columnText(column: Json, form: Form, depth = 0): string {
  const kind = asText(column['type']) ?? '';
  const value = column[kind];
  if (kind === 'formula') {
    const { type, ...result } = asObject(value);
    const of = result[String(type)];
    if (type === 'date') return dateText(of);
    return typeof of === 'boolean' ? (of ? 'yes' : 'no') : typeof of === 'number' ? String(of) : (asText(of) ?? '');
  }
  if (kind === 'rollup') {
    const { type, ...result } = asObject(value);
    // Each rolled-up value is formatted like a property of its own.
    if (type === 'array')
      return depth > 1
        ? ''
        : joined(asList(result['array']).map((element) => columnText(asObject(element), form, depth + 1)));
    return columnText({ type, [String(type)]: result[String(type)] }, form, depth + 1);
  }
  return Object.hasOwn(TEXTS, kind) ? (TEXTS[kind]?.(value, form) ?? '') : '';
}
