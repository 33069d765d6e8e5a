/** How Microsoft Graph answers: errors, $select, pages with links that carry tokens. */
import type { ServerResponse } from 'node:http';

import { type Call, type Refused, sendJson } from '../emulator.js';

/** `code` in place of the usual one of its status, `body` in place of all. */
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
  const error = { code: code ?? CODES[status] ?? 'generalException', message: 'The emulator says no.', innerError };
  sendJson(response, status, { error }, headers);
}

type Json = Record<string, unknown>;

/** What $select leaves of an object; annotations are never left out. */
export function selected(value: Json, query: URLSearchParams): Json {
  const fields = query.get('$select')?.split(',');
  if (!fields) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => key.startsWith('@') || fields.includes(key)));
}

export const sendOne = ({ response, query }: Call, value: Json): void =>
  sendJson(response, 200, selected(value, query));

/** A page of a plain collection, by $skiptoken. */
export function sendPage({ response, query, url, request }: Call, all: readonly Json[], pageSize: number): void {
  const from = Number(query.get('$skiptoken') ?? query.get('$skip') ?? '0');
  const next = new URL(url.href);
  next.host = request.headers.host ?? '';
  next.searchParams.delete('$skip');
  next.searchParams.set('$skiptoken', String(from + pageSize));
  sendJson(response, 200, {
    '@odata.context': 'https://graph.microsoft.com/v1.0/$metadata',
    value: all.slice(from, from + pageSize).map((one) => selected(one, query)),
    ...(from + pageSize < all.length ? { '@odata.nextLink': next.href } : {}),
  });
}

/** What changed, and when: the moment counts changes. */
export interface Changed {
  readonly at: number;
  readonly value: Json;
}

export interface FeedWords {
  readonly pageSize: number;
  /** The query parameter that carries tokens of the pages, and that of the point. */
  readonly skip: string;
  readonly delta: string;
  /** Points before this moment are not known any more. */
  readonly forgotten: number;
  readonly now: number;
}

/**
 * A page of a feed. A token says from which moment on, up to which, and how many of these were told.
 * @param all what there is, and what is not there any more, oldest first
 */
export function sendFeed(
  { response, query, url, request }: Call,
  all: readonly Changed[],
  { pageSize, skip, delta, forgotten, now }: FeedWords,
): void {
  const argument = /\(token='([^']*)'\)$/.exec(decodeURIComponent(url.pathname))?.[1];
  const token = query.get(skip) ?? query.get(delta) ?? argument ?? '';
  const to = (name: string, value: string): string => {
    const link = new URL(`http://${request.headers.host}${url.pathname.replace(/\(token=.*$/, '')}`);
    // Drives have the token of a point as an argument in the path.
    if (name === 'token' && value.startsWith('d')) link.pathname += `(token='${value}')`;
    else link.searchParams.set(name, value);
    return link.href;
  };
  if (token === 'latest') return sendJson(response, 200, { value: [], '@odata.deltaLink': to(delta, `d${now}`) });
  const [, since, until, told] = /^d?(\d+)(?:-(\d+)-(\d+))?$/.exec(token) ?? ['', '0', undefined, undefined];
  if (Number(since) < forgotten && Number(since) > 0)
    return refuse(response, { status: 410, headers: { location: to(delta, '') } });
  const upTo = until === undefined ? now : Number(until);
  const from = Number(told ?? '0');
  const some = all.filter(
    ({ at, value }) => at > Number(since) && !(since === '0' && ('deleted' in value || '@removed' in value)),
  );
  const isLast = from + pageSize >= some.length;
  sendJson(response, 200, {
    value: some.slice(from, from + pageSize).map(({ value }) => selected(value, query)),
    ...(isLast
      ? { '@odata.deltaLink': to(delta, `d${upTo}`) }
      : { '@odata.nextLink': to(skip, `${since}-${upTo}-${from + pageSize}`) }),
  });
}
