/**
 * Compares requests of connectors with the specifications that providers publish. The tables contain the rules of the
 * used operations: names, types, limits and allowed values of parameters. scripts/contracts.ts extracts them.
 */
import type { SentRequest } from '../../connectors/sentRequests.js';

/** The rule of a specification for a parameter or a field. */
export interface Rule {
  readonly type?: string;
  readonly min?: number;
  readonly max?: number;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly required?: true;
  /** Fields of an object in a JSON body. Unset: they are not compared. */
  readonly fields?: Rules;
  /** Allowed elements of a value that is a comma-separated list. */
  readonly list?: readonly string[];
  /** Returns why a text violates a rule that the other members cannot express; null: it does not. */
  readonly check?: (value: string) => string | null;
}
type Rules = Readonly<Record<string, Rule>>;

export interface Operation {
  readonly query?: Rules;
  /** Rules of headers, by their names in lower case. Other headers are not compared. */
  readonly headers?: Rules;
  /** Address of the rules, if they are not from the specification: scripts/contracts.ts leaves such rules unchanged. */
  readonly source?: string;
  /** Fields of a JSON or form body; unset: the specification does not list them. */
  readonly body?: Rules;
}

/** The rules of one specification. */
export interface Contract {
  /** Name of the table and of its file. */
  readonly name: string;
  /** Name of the source, as in its row of CONNECTED_SOURCES. */
  readonly source: string;
  /** Address of the specification, with its version. */
  readonly specification: string;
  readonly version: string;
  /** Date on which the rules were taken, as YYYY-MM-DD. */
  readonly takenOn: string;
  /** Name of the source's address (`api`, `identity`…) to which the specification applies. */
  readonly address: string;
  /** Prefix of the specification's paths that the paths of requests lack. */
  readonly prefix?: string;
  /** Prefix of the paths of requests that the specification's paths lack. */
  readonly base?: string;
  /** Whether the source accepts a form in place of the specified query. */
  readonly asForm?: true;
  /**
   * Pattern of paths that tests serve at the API's address, but that are not part of the API, such as attachments.
   */
  readonly ignoredPaths?: string;
  /** Parameters that every operation accepts. */
  readonly common?: Rules;
  /** Operations by method and path template, for example `GET /files/{fileId}`. */
  readonly operations: Readonly<Record<string, Operation>>;
}

/** A request, relative to an address of its source. */
export interface Located {
  /** Name of the address, as in a Contract. */
  readonly address: string;
  readonly path: string;
  readonly query: URLSearchParams;
}

/** Returns the name of the address and the path of a request; null for another host, such as that of a redirect. */
export function locate({ url, urls }: Pick<SentRequest, 'url' | 'urls'>): Located | null {
  const found = Object.entries(urls)
    .filter(([, base]) => url === base || url.startsWith(`${base}/`) || url.startsWith(`${base}?`))
    .toSorted(([, a], [, b]) => b.length - a.length)[0];
  if (!found) return null;
  const [address, base] = found;
  const { pathname, searchParams } = new URL(url);
  return { address, path: pathname.slice(new URL(base).pathname.replace(/\/$/, '').length), query: searchParams };
}

/**
 * Returns how many segments of a template are literal; -1 if the path does not fit. A parameter may have a suffix:
 * `{host}:`.
 */
function literalSegments(template: string, path: string): number {
  const [segments, pathSegments] = [template.split('/'), path.split('/')];
  const isRest = /\{\w+\+\}$/.test(template);
  if (isRest ? pathSegments.length < segments.length : pathSegments.length !== segments.length) return -1;
  let literal = 0;
  for (const [at, segment] of segments.entries()) {
    const value = decodeURIComponent(pathSegments[at] ?? '');
    const suffix = /^\{.*\}(.*)$/.exec(segment)?.[1];
    if (suffix !== undefined) {
      if (!value.endsWith(suffix)) return -1;
      continue;
    }
    if (value !== segment) return -1;
    literal += 1;
  }
  return literal;
}

/** Returns the operation of a request; null if the specification has none. */
export function operationOf({ operations }: Contract, method: string, path: string): string | null {
  const fitting = Object.keys(operations)
    .filter((name) => name.startsWith(`${method} `))
    .map((name) => ({ name, literal: literalSegments(name.slice(method.length + 1), path) }))
    .filter(({ literal }) => literal >= 0)
    .toSorted((a, b) => b.literal - a.literal);
  return fitting[0]?.name ?? null;
}

