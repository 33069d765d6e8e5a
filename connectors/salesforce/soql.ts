/** Queries of Salesforce (SOQL), put together so that what a caller gave stays a value. */
import { Fault } from '../../contract/failures.js';
import type { Refusal, SourceClient } from '../accountClient.js';
import type { ErrorClass } from '../errorClasses.js';
import { asObject, asText, type Json } from '../json.js';

const ID = /^[a-zA-Z0-9]{15}(?:[a-zA-Z0-9]{3})?$/;
export const isId = (text: string): boolean => ID.test(text);

const ESCAPED = /['"\\\b\f\n\r\t]/g;
const ESCAPES: Readonly<Record<string, string>> = { '\b': '\\b', '\f': '\\f', '\n': '\\n', '\r': '\\r', '\t': '\\t' };
/** A text as a literal. */
export const quote = (text: string): string => `'${text.replaceAll(ESCAPED, (one) => ESCAPES[one] ?? `\\${one}`)}'`;
/** Returns the pattern of LIKE for values that contain a text. */
export const containing = (text: string): string => `'%${quote(text.replaceAll(/[\\%_]/g, '\\$&')).slice(1, -1)}%'`;

/** Codes of a refusal, which is a list of errors. */
const codeOf = ({ body }: Refusal): string => asText(asObject(Array.isArray(body) ? body[0] : body)['errorCode']) ?? '';
const CODES: Readonly<Record<string, ErrorClass>> = {
  // 403, for the quota of a day that is used up.
  REQUEST_LIMIT_EXCEEDED: 'rate_limited',
  // 400: a kind of thing that the organization, or its user, does not have.
  INVALID_TYPE: 'not_found',
  INVALID_CROSS_REFERENCE_KEY: 'not_found',
  MALFORMED_ID: 'not_found',
  QUERY_TIMEOUT: 'server',
  SERVER_UNAVAILABLE: 'server',
};
export const classify = (refusal: Refusal): ErrorClass | null => CODES[codeOf(refusal)] ?? null;
/** The quota is one of the last 24 hours, so something of it comes back all the time; how soon is not said. */
const QUOTA_WAIT_MS = 300_000;
export const waitMs = (refusal: Refusal): number | null =>
  codeOf(refusal) === 'REQUEST_LIMIT_EXCEEDED' && refusal.headers['retry-after'] === undefined ? QUOTA_WAIT_MS : null;

interface Answer {
  readonly rows: readonly Json[];
  /** Of all that the query finds, also what is on no page yet. */
  readonly total: number;
  readonly isWhole: boolean;
}

/** What a query finds, as far as it fits into one answer. */
export async function ask(client: SourceClient, soql: string): Promise<Answer> {
  const { records, done, totalSize } = await client.get(['query'], { q: soql });
  if (!Array.isArray(records) || typeof done !== 'boolean')
    throw new Fault('server_error', 'Salesforce gave an answer without records. It is tried again by itself.');
  return { rows: records.map(asObject), total: Number(totalSize ?? 0), isWhole: done };
}

/** As many as Salesforce gives of such records in one answer, at most. */
const PER_PAGE = 200;

export interface Wanted {
  readonly fields: readonly string[];
  readonly from: string;
  /** Conditions, all of which must hold. */
  readonly where: readonly string[];
}

/** A page of what a query finds, in the order of ids: a cursor of Salesforce's own would end in two days, or with a refresh. */
export async function askPage(
  client: SourceClient,
  { fields, from, where }: Wanted,
  afterId: string,
): Promise<{ readonly rows: readonly Json[]; readonly next: string | null }> {
  const conditions = [...where, ...(afterId === '' ? [] : [`Id > ${quote(afterId)}`])];
  const filter = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
  const soql = `SELECT ${fields.join(', ')} FROM ${from}${filter} ORDER BY Id LIMIT ${PER_PAGE}`;
  const { rows, isWhole } = await ask(client, soql);
  const last = asText(rows.at(-1)?.['Id']);
  return { rows, next: last !== null && (!isWhole || rows.length >= PER_PAGE) ? last : null };
}
