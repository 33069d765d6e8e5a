/** How Notion is called: consent, versions of the interface, lists by cursor, and answers that may be anything. https://developers.notion.com/reference */
import { Fault } from '../../contract/failures.js';
import type { OAuthGrant, OAuthSpec } from '../oauthSpec.js';
import type { GrantClient, Refusal } from '../accountClient.js';
import type { ErrorClass } from '../errorClasses.js';
import { asObject, asText, type Json } from '../json.js';
import { bearer } from '../bearer.js';

/** The first one in which databases are containers of data sources. Without a version nothing is answered. */
const VERSION = { 'notion-version': '2025-09-03' };

export const headersOf = ({ accessToken }: OAuthGrant): Readonly<Record<string, string>> => ({
  ...VERSION,
  ...bearer({ accessToken }),
});

/** Which pages are meant its user chooses at Notion itself: there are no scopes. */
export const notionConsent: OAuthSpec = {
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
/** What a refusal means where its status does not say it. */
export function classify({ status, body }: Refusal): ErrorClass | null {
  if (status === OVERLOADED) return 'rate_limited';
  return asObject(body)['code'] === 'conflict_error' ? 'server' : null;
}

const ID = /^([\da-f]{8})-?([\da-f]{4})-?([\da-f]{4})-?([\da-f]{4})-?([\da-f]{12})$/i;
/** Normalises an id; null if it is invalid. People copy ids without their dashes. */
export function idOf(value: unknown): string | null {
  const parts = typeof value === 'string' ? ID.exec(value) : null;
  return parts === null ? null : parts.slice(1).join('-').toLowerCase();
}

/** A page of a list. */
export interface Page {
  readonly values: readonly Json[];
  /** Null after the last one. */
  readonly next: string | null;
  /** Notion gave up before the end. */
  readonly isPartial: boolean;
}

const PER_PAGE = 100;

function pageOf(answer: Json): Page {
  const { results, next_cursor: cursor, has_more: hasMore } = answer;
  const next = asText(cursor);
  if (!Array.isArray(results) || (hasMore === true && next === null))
    throw new Fault('server_error', 'Notion gave an answer without a whole list. It is tried again by itself.');
  const isPartial = asText(asObject(answer['request_status'])['type']) === 'incomplete';
  return { values: results.map(asObject), next: hasMore === true ? next : null, isPartial };
}

export const takePage = async (client: GrantClient, path: readonly string[], cursor: string | null): Promise<Page> =>
  pageOf(await client.get(path, { page_size: String(PER_PAGE), ...(cursor === null ? {} : { start_cursor: cursor }) }));

/** The same of lists that are asked for by a POST. */
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
    'Notion has no such item for the connected account. It may have been deleted, or not been shared.',
  );

/** Whether something is not there, or not for us. */
export const isOutOfReach = (error: unknown): boolean =>
  error instanceof Fault && (error.kind === 'not_found' || error.kind === 'access_denied');
export const isTrashed = (json: Json): boolean => json['in_trash'] === true || json['archived'] === true;
