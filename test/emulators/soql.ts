/**
 * Parses the part of SOQL that the connector uses: one object, conditions, an order, a limit, subqueries over children.
 */

type SoqlValue = string | number | boolean | null | SoqlRecord | { readonly records: readonly SoqlRecord[] };
export interface SoqlRecord {
  [field: string]: SoqlValue | undefined;
}
type Test = (row: SoqlRecord) => boolean;

/** Thrown for a query that is not valid SOQL. */
export class MalformedQuery extends Error {}

const TOKENS = /\s*('(?:[^'\\]|\\.)*'|[(),]|!=|<=|>=|[=<>]|[^\s(),=<>!']+)/gy;

function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  TOKENS.lastIndex = 0;
  while (TOKENS.lastIndex < text.trimEnd().length) {
    const token = TOKENS.exec(text)?.[1];
    if (token === undefined) throw new MalformedQuery(`unexpected token in: ${text}`);
    tokens.push(token);
  }
  return tokens;
}

const at = (row: SoqlRecord, field: string): SoqlValue =>
  field.split('.').reduce<SoqlValue>((value, name) => {
    const found = typeof value === 'object' && value !== null ? (value as SoqlRecord)[name] : null;
    return found ?? null;
  }, row);

/** Parses a literal: a quoted text, a number, a date, true, false or null. */
function literalOf(token: string): string | number | boolean | null {
  if (token.startsWith("'"))
    return token
      .slice(1, -1)
      .replaceAll(/\\(.)/g, (_whole, character: string) => ({ n: '\n', r: '\r', t: '\t' })[character] ?? character);
  if (token === 'null') return null;
  if (token === 'true' || token === 'false') return token === 'true';
  if (/^-?\d+(?:\.\d+)?$/.test(token)) return Number(token);
  if (/^\d{4}-\d\d-\d\d/.test(token)) return token;
  throw new MalformedQuery(`not a literal: ${token}`);
}

/**
 * Translates a LIKE pattern: `%` and `_` are wildcards unless escaped by one backslash.
 * https://developer.salesforce.com/docs/atlas.en-us.254.0.soql_sosl.meta/soql_sosl/sforce_api_calls_soql_select_quotedstringescapes.htm
 */
const likeOf = (token: string): RegExp => {
  const pattern = token
    .slice(1, -1)
    .replaceAll(/\\(.)|([%_])|([^\\%_]+)/g, (_whole, escaped?: string, any?: string, text?: string) =>
      any === undefined ? (escaped ?? text ?? '').replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&') : any === '%' ? '.*' : '.',
    );
  return new RegExp(`^${pattern}$`, 'is');
};

/** Converts times to numbers, so that different notations of a time are equal. */
const comparable = (value: SoqlValue): SoqlValue =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) ? Date.parse(value) : value;
const compare = (left: SoqlValue, right: SoqlValue): number => {
  const [a, b] = [comparable(left), comparable(right)];
  return a === b ? 0 : (a as string) < (b as string) ? -1 : 1;
};

function reader(tokens: readonly string[]) {
  let next = 0;
  const peek = (): string => (tokens[next] ?? '').toUpperCase();
  const take = (expected?: string): string => {
    const token = tokens[next] ?? '';
    if (expected !== undefined && token.toUpperCase() !== expected)
      throw new MalformedQuery(`expected ${expected}, found ${token}`);
    next += 1;
    return token;
  };
  const list = (): string[] => {
    const all: string[] = [];
    take('(');
    for (;;) {
      all.push(take());
      if (peek() !== ',') break;
      take();
    }
    take(')');
    return all;
  };
  const condition = (): Test => {
    if (peek() === '(') {
      take();
      const inner = or();
      take(')');
      return inner;
    }
    const field = take();
    const operator = take().toUpperCase();
    if (operator === 'IN') {
      const values = new Set(list().map(literalOf));
      return (row) => values.has(at(row, field) as string);
    }
    if (operator === 'LIKE') {
      const pattern = likeOf(take());
      return (row) => {
        const text = at(row, field);
        return typeof text === 'string' && pattern.test(text);
      };
    }
    const value = literalOf(take());
    const tests: Readonly<Record<string, (given: SoqlValue) => boolean>> = {
      '=': (given) => compare(given, value) === 0,
      '!=': (given) => compare(given, value) !== 0,
      '>': (given) => given !== null && compare(given, value) > 0,
      '<': (given) => given !== null && compare(given, value) < 0,
    };
    const holds = tests[operator];
    if (!holds) throw new MalformedQuery(`no operator: ${operator}`);
    return (row) => holds(at(row, field));
  };
  const and = (): Test => {
    const all = [condition()];
    while (peek() === 'AND') {
      take();
      all.push(condition());
    }
    return (row) => all.every((test) => test(row));
  };
  const or = (): Test => {
    const all = [and()];
    while (peek() === 'OR') {
      take();
      all.push(and());
    }
    return (row) => all.some((test) => test(row));
  };
  return { peek, take, or };
}

