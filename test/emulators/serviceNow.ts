/**
 * Emulates a ServiceNow instance on loopback, by its published Table and Attachment APIs: encoded queries, Link
 * headers, and pages from which access rules remove rows after paging. The first segment of each path is the instance.
 */
import type { ServerResponse } from 'node:http';

import { type ConsentingEmulator, startConsenting } from './consentEmulator.js';
import { type Call, type Refused, sendJson } from './emulator.js';
import { CLIENT_ID, CLIENT_SECRET } from './oauthProvider.js';

const SERVICENOW_PEOPLE = [
  { id: 'ada.lee', label: 'Ada' },
  { id: 'ben.low', label: 'Ben' },
];

interface EmulatedRow {
  [field: string]: string;
}
interface EmulatedTable {
  readonly label: string;
  /** Name of the parent table. */
  readonly kindOf?: string;
  /** Whether the connected user has no access to the table. */
  readonly isClosed?: boolean;
  /** By sys_id. */
  readonly rows: Map<string, EmulatedRow>;
}
export interface EmulatedAttachment {
  readonly table: string;
  readonly record: string;
  readonly name: string;
  readonly type: string;
  content: string;
  /** In ServiceNow's time format. Unset: January 2026. */
  readonly created?: string;
}

/** Returns a time in ServiceNow's format. */
export const timestampOf = (at: number): string => new Date(at).toISOString().slice(0, 19).replace('T', ' ');

/** The page with which a hibernating instance answers every request. */
export const HIBERNATING = { wrongBody: '<h1>Your instance is hibernating</h1>', contentType: 'text/html' };

export type ServiceNowEmulator = ConsentingEmulator<Refused> & {
  readonly settings: string;
  readonly tables: Map<string, EmulatedTable>;
  readonly attachments: Map<string, EmulatedAttachment>;
  /** sys_ids of rows that the connected user has no access to. */
  readonly hidden: Set<string>;
  /** Display values in the user's language by stored value; values without an entry are displayed unchanged. */
  readonly labels: Map<string, string>;
  readonly rights: {
    /** Whether the user has no access to the list of tables. */
    hidesTables: boolean;
    /** Whether a query with a script (`javascript:…`) is ignored, so that it returns all rows. */
    ignoresScripts: boolean;
    /**
     * Whether lists of attachments have the headers of tables: links to other pages, and the count. They are
     * undocumented.
     */
    countsAttachments: boolean;
  };
};

/** Returns an id in ServiceNow's format for a name. */
export const sysIdOf = (name: string): string => Buffer.from(name).toString('hex').padEnd(32, '0').slice(0, 32);

const refuse = (response: ServerResponse, { status, headers = {} }: Refused): void => {
  const message = status === 401 ? 'User Not Authenticated' : status === 404 ? 'No Record found' : 'Refused';
  sendJson(response, status, { error: { message, detail: null }, status: 'failure' }, headers);
};

/** Whether a row meets one condition of an encoded query. */
function matches(row: EmulatedRow, condition: string, me: string): boolean {
  const [, field = '', operator = '', value = ''] = /^([a-z_.]+?)(IN|STARTSWITH|>=|<|=|>)(.*)$/.exec(condition) ?? [];
  const actual = row[field] ?? '';
  if (operator === 'IN') return value.split(',').includes(actual);
  if (operator === 'STARTSWITH') return actual.startsWith(value);
  if (operator === '>') return actual > value;
  if (operator === '>=') return actual >= value;
  if (operator === '<') return actual < value;
  if (operator === '=') return actual === (value === 'javascript:gs.getUserName()' ? me : value);
  throw new Error(`No such condition: ${condition}`);
}

/** Returns the rows that match an encoded query, in the order that it requests. */
function find(rows: readonly EmulatedRow[], query: string, me: string): EmulatedRow[] {
  const parts = query.split('^NQ').map((alternative) => alternative.split('^').filter(Boolean));
  const order = parts
    .flat()
    .find((part) => part.startsWith('ORDERBY'))
    ?.slice('ORDERBY'.length);
  const isFound = (row: EmulatedRow): boolean =>
    parts.some((all) => all.filter((part) => !part.startsWith('ORDERBY')).every((part) => matches(row, part, me)));
  const found = rows.filter(isFound);
  return order === undefined ? found : found.toSorted((a, b) => ((a[order] ?? '') < (b[order] ?? '') ? -1 : 1));
}

const pick = (row: EmulatedRow, fields: string | null): EmulatedRow =>
  fields === null ? row : Object.fromEntries(fields.split(',').map((name) => [name, row[name] ?? '']));

