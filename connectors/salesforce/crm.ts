import { Fault } from '../../contract/failures.js';
import { callerCursor, type Check, eitherOf, nullable, number, pairOf, string } from '../cursors.js';
import type { CrmListQuery, LiveReads } from '../../contract/sources/liveReads.js';
import type { Connector, LiveRead } from '../connector.js';
import type { OAuthGrant } from '../oauthSpec.js';
import { CRM_KINDS, type CrmKind, INCLUDES, timestampOf } from './crmRecords.js';
import { runQuery, containing, isId, quote, withVisible } from './soql.js';
import { asObject, asText, type Json } from '../json.js';

const recordId: Check<string> = (value): value is string => string(value) && isId(value);
/** Position in a list: the last record's id, and its value in the field that the list is sorted by. */
type PageBoundary = readonly [id: string, value: string | number | null];
const TIMESTAMP = /^\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:?\d\d))?$/;

const CURSOR = callerCursor(pairOf(recordId, nullable(eitherOf(string, number))));

const literal = (value: string | number, isText: boolean): string => {
  if (typeof value === 'number') return String(value);
  if (isText) return quote(value);
  const timestamp = timestampOf(value) ?? '';
  if (!TIMESTAMP.test(timestamp))
    throw new Fault('bad_response', 'next_cursor does not match order_by. Omit the cursor to list from the beginning.');
  return timestamp;
};

/** Returns the condition for records after a position. In the sort order, records without a value come last. */
function conditionAfter(
  [id, value]: PageBoundary,
  order: CrmKind['orders'][string] | undefined,
  direction: 'asc' | 'desc',
): string {
  const isBehindId = `Id > ${quote(id)}`;
  if (!order) return isBehindId;
  if (value === null) return `(${order.field} = null AND ${isBehindId})`;
  const [field, at] = [order.field, literal(value, order.isText === true)];
  const after = `${field} ${direction === 'asc' ? '>' : '<'} ${at}`;
  return `(${after} OR (${field} = ${at} AND ${isBehindId}) OR ${field} = null)`;
}

function conditionsOf({ filters }: CrmKind, given: CrmListQuery['filters']): string[] {
  return Object.entries(filters).flatMap(([name, filter]) => {
    const value = given[name];
    if (typeof value !== 'string' || value === '') return [];
    if (typeof filter.match === 'function') return [filter.match(value)];
    return [filter.match === 'has' ? `${filter.field} LIKE ${containing(value)}` : `${filter.field} = ${quote(value)}`];
  });
}

/** Returns an object with the fields to select, and subqueries for its parts. */
const selected = ({ object, fields }: CrmKind, includes: readonly string[]) => ({
  object,
  fields: [
    ...fields,
    ...includes.flatMap((name) => {
      const part = INCLUDES[name];
      return part ? [`(SELECT ${part.fields.join(', ')} FROM ${name})`] : [];
    }),
  ],
});

/**
 * Converts a record of Salesforce to the record that its operation returns. @param remote whether to add Salesforce's
 * own fields
 */
function present(kind: CrmKind, row: Json, includes: readonly string[], remote: boolean): Json {
  const parts = includes.map((name) => {
    const { records } = asObject(row[name]);
    const relatedRows = Array.isArray(records) ? records.map(asObject) : [];
    return [name.toLowerCase(), relatedRows.map((record) => INCLUDES[name]?.present(record, remote))] as const;
  });
  return { ...kind.present(row), ...Object.fromEntries(parts), remote_data: remote ? row : null };
}

const listOf =
  (kind: CrmKind): LiveRead<OAuthGrant, LiveReads['accounts']> =>
  async (client, query) => {
    const order = query.orderBy === null ? undefined : kind.orders[query.orderBy];
    const where = conditionsOf(kind, query.filters);
    const place = query.cursor === null ? [] : [conditionAfter(CURSOR.read(query.cursor), order, query.orderDir)];
    const filter = (all: readonly string[]): string => (all.length === 0 ? '' : ` WHERE ${all.join(' AND ')}`);
    const by = order ? `${order.field} ${query.orderDir.toUpperCase()} NULLS LAST, Id` : 'Id';
    const { pageSize } = query;
    const from = `FROM ${kind.object}`;
    const rest = `${from}${filter([...where, ...place])} ORDER BY ${by} LIMIT ${pageSize}`;
    const [{ rows, isWhole }, { total }] = await Promise.all([
      withVisible(client, selected(kind, query.includes), (fields) =>
        runQuery(client, `SELECT ${fields.join(', ')} ${rest}`),
      ),
      runQuery(client, `SELECT COUNT() ${from}${filter(where)}`),
    ]);
    const last = rows.at(-1);
    const value = order && last ? (last[order.field] ?? null) : null;
    const next = last && (!isWhole || rows.length >= pageSize) ? ([last['Id'], value] as PageBoundary) : null;
    return {
      count: total,
      next_cursor: CURSOR.write(next),
      data: rows.map((row) => present(kind, row, query.includes, query.remote)),
    };
  };

/** Returns one record; null if it does not exist. */
const oneOf =
  (kind: CrmKind): LiveRead<OAuthGrant, LiveReads['one of accounts']> =>
  async (client, { id, includes, remote }) => {
    if (!isId(id)) return null;
    const [row] = await withVisible(client, selected(kind, includes), async (fields) => {
      const soql = `SELECT ${fields.join(', ')} FROM ${kind.object} WHERE Id = ${quote(id)} LIMIT 1`;
      return (await runQuery(client, soql)).rows;
    });
    return row && asText(row['Id']) !== null ? present(kind, row, includes, remote) : null;
  };

/** The direct queries: for each type of record, one that lists and one that reads a single record. */
export const crmReads: NonNullable<Connector<OAuthGrant>['reads']> = Object.fromEntries(
  Object.entries(CRM_KINDS).flatMap(([name, kind]) => [
    [name, listOf(kind)],
    [`one of ${name}`, oneOf(kind)],
  ]),
);
