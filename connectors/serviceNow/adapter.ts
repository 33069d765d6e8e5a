import { formatOfName } from '../../contract/files/fileFormats.js';
import type { TypeAtSource } from '../../contract/sources/typesAtSource.js';
import type { ItemContent } from '../connector.js';
import type { SourceItem } from '../sourceItem.js';
import { escapeHtml } from '../html.js';
import { asTrimmed, type Json } from '../json.js';
import { createItem, createContainer, fileBytes } from '../items.js';

/** Whether a field contains both values, as `{ display_value, value }`. */
const isBoth = (field: unknown): field is { readonly display_value: unknown; readonly value: unknown } =>
  typeof field === 'object' && field !== null && 'display_value' in field && 'value' in field;
/** Returns the value of a field, which does not depend on the user's language. */
export const valueOf = (field: unknown): unknown => (isBoth(field) ? field.value : field);
/** Returns a record with the display values of its fields, in the language of the account's user. */
export const displayOf = (row: Json): Json =>
  Object.fromEntries(Object.entries(row).map(([name, field]) => [name, isBoth(field) ? field.display_value : field]));

const SYS_ID = /^[0-9a-f]{32}$/;
const TABLE = /^[a-z][a-z0-9_]{1,79}$/;
const isSysId = (text: string): boolean => SYS_ID.test(text);

/** A parsed item id: a table, a record, or an attachment. */
export interface ItemRef {
  readonly table: string;
  readonly record: string | null;
  readonly attachment: string | null;
}

/** Parses an item id; null if it is invalid. */
export function parseItemId(externalId: string): ItemRef | null {
  const [table = '', record, attachment, ...more] = externalId.split('/');
  const isValid = [record, attachment].every((id) => id === undefined || isSysId(id));
  if (!TABLE.test(table) || !isValid || more.length > 0) return null;
  return { table, record: record ?? null, attachment: attachment ?? null };
}

/** Standard tables that are listed: tasks, knowledge articles and catalog items. */
export const TABLES = ['incident', 'problem', 'change_request', 'kb_knowledge', 'sc_cat_item'] as const;
/** Prefixes of custom tables, which are listed if they extend `task`. */
export const CUSTOM_PREFIXES = ['u_', 'x_'] as const;
export const isListedTable = (table: string): boolean =>
  (TABLES as readonly string[]).includes(table) || CUSTOM_PREFIXES.some((prefix) => table.startsWith(prefix));

/** Query conditions for readable records, by table: drafts and retired records are excluded. */
export const READABLE: Readonly<Record<string, string>> = {
  kb_knowledge: 'workflow_state=published',
  sc_cat_item: 'active=true',
};

const INCIDENTS = 'incident';
export const typeOf = (table: string): TypeAtSource => (table === INCIDENTS ? 'INCIDENT' : 'TABLE');

/** Parses a UTC time such as `2026-03-04 10:15:00`. */
const dateOf = (value: unknown): string | null => {
  const text = `${asTrimmed(value).replace(' ', 'T')}Z`;
  return Number.isNaN(Date.parse(text)) ? null : text;
};

/** Returns the URL of a record. @param site URL of the instance */
const urlOf = (site: string, table: string, record: string): string => `${site}/${table}.do?sys_id=${record}`;

/** Converts a table into a container. */
export const itemOfTable = (table: string, label: string, site: string): SourceItem =>
  createContainer({
    externalId: table,
    name: label || table,
    itemType: 'TABLE',
    externalUrl: `${site}/${table}_list.do`,
  });

/** The record fields to request in listings. */
export const LISTED_FIELDS = 'sys_id,number,short_description,name,sys_created_on,sys_updated_on,sys_mod_count';

const nameOf = (row: Json, fallback: string): string => {
  const title = asTrimmed(row['short_description']) || asTrimmed(row['name']);
  return [asTrimmed(row['number']), title].filter(Boolean).join(': ') || fallback;
};

/** Converts a record; null for one without an id. */
export function itemOfRecord(row: Json, table: string, site: string, hasAttachments: boolean): SourceItem | null {
  const id = asTrimmed(row['sys_id']);
  if (!isSysId(id)) return null;
  const type = typeOf(table);
  return createItem({
    externalId: `${table}/${id}`,
    parentExternalId: table,
    rootExternalId: table,
    name: nameOf(row, id),
    itemType: type === 'INCIDENT' ? 'INCIDENT' : 'FILE',
    typeAtSource: type,
    externalUrl: urlOf(site, table, id),
    isExpandable: hasAttachments,
    hasContent: true,
    createdAt: dateOf(row['sys_created_on']),
    version: `${asTrimmed(row['sys_updated_on'])}/${asTrimmed(row['sys_mod_count'])}`,
  });
}

/**
 * Whether an attachment is the value of a field, such as a photo: the name of its table then begins with `ZZ_YY`.
 * https://github.com/ServiceNow/ServiceNowDocs/blob/australia/markdown/platform-security/exploring-antivirus-scanning.md
 */
