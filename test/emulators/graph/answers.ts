/** Response formats of Microsoft Graph: errors, $select, and pages whose links carry tokens. */
import type { ServerResponse } from 'node:http';

import { type Call, type Refused, sendJson } from '../emulator.js';

/** `code` replaces the default error code of the status, `body` the whole body. */
export type GraphRefused = Refused & { readonly code?: string; readonly body?: unknown };

const CODES: Readonly<Record<number, string>> = {
  400: 'invalidRequest',
  401: 'InvalidAuthenticationToken',
  403: 'accessDenied',
  404: 'itemNotFound',
  410: 'resyncRequired',
  429: 'activityLimitReached',
  503: 'serviceNotAvailable',
};

export function refuse(response: ServerResponse, { status, headers, code, body }: GraphRefused): void {
  if (body !== undefined) return sendJson(response, status, body, headers);
  const innerError = { date: '2026-03-03T10:00:00', 'request-id': 'r-1', 'client-request-id': 'r-1' };
  const error = {
    code: code ?? CODES[status] ?? 'generalException',
    message: 'The emulator rejects this request.',
    innerError,
  };
  sendJson(response, status, { error }, headers);
}

type Json = Record<string, unknown>;

/** Applies $select to an object; annotations are always included. */
export function selected(value: Json, query: URLSearchParams): Json {
  const fields = query.get('$select')?.split(',');
  if (!fields) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => key.startsWith('@') || fields.includes(key)));
}

export const sendOne = ({ response, query }: Call, value: Json): void =>
  sendJson(response, 200, selected(value, query));

/** Sends a page of a plain collection, by $skiptoken. */
export function sendPage({ response, query, url, request }: Call, all: readonly Json[], pageSize: number): void {
  const from = Number(query.get('$skiptoken') ?? query.get('$skip') ?? '0');
  const next = new URL(url.href);
  next.host = request.headers.host ?? '';
  next.searchParams.delete('$skip');
  next.searchParams.set('$skiptoken', String(from + pageSize));
  sendJson(response, 200, {
    '@odata.context': 'https://graph.microsoft.com/v1.0/$metadata',
    value: all.slice(from, from + pageSize).map((item) => selected(item, query)),
    ...(from + pageSize < all.length ? { '@odata.nextLink': next.href } : {}),
  });
}

/** A changed item. `at` is the sequence number of the change, used as its time. */
export interface Changed {
  readonly at: number;
  readonly value: Json;
}

export interface FeedParameters {
  readonly pageSize: number;
  /** Name of the query parameter for page tokens. */
  readonly skip: string;
  /** Name of the query parameter for delta tokens. */
  readonly delta: string;
  /** Tokens from before this time are no longer valid. */
  readonly oldestToken: number;
  readonly now: number;
}

/**
 * Sends a page of a delta feed. A page token holds the start time, the end time and the number of changes already sent;
 * a delta token holds the end time.
 * @param all current items and deletions, oldest first
 */
export function sendFeed(
  { response, query, url, request }: Call,
  all: readonly Changed[],
  { pageSize, skip, delta, oldestToken, now }: FeedParameters,
): void {
  const argument = /\(token='([^']*)'\)$/.exec(decodeURIComponent(url.pathname))?.[1];
  const token = query.get(skip) ?? query.get(delta) ?? argument ?? '';
  const to = (name: string, value: string): string => {
    const link = new URL(`http://${request.headers.host}${url.pathname.replace(/\(token=.*$/, '')}`);
    // Feeds of drives carry the delta token as a path argument.
    if (name === 'token' && value.startsWith('d')) link.pathname += `(token='${value}')`;
    else link.searchParams.set(name, value);
    return link.href;
  };
  if (token === 'latest') return sendJson(response, 200, { value: [], '@odata.deltaLink': to(delta, `d${now}`) });
  const [, since, until, sent] = /^d?(\d+)(?:-(\d+)-(\d+))?$/.exec(token) ?? ['', '0', undefined, undefined];
  if (Number(since) < oldestToken && Number(since) > 0)
    return refuse(response, { status: 410, headers: { location: to(delta, '') } });
  const upTo = until === undefined ? now : Number(until);
  const from = Number(sent ?? '0');
  const selectedChanges = all.filter(
    ({ at, value }) => at > Number(since) && !(since === '0' && ('deleted' in value || '@removed' in value)),
  );
  const isLast = from + pageSize >= selectedChanges.length;
  sendJson(response, 200, {
    value: selectedChanges.slice(from, from + pageSize).map(({ value }) => selected(value, query)),
    ...(isLast
      ? { '@odata.deltaLink': to(delta, `d${upTo}`) }
      : { '@odata.nextLink': to(skip, `${since}-${upTo}-${from + pageSize}`) }),
  });
}
