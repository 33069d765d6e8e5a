/** Builds and runs Salesforce queries (SOQL). Values of callers are escaped. */
import { createHash } from 'node:crypto';

import { Fault } from '../../contract/failures.js';
import type { Refusal, GrantClient } from '../accountClient.js';
import type { ErrorClass } from '../errorClasses.js';
import { incompleteAnswer, isFault } from '../faults.js';
import { asObject, asObjects, asText, type Json } from '../json.js';

const ID = /^[a-zA-Z0-9]{15}(?:[a-zA-Z0-9]{3})?$/;
export const isId = (text: string): boolean => ID.test(text);

const ESCAPED = /['"\\\b\f\n\r\t]/g;
const ESCAPES: Readonly<Record<string, string>> = { '\b': '\\b', '\f': '\\f', '\n': '\\n', '\r': '\\r', '\t': '\\t' };
/** Quotes a text as a SOQL literal. */
export const quote = (text: string): string =>
  `'${text.replaceAll(ESCAPED, (character) => ESCAPES[character] ?? `\\${character}`)}'`;
/**
 * Returns the pattern of LIKE for values that contain a text. In a SOQL literal, `\%` and `\_` are escape sequences, as
 * `\'` is. The wildcards of the text are therefore escaped after quoting, and their backslash is not escaped again.
 * https://developer.salesforce.com/docs/atlas.en-us.254.0.soql_sosl.meta/soql_sosl/sforce_api_calls_soql_select_quotedstringescapes.htm
 */
export const containing = (text: string): string => `'%${quote(text).slice(1, -1).replaceAll(/[%_]/g, '\\$&')}%'`;

/** Returns the code of a refusal, whose body is a list of errors. */
const codeOf = ({ body }: Refusal): string => asText(asObject(Array.isArray(body) ? body[0] : body)['errorCode']) ?? '';
const CODES: Readonly<Record<string, ErrorClass>> = {
  // Status 403: the daily quota is used up.
  REQUEST_LIMIT_EXCEEDED: 'rate_limited',
  // Status 400: an object type that the organization or its user does not have.
  INVALID_TYPE: 'not_found',
  INVALID_CROSS_REFERENCE_KEY: 'not_found',
  MALFORMED_ID: 'not_found',
  QUERY_TIMEOUT: 'server',
  SERVER_UNAVAILABLE: 'server',
};
export const classify = (refusal: Refusal): ErrorClass | null => CODES[codeOf(refusal)] ?? null;
/** The quota covers the last 24 hours, so it recovers gradually; Salesforce does not state when. */
const QUOTA_WAIT_MS = 300_000;
export const waitMs = (refusal: Refusal): number | null =>
  codeOf(refusal) === 'REQUEST_LIMIT_EXCEEDED' && refusal.headers['retry-after'] === undefined ? QUOTA_WAIT_MS : null;

interface Answer {
  readonly rows: readonly Json[];
  /** Number of matching records on all pages. */
  readonly total: number;
  readonly isWhole: boolean;
}

/** Runs a query and returns the records that fit into one answer. */
export async function runQuery(client: GrantClient, soql: string): Promise<Answer> {
  const { records, done, totalSize } = await client.get(['query'], { q: soql });
  if (!Array.isArray(records) || typeof done !== 'boolean')
    throw new Fault('server_error', 'Salesforce gave an answer without records. The request is retried automatically.');
  return { rows: records.map(asObject), total: Number(totalSize ?? 0), isWhole: done };
}

/** Returns the names of an object's fields and relationships that the account may see. */
async function visibleOf(client: GrantClient, object: string): Promise<ReadonlySet<string | null>> {
  const { fields } = await client.get(['sobjects', object, 'describe'], {});
  if (!Array.isArray(fields)) throw incompleteAnswer('Salesforce', `the fields of ${object}`);
  return new Set(asObjects(fields).flatMap((field) => [asText(field['name']), asText(field['relationshipName'])]));
}

/**
 * Whether a field can be requested: its name, or the relationship before its dot, is visible. Subqueries always can.
 */
const isVisible = (field: string, visible: ReadonlySet<string | null>): boolean =>
  field.startsWith('(') || visible.has(field.split('.')[0] ?? '');

/**
 * Runs a query with the fields that the account may see. An organization hides fields from users by its field-level
 * security, and Salesforce rejects a whole query that names one of them (INVALID_FIELD, "No such column"). The
 * description of the object, which omits hidden fields, is requested only after a rejection.
 * https://github.com/NangoHQ/integration-templates/pull/124
 */
export async function withVisible<T>(
  client: GrantClient,
  { object, fields }: { readonly object: string; readonly fields: readonly string[] },
  run: (fields: readonly string[]) => Promise<T>,
): Promise<T> {
  const key = createHash('sha256').update(`${client.credentials.accessToken} hidden in ${object}`).digest('base64');
  const hidden = (client.cache.get(key) ?? []) as readonly string[];
  const visibleFields = fields.filter((field) => !hidden.includes(field));
  try {
    return await run(visibleFields);
  } catch (error) {
    if (!isFault(error, 'bad_response')) throw error;
    const visible = await visibleOf(client, object);
    const allowed = visibleFields.filter((field) => isVisible(field, visible));
    if (allowed.length === visibleFields.length) throw error;
    client.cache.set(key, [...hidden, ...visibleFields.filter((field) => !allowed.includes(field))]);
    return run(allowed);
  }
}

/** Maximum number of records per page. */
const PER_PAGE = 200;

export interface SoqlQuery {
  readonly fields: readonly string[];
  readonly from: string;
  /** Conditions, combined with AND. */
  readonly where: readonly string[];
}

/**
 * Returns a page of a query, in id order: the records after `afterId`. Salesforce's own cursors are not used, because
 * they expire after two days, or when the token is refreshed.
 */
export async function fetchPage(
  client: GrantClient,
  { fields, from, where }: SoqlQuery,
  afterId: string,
): Promise<{ readonly rows: readonly Json[]; readonly next: string | null }> {
  const conditions = [...where, ...(afterId === '' ? [] : [`Id > ${quote(afterId)}`])];
  const filter = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
  const { rows, isWhole } = await withVisible(client, { object: from, fields }, (visible) =>
    runQuery(client, `SELECT ${visible.join(', ')} FROM ${from}${filter} ORDER BY Id LIMIT ${PER_PAGE}`),
  );
  const last = asText(rows.at(-1)?.['Id']);
  return { rows, next: last !== null && (!isWhole || rows.length >= PER_PAGE) ? last : null };
}
