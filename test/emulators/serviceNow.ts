/**
 * A stand-in for an instance of ServiceNow on loopback, after its published Table and Attachment APIs: encoded queries, pages
 * whose rows are taken out by access rules after they were cut, Link headers. The first part of each path is the instance.
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
  /** What it is a kind of. */
  readonly kindOf?: string;
  /** Whether the connected user may look into it; unset: yes. */
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
  /** As the system writes moments; unset: long ago. */
  readonly created?: string;
}

/** A moment as the system writes it. */
export const momentOf = (at: number): string => new Date(at).toISOString().slice(0, 19).replace('T', ' ');

export type ServiceNowEmulator = ConsentingEmulator<Refused> & {
  readonly settings: string;
  readonly tables: Map<string, EmulatedTable>;
  readonly attachments: Map<string, EmulatedAttachment>;
  /** sys_ids that the connected user may not see. */
  readonly hidden: Set<string>;
  /** Instances that sleep: they answer a page, whatever is asked. */
  readonly asleep: Set<string>;
  /** How the language of the user shows values: `published` as `Veröffentlicht`. Others are shown as they are. */
  readonly labels: Map<string, string>;
  /** Whether the user may not ask which tables there are. */
  readonly rights: { hidesTables: boolean };
};

/** An id of ServiceNow's shape for a name. */
export const sysIdOf = (name: string): string => Buffer.from(name).toString('hex').padEnd(32, '0').slice(0, 32);

const refuse = (response: ServerResponse, { status, headers = {} }: Refused): void => {
  const message = status === 401 ? 'User Not Authenticated' : status === 404 ? 'No Record found' : 'Refused';
  sendJson(response, status, { error: { message, detail: null }, status: 'failure' }, headers);
};

/** Whether one condition of an encoded query holds for a row. */
function holds(row: EmulatedRow, condition: string, me: string): boolean {
  const [, field = '', operator = '', value = ''] = /^([a-z_.]+?)(IN|STARTSWITH|>=|<|=|>)(.*)$/.exec(condition) ?? [];
  const given = row[field] ?? '';
  if (operator === 'IN') return value.split(',').includes(given);
  if (operator === 'STARTSWITH') return given.startsWith(value);
  if (operator === '>') return given > value;
  if (operator === '>=') return given >= value;
  if (operator === '<') return given < value;
  if (operator === '=') return given === (value === 'javascript:gs.getUserName()' ? me : value);
  throw new Error(`No such condition: ${condition}`);
}

/** The rows that an encoded query finds, in its order. */
function find(rows: readonly EmulatedRow[], query: string, me: string): EmulatedRow[] {
  const parts = query.split('^NQ').map((one) => one.split('^').filter(Boolean));
  const order = parts
    .flat()
    .find((part) => part.startsWith('ORDERBY'))
    ?.slice('ORDERBY'.length);
  const isFound = (row: EmulatedRow): boolean =>
    parts.some((all) => all.filter((part) => !part.startsWith('ORDERBY')).every((part) => holds(row, part, me)));
  const found = rows.filter(isFound);
  return order === undefined ? found : found.toSorted((a, b) => ((a[order] ?? '') < (b[order] ?? '') ? -1 : 1));
}

const pick = (row: EmulatedRow, fields: string | null): EmulatedRow =>
  fields === null ? row : Object.fromEntries(fields.split(',').map((name) => [name, row[name] ?? '']));