interface SoqlQuery {
  readonly from: string;
  readonly fields: readonly string[];
  /** Subqueries: names of child relations with the selected fields. */
  readonly children: readonly { readonly name: string; readonly fields: readonly string[] }[];
  readonly isCount: boolean;
  readonly limit: number;
  find(rows: readonly SoqlRecord[]): SoqlRecord[];
}

/** Parses a query. @throws MalformedQuery */
export function readSoql(soql: string): SoqlQuery {
  const { peek, take, or } = reader(tokensOf(soql));
  const fields: string[] = [];
  const children: { name: string; fields: string[] }[] = [];
  take('SELECT');
  for (;;) {
    if (peek() === '(') {
      take();
      take('SELECT');
      const inside = [take()];
      for (; peek() === ','; inside.push(take())) take();
      take('FROM');
      children.push({ name: take(), fields: inside });
      take(')');
    } else {
      fields.push(take());
      if (fields.at(-1) === 'COUNT') {
        take('(');
        take(')');
      }
    }
    if (peek() !== ',') break;
    take();
  }
  take('FROM');
  const from = take();
  let matches: Test = () => true;
  if (peek() === 'WHERE') {
    take();
    matches = or();
  }
  const orders: { field: string; sign: number }[] = [];
  if (peek() === 'ORDER') {
    take();
    take('BY');
    for (;;) {
      const field = take();
      const sign = peek() === 'DESC' ? -1 : 1;
      if (peek() === 'DESC' || peek() === 'ASC') take();
      if (peek() === 'NULLS') {
        take();
        take('LAST');
      }
      orders.push({ field, sign });
      if (peek() !== ',') break;
      take();
    }
  }
  let limit = Infinity;
  if (peek() === 'LIMIT') {
    take();
    limit = Number(take());
  }
  if (peek() !== '') throw new MalformedQuery(`unexpected token: ${take()}`);
  return {
    ...{ from, fields, children, limit },
    isCount: fields[0] === 'COUNT',
    find: (rows) =>
      rows.filter(matches).toSorted((a, b) => {
        for (const { field, sign } of orders) {
          const [left, right] = [at(a, field), at(b, field)];
          if (left === right) continue;
          if (left === null) return 1;
          if (right === null) return -1;
          return compare(left, right) * sign;
        }
        return 0;
      }),
  };
}

/** Returns the `attributes` of a record: its type and its address. */
const attributesOf = (type: string, id: unknown) => ({
  type,
  url: `/services/data/v67.0/sobjects/${type}/${typeof id === 'string' ? id : ''}`,
});
/** Object type by name of the relationship. */
const RELATED: Readonly<Record<string, string>> = {
  LatestPublishedVersion: 'ContentVersion',
  Tasks: 'Task',
  Events: 'Event',
};

/** Returns a record with only the selected fields. */
export function pick(row: SoqlRecord, { fields, children, from }: SoqlQuery): SoqlRecord {
  const picked: SoqlRecord = { attributes: attributesOf(from, row['Id']) };
  for (const field of fields) {
    const [first = '', ...rest] = field.split('.');
    const attributes = attributesOf(RELATED[first] ?? first, at(row, `${first}Id`));
    picked[first] =
      rest.length === 0
        ? (row[first] ?? null)
        : { attributes, ...(picked[first] as SoqlRecord | undefined), [rest.join('.')]: at(row, field) };
  }
  for (const { name, fields: inside } of children) {
    const all = (row[name] as unknown as readonly SoqlRecord[] | undefined) ?? [];
    const records = all.map((child) => ({
      attributes: attributesOf(RELATED[name] ?? name, child['Id']),
      ...Object.fromEntries(inside.map((field) => [field, child[field] ?? null])),
    }));
    picked[name] = records.length === 0 ? null : { totalSize: records.length, done: true, records };
  }
  return picked;
}