/**
 * Returns why a value violates a rule; null if it does not. @param isText whether the value is text because it comes
 * from a query or a form
 */
function violation(rule: Rule, value: unknown, isText: boolean): string | null {
  const { type, min, max, enum: allowed, pattern, fields, list, check } = rule;
  if (Array.isArray(value) && type !== 'array') return `is a list, not ${type}`;
  if (allowed && !Array.isArray(value) && !allowed.includes(String(value)))
    return `is ${String(value)}, none of ${allowed.join(', ')}`;
  if (type === 'integer' || type === 'number') {
    const number = isText ? Number(value) : value;
    if (typeof number !== 'number' || !Number.isFinite(number) || value === '')
      return `is not a number: ${String(value)}`;
    if ((min !== undefined && number < min) || (max !== undefined && number > max))
      return `is ${number}, not within ${min ?? ''}..${max ?? ''}`;
  }
  if (type === 'boolean' && !(isText ? value === 'true' || value === 'false' : typeof value === 'boolean'))
    return `is not a boolean: ${String(value)}`;
  if (type === 'object') {
    if (typeof value !== 'object' || value === null) return 'is not an object';
    const problems = fields ? compare('has a difference: field', fields, new Map(Object.entries(value)), false) : [];
    return problems.length > 0 ? problems.join('; ') : null;
  }
  if (type === 'array' && !isText && !Array.isArray(value)) return 'is not a list';
  if (type === 'string' && !isText && typeof value !== 'string' && value !== null) return 'is not a text';
  if (pattern !== undefined && !new RegExp(pattern).test(String(value))) return `does not match ${pattern}`;
  const unlisted =
    list &&
    String(value)
      .split(',')
      .filter((one) => !list.includes(one));
  if (unlisted !== undefined && unlisted.length > 0) return `contains ${unlisted.join(', ')}, not in the specification`;
  return check?.(String(value)) ?? null;
}

function compare(where: string, rules: Rules, values: ReadonlyMap<string, unknown>, isText: boolean): string[] {
  const problems: string[] = [];
  for (const [name, value] of values) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    const problem = rule === undefined ? 'is not in the specification' : violation(rule, value, isText);
    if (problem !== null) problems.push(`${where} ${name} ${problem}`);
  }
  for (const [name, { required }] of Object.entries(rules))
    if (required && !values.has(name)) problems.push(`${where} ${name} is missing`);
  return problems;
}

/** Returns the fields of a body; null if it is neither a form nor a JSON object. */
function fieldsOf({ body, headers }: SentRequest): { fields: Map<string, unknown>; isText: boolean } | null {
  const type = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
  if (type.startsWith('application/x-www-form-urlencoded'))
    return { fields: new Map(new URLSearchParams(body ?? '')), isText: true };
  try {
    const json: unknown = JSON.parse(body ?? '{}');
    return typeof json === 'object' ? { fields: new Map(Object.entries(json ?? {})), isText: false } : null;
  } catch {
    return null;
  }
}

/** Returns how a request differs from the specification; empty if it does not. */
export function differences(contract: Contract, request: SentRequest, { path, query }: Located): string[] {
  if (contract.ignoredPaths !== undefined && new RegExp(contract.ignoredPaths).test(path)) return [];
  const name = operationOf(contract, request.method, path);
  if (name === null) return [`${request.method} ${path}: the specification has no such operation`];
  const { query: queryRules = {}, headers: headerRules = {}, body } = contract.operations[name] ?? {};
  const headers = new Map(Object.entries(request.headers).map(([header, value]) => [header.toLowerCase(), value]));
  const problems = compare('query', { ...contract.common, ...queryRules }, new Map(query), true);
  for (const [header, rule] of Object.entries(headerRules)) {
    const value = headers.get(header);
    const absent = rule.required ? 'is missing' : null;
    const problem = value === undefined ? absent : violation(rule, value, true);
    if (problem !== null) problems.push(`header ${header} ${problem}`);
  }
  if (request.method === 'POST' && body !== undefined) {
    const sent = fieldsOf(request);
    problems.push(...(sent === null ? ['the body is not readable'] : compare('field', body, sent.fields, sent.isText)));
  }
  return problems.map((problem) => `${name}: ${problem}`);
}