/** @param perPage whatever a caller asks for */
export async function startServiceNow({ perPage = 2 } = {}): Promise<ServiceNowEmulator> {
  const tables = new Map<string, EmulatedTable>();
  const attachments = new Map<string, EmulatedAttachment>();
  const hidden = new Set<string>();
  const asleep = new Set<string>();
  const labels = new Map<string, string>();
  const rights = { hidesTables: false };
  /** A row with its values, as the user reads them, or both. */
  const shown = (row: EmulatedRow, form: string | null): Record<string, unknown> => {
    const label = (value: string): string => labels.get(value) ?? value;
    if (form !== 'true' && form !== 'all') return row;
    return Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        name,
        form === 'true' ? label(value) : { display_value: label(value), value },
      ]),
    );
  };

  const rowsOf = (table: string): EmulatedRow[] | null => {
    if (table === 'sys_user')
      return SERVICENOW_PEOPLE.map(({ id, label }) => ({
        sys_id: sysIdOf(id),
        user_name: id,
        name: label,
        email: `${id}@harbour.example`,
      }));
    if (table === 'sys_db_object')
      return [...tables].map(([name, { label, kindOf = '' }]) => ({
        ...{ sys_id: sysIdOf(name), name, label },
        'super_class.name': kindOf,
      }));
    const found = tables.get(table);
    return found ? [...found.rows].map(([id, row]) => ({ ...row, sys_id: id })) : null;
  };
  const LONG_AGO = '2026-01-07 09:00:00';
  const attachmentRow = (
    id: string,
    { table, record, name, type, content, created = LONG_AGO }: EmulatedAttachment,
  ): EmulatedRow => ({
    ...{ sys_id: id, file_name: name, content_type: type, table_name: table, table_sys_id: record },
    ...{ sys_created_on: created, sys_updated_on: created },
    hash: Buffer.from(content).toString('hex').slice(0, 64),
  });
  const sendPage = ({ response, query, url }: Call, rows: readonly EmulatedRow[], me: string): void => {
    const found = find(rows, query.get('sysparm_query') ?? '', me);
    const limit = Math.min(Number(query.get('sysparm_limit') ?? 10_000), perPage);
    const from = Number(query.get('sysparm_offset') ?? 0);
    const page = found.slice(from, from + limit).filter(({ sys_id: id }) => !hidden.has(id ?? ''));
    const hasMore = from + limit < found.length;
    const link = (offset: number, rel: string): string =>
      `<https://harbour.service-now.com${url.pathname}?sysparm_fields=a,b&sysparm_offset=${offset}>;rel="${rel}"`;
    sendJson(
      response,
      200,
      { result: page.map((row) => pick(row, query.get('sysparm_fields'))) },
      {
        'x-total-count': String(found.length),
        ...(hasMore ? { link: `${link(0, 'first')},${link(from + limit, 'next')}` } : {}),
      },
    );
  };

  const answer = (call: Call, me: string): void => {
    const { response, path } = call;
    const [instance = '', , , kind, name = '', id, what] = path;
    if (asleep.has(instance)) {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Your instance is hibernating</h1>');
      return;
    }
    if (kind === 'attachment') {
      if (name === '')
        return sendPage(
          call,
          [...attachments].map(([one, attachment]) => attachmentRow(one, attachment)),
          me,
        );
      const attachment = attachments.get(name);
      if (!attachment || hidden.has(name)) return refuse(response, { status: 404 });
      if (id === undefined) return sendJson(response, 200, { result: attachmentRow(name, attachment) });
      response.writeHead(200, { 'content-type': attachment.type }).end(attachment.content);
      return;
    }
    const rows = rowsOf(name);
    if (kind !== 'table' || what !== undefined) return refuse(response, { status: 404 });
    if (rows === null)
      return sendJson(response, 400, { error: { message: `Invalid table ${name}`, detail: null }, status: 'failure' });
    if (tables.get(name)?.isClosed === true || (name === 'sys_db_object' && rights.hidesTables))
      return refuse(response, { status: 403 });
    if (id === undefined) return sendPage(call, rows, me);
    const row = rows.find(({ sys_id: one }) => one === id && !hidden.has(one));
    if (!row) return refuse(response, { status: 404 });
    const picked = pick(row, call.query.get('sysparm_fields'));
    sendJson(response, 200, { result: shown(picked, call.query.get('sysparm_display_value')) });
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
  return { ...emulator, settings, tables, attachments, hidden, asleep, labels, rights };
}
