/**
 * The Notion API: consent, versions, cursor pagination, and validation of answers.
 * https://developers.notion.com/reference
 */
import type { PageObjectResponse, QueryDataSourceResponse } from '@notionhq/client';

import { Fault } from '../../contract/failures.js';
import type { OAuthGrant, OAuthSpec } from '../oauthSpec.js';
import type { GrantClient, Refusal } from '../accountClient.js';
import type { ErrorClass } from '../errorClasses.js';
import { type Answer, asAnswer, asObject, asText, type Json } from '../json.js';
import { bearer } from '../bearer.js';

/** API version, which every request must name. Since this one, databases are containers of data sources. */
const VERSION = { 'notion-version': '2025-09-03' };

export const headersOf = ({ accessToken }: OAuthGrant): Readonly<Record<string, string>> => ({
  ...VERSION,
  ...bearer({ accessToken }),
});

/** Notion has no scopes: the user selects pages during the consent. */
export const notionOAuth: OAuthSpec = {
  scopes: [],
  scopeSeparator: ' ',
  scopeParameter: null,
  pkce: false,
  clientAuth: 'basic',
  bodyFormat: 'json',
  tokenHeaders: VERSION,
  authorizeParameters: { owner: 'user' },
  rotates: true,
};

const OVERLOADED = 529;
/** Classifies refusals whose meaning differs from their status. */
export function classify({ status, body }: Refusal): ErrorClass | null {
  if (status === OVERLOADED) return 'rate_limited';
  return asObject(body)['code'] === 'conflict_error' ? 'server' : null;
}

const ID = /^([\da-f]{8})-?([\da-f]{4})-?([\da-f]{4})-?([\da-f]{4})-?([\da-f]{12})$/i;
/** Normalises an id; null if it is invalid. Users may copy ids without dashes. */
export function idOf(value: unknown): string | null {
  const parts = typeof value === 'string' ? ID.exec(value) : null;
  return parts === null ? null : parts.slice(1).join('-').toLowerCase();
}

/** A page of a list. */
export interface Page {
  readonly values: readonly Json[];
  /** Null after the last one. */
  readonly next: string | null;
  /** Whether Notion ended the list early, so that entries are missing. */
  readonly isPartial: boolean;
}

const PER_PAGE = 100;

function pageOf(answer: Answer<QueryDataSourceResponse>): Page {
  const { results, next_cursor: cursor, has_more: hasMore } = answer;
  const next = asText(cursor);
  if (!Array.isArray(results) || (hasMore === true && next === null))
    throw new Fault('server_error', 'Notion returned an incomplete list. The request is retried automatically.');
  const isPartial =
    asText(asAnswer<NonNullable<QueryDataSourceResponse['request_status']>>(answer.request_status).type) ===
    'incomplete';
  return { values: results.map(asObject), next: hasMore === true ? next : null, isPartial };
}

export const fetchPage = async (client: GrantClient, path: readonly string[], cursor: string | null): Promise<Page> =>
  pageOf(await client.get(path, { page_size: String(PER_PAGE), ...(cursor === null ? {} : { start_cursor: cursor }) }));

/** Returns a page of a list that is requested by POST. */
export const postPage = async (
  client: GrantClient,
  path: readonly string[],
  body: object,
  cursor: string | null,
): Promise<Page> =>
  pageOf(
    await client.post(path, { ...body, page_size: PER_PAGE, ...(cursor === null ? {} : { start_cursor: cursor }) }),
  );

export const missing = (): Fault =>
  new Fault(
    'not_found',
    'Notion has no such item for the connected account. It may have been deleted, or is not shared with the connection.',
  );

/** Whether an error means that an object does not exist or is inaccessible. */
export const isInaccessible = (error: unknown): boolean =>
  error instanceof Fault && (error.kind === 'not_found' || error.kind === 'access_denied');
export const isTrashed = (json: Answer<Pick<PageObjectResponse, 'in_trash' | 'archived'>>): boolean =>
  json['in_trash'] === true || json['archived'] === true;