const isEmbedded = (row: Json): boolean => /^zz_yy/i.test(asTrimmed(row['table_name']));

/** Converts an attachment; null for an invalid answer, and for the value of a field. */
export function itemOfAttachment(row: Json, table: string, site: string): SourceItem | null {
  const [id, record, name] = [asTrimmed(row['sys_id']), asTrimmed(row['table_sys_id']), asTrimmed(row['file_name'])];
  if (!isSysId(id) || !isSysId(record) || isEmbedded(row)) return null;
  return createItem({
    externalId: `${table}/${record}/${id}`,
    parentExternalId: `${table}/${record}`,
    rootExternalId: table,
    name: name || id,
    itemType: 'ATTACHMENT',
    typeAtSource: 'ATTACHMENT',
    attachedTo: typeOf(table),
    // Begins with the id of the record. For a changed record the change feed reports this id in `deletedPaths`, so that
    // attachments that no longer exist are deleted.
    path: `${table}/${record}/${id}`,
    externalUrl: `${site}/sys_attachment.do?sys_id=${id}`,
    fileFormat: formatOfName(name),
    hasContent: true,
    createdAt: dateOf(row['sys_created_on']),
    version: asTrimmed(row['hash']) || asTrimmed(row['sys_updated_on']) || null,
  });
}

/** Short fields of a task that its text contains as a list: label and field, in order. */
const FACTS: readonly (readonly [label: string, field: string])[] = [
  ['State', 'state'],
  ['Priority', 'priority'],
  ['Category', 'category'],
  ['Opened', 'opened_at'],
  ['Opened by', 'opened_by'],
  ['Caller', 'caller_id'],
  ['Assigned to', 'assigned_to'],
  ['Assignment group', 'assignment_group'],
  ['Configuration item', 'cmdb_ci'],
  ['Resolved', 'resolved_at'],
  ['Closed', 'closed_at'],
];
/** Long fields of a task, which become sections of its text: heading and field, in order. */
const TEXTS: readonly (readonly [title: string, field: string])[] = [
  ['Description', 'description'],
  ['Cause', 'cause_notes'],
  ['Workaround', 'workaround'],
  ['Fix', 'fix_notes'],
  ['Justification', 'justification'],
  ['Implementation plan', 'implementation_plan'],
  ['Resolution', 'close_notes'],
  ['Comments', 'comments'],
  ['Work notes', 'work_notes'],
];
/** Fields with HTML, by table. Records of other tables consist of FACTS and TEXTS. */
const MARKED_UP: Readonly<Record<string, readonly string[]>> = {
  kb_knowledge: ['text', 'wiki'],
  sc_cat_item: ['description'],
};
/** Returns the record fields to request for its content, separated by commas. */
export const fieldsOf = (table: string): string =>
  [
    ...['sys_id', 'number', 'name', 'short_description', 'sys_updated_on', 'workflow_state', 'active'],
    ...(MARKED_UP[table] ?? [...FACTS, ...TEXTS].map(([, field]) => field)),
  ].join(',');

/** Returns a record's content: the title with the fields in MARKED_UP as HTML, or with FACTS and TEXTS as Markdown. */
export function contentOfRecord(row: Json, table: string, record: string, site: string): ItemContent {
  const title = nameOf(row, record);
  const markedUp = MARKED_UP[table];
  const facts = FACTS.flatMap(([label, field]) =>
    asTrimmed(row[field]) ? [`- ${label}: ${asTrimmed(row[field])}`] : [],
  );
  const texts = TEXTS.flatMap(([label, field]) =>
    asTrimmed(row[field]) ? [`## ${label}`, asTrimmed(row[field])] : [],
  );
  const text = markedUp
    ? [`<h1>${escapeHtml(title)}</h1>`, ...markedUp.map((field) => asTrimmed(row[field]))].join('\n')
    : [`# ${title}`, facts.join('\n'), ...texts].filter(Boolean).join('\n\n');
  const mimeType = markedUp ? 'text/html' : 'text/markdown';
  return {
    bytes: Buffer.from(text),
    contentType: `${mimeType}; charset=utf-8`,
    format: 'SERVICENOW',
    mimeType,
    name: title,
    url: urlOf(site, table, record),
    fileMetadata: {
      type: typeOf(table),
      table,
      ...(asTrimmed(row['number']) ? { number: asTrimmed(row['number']) } : {}),
    },
  };
}

/** Returns an attachment's content. */
export function contentOfAttachment(row: Json, itemRef: ItemRef, site: string, bytes: Uint8Array): ItemContent {
  const name = asTrimmed(row['file_name']);
  return {
    ...fileBytes(bytes, asTrimmed(row['content_type']), name),
    name: name || null,
    url: `${site}/sys_attachment.do?sys_id=${itemRef.attachment ?? ''}`,
    fileMetadata: { type: 'ATTACHMENT', table: itemRef.table, attached_to: `${itemRef.table}/${itemRef.record ?? ''}` },
  };
}