/** @param perPage maximum page size, except for lists of attachments without `countsAttachments`: 1,000 */
export async function startServiceNow({ perPage = 2 } = {}): Promise<ServiceNowEmulator> {
  const tables = new Map<string, EmulatedTable>();
  const attachments = new Map<string, EmulatedAttachment>();
  const hidden = new Set<string>();
  const labels = new Map<string, string>();
  const rights = { hidesTables: false, ignoresScripts: false, countsAttachments: true };
  /** Returns a row with its values, its display values, or both. */
  const displayed = (row: EmulatedRow, form: string | null): Record<string, unknown> => {
    const label = (value: string): string => labels.get(value) ?? value;
    if (form !== 'true' && form !== 'all') return row;
    return Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        name,
        form === 'true' ? label(value) : { display_value: label(value), value },
      ]),
    );
  };

  const LONG_AGO = '2026-01-07 09:00:00';
  const attachmentRow = (
    id: string,
    { table, record, name, type, content, created = LONG_AGO }: EmulatedAttachment,
  ): EmulatedRow => ({
    ...{ sys_id: id, file_name: name, content_type: type, table_name: table, table_sys_id: record },
    ...{ sys_created_on: created, sys_updated_on: created, sys_created_by: 'admin', sys_updated_by: 'admin' },
    ...{ size_bytes: String(content.length), size_compressed: String(content.length), compressed: 'true' },
    ...{ image_height: '', image_width: '', average_image_color: '', sys_tags: '', sys_mod_count: '0' },
    download_link: `https://harbour.service-now.com/api/now/attachment/${id}/file`,
    hash: Buffer.from(content).toString('hex').slice(0, 64),
  });
  const rowsOf = (table: string): EmulatedRow[] | null => {
    if (table === 'sys_user')
      return SERVICENOW_PEOPLE.map(({ id, label }) => ({
        sys_id: sysIdOf(id),
        user_name: id,
        name: label,
        email: `${id}@harbour.example`,
      }));
    if (table === 'sys_attachment') return [...attachments].map(([id, attachment]) => attachmentRow(id, attachment));
    if (table === 'sys_db_object')
      return [...tables].map(([name, { label, kindOf = '' }]) => ({
        ...{ sys_id: sysIdOf(name), name, label },
        'super_class.name': kindOf,
      }));
    const found = tables.get(table);
    return found ? [...found.rows].map(([id, row]) => ({ ...row, sys_id: id })) : null;
  };
  const sendPage = ({ response, query, url }: Call, rows: readonly EmulatedRow[], me: string): void => {
    const encodedQuery = query.get('sysparm_query') ?? '';
    const found = find(rows, rights.ignoresScripts && encodedQuery.includes('javascript:') ? '' : encodedQuery, me);
    const isPlain = !rights.countsAttachments && url.pathname.endsWith('/attachment');
    const limit = Math.min(Number(query.get('sysparm_limit') ?? 10_000), isPlain ? 1_000 : perPage);
    const from = Number(query.get('sysparm_offset') ?? 0);
    const page = found.slice(from, from + limit).filter(({ sys_id: id }) => !hidden.has(id ?? ''));
    const hasMore = from + limit < found.length;
    const link = (offset: number, rel: string): string =>
      `<https://harbour.service-now.com${url.pathname}?sysparm_fields=a,b&sysparm_offset=${offset}>;rel="${rel}"`;
    sendJson(
      response,
      200,
      { result: page.map((row) => pick(row, query.get('sysparm_fields'))) },
      isPlain
        ? {}
        : {
            'x-total-count': String(found.length),
            ...(hasMore ? { link: `${link(0, 'first')},${link(from + limit, 'next')}` } : {}),
          },
    );
  };

  const answer = (call: Call, me: string): void => {
    const { response, path } = call;
    const [, , , kind, name = '', id, extra] = path;
    if (kind === 'attachment') {
      if (name === '')
        return sendPage(
          call,
          [...attachments].map(([key, attachment]) => attachmentRow(key, attachment)),
          me,
        );
      const attachment = attachments.get(name);
      if (!attachment || hidden.has(name)) return refuse(response, { status: 404 });
      if (id === undefined) return sendJson(response, 200, { result: attachmentRow(name, attachment) });
      response.writeHead(200, { 'content-type': attachment.type }).end(attachment.content);
      return;
    }
    const rows = rowsOf(name);
    if (kind !== 'table' || extra !== undefined) return refuse(response, { status: 404 });
    if (rows === null)
      return sendJson(response, 400, { error: { message: `Invalid table ${name}`, detail: null }, status: 'failure' });
    if (tables.get(name)?.isClosed === true || (name === 'sys_db_object' && rights.hidesTables))
      return refuse(response, { status: 403 });
    if (id === undefined) return sendPage(call, rows, me);
    const row = rows.find(({ sys_id: key }) => key === id && !hidden.has(key));
    if (!row) return refuse(response, { status: 404 });
    const picked = pick(row, call.query.get('sysparm_fields'));
    sendJson(response, 200, { result: displayed(picked, call.query.get('sysparm_display_value')) });
  };

  const emulator = await startConsenting<Refused>({
    oauth: {
      name: 'ServiceNow',
      paths: { authorize: '/*/oauth_auth.do', token: '/*/oauth_token.do' },
      people: SERVICENOW_PEOPLE,
      clients: { [CLIENT_ID]: CLIENT_SECRET, 'other-client': 'other-client-secret' },
      expiresIn: 1_800,
    },
    refuse,
    unauthorized: { status: 401 },
    answer: (call, access) => answer(call, access.person.id),
  });
  const paths = { api: 'api/now', authorize: 'oauth_auth.do', token: 'oauth_token.do' };
  const settings = Object.entries(paths)
    .map(([part, path]) => `SERVICENOW.${part}=${emulator.origin}/{instance}/${path}`)
    .join(',');
  return { ...emulator, settings, tables, attachments, hidden, labels, rights };
}
