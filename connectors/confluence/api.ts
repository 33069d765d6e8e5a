/**
 * The Confluence API: consent at Atlassian, the site of a connection, cursor pagination, and validation of answers.
 */
import { createHash } from 'node:crypto';

import { Fault } from '../../contract/failures.js';
import type { OAuthSpec } from '../oauthSpec.js';
import type { GrantClient, Refusal, SourceClient } from '../accountClient.js';
import type { ErrorClass } from '../errorClasses.js';
import { requireId } from '../faults.js';

import { asList, asObject, type Json, asObjects } from '../json.js';
/** Returns a text or number as text; null for others. Ids are texts or numbers. */
export const asText = (value: unknown): string | null => {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : null;
};

/** https://developer.atlassian.com/cloud/confluence/oauth-2-3lo-apps/ */
export const atlassianOAuth: OAuthSpec = {
  scopes: [
    // Without offline_access there is no refresh token. Version 2 of the API accepts granular scopes only: with the
    // older ones, such as read:confluence-content.all, it returns 401.
    // https://github.com/sooperset/mcp-atlassian/pull/766
    ...['offline_access', 'read:me', 'read:space:confluence', 'read:page:confluence'],
    ...['read:folder:confluence', 'read:hierarchical-content:confluence'],
  ],
  scopeSeparator: ' ',
  scopeParameter: 'scope',
  // An empty list: the scope never counts as missing. Token responses do not list it; they contain a refresh token.
  scopeAliases: { offline_access: [] },
  // Atlassian's 3LO apps do not support PKCE.
  pkce: false,
  clientAuth: 'post',
  bodyFormat: 'json',
  authorizeParameters: { audience: 'api.atlassian.com', prompt: 'consent' },
  rotates: true,
};

/**
 * Returns forbidden_item for a token without the required scope. Confluence refuses it with 401, like an invalid token,
 * although the token is valid for other calls.
 */
export function classify({ status, body }: Refusal): ErrorClass | null {
  const { message } = asObject(body);
  return status === 401 && typeof message === 'string' && /scope does not match/i.test(message)
    ? 'forbidden_item'
    : null;
}

/** Returns the wait of a refusal whose header has a point in time instead of seconds. */
export function waitMs({ headers }: Refusal, now: number): number | null {
  const end = Date.parse(headers['x-ratelimit-reset'] ?? '');
  return headers['retry-after'] !== undefined || Number.isNaN(end) ? null : Math.max(0, end - now);
}

/** The site that an account is connected to. */
export interface Site {
  /** Atlassian's id of the site, used in API paths. */
  readonly cloudId: string;
  /** The first label of the site's host name. */
  readonly subdomain: string;
  /** The URL for a user's browser, without a trailing slash. */
  readonly url: string;
}

const CLOUD_ID = /^[\w-]{1,64}$/;

/** Returns the Confluence sites that the token may access. Atlassian lists a site once for each of its products. */
async function sitesOf(client: SourceClient): Promise<readonly Site[]> {
  const { values } = await client.list(['oauth', 'token', 'accessible-resources'], {});
  const sites = values.map(asObject).flatMap((resource): [string, Site][] => {
    const [cloudId, url] = [asText(resource['id']), asText(resource['url'])];
    const scopes = asList(resource['scopes']).filter((scope) => typeof scope === 'string');
    const isOther = scopes.length > 0 && !scopes.some((scope) => scope.includes('confluence'));
    if (cloudId === null || !CLOUD_ID.test(cloudId) || url === null || !/^https?:\/\//.test(url) || isOther) return [];
    if (!URL.canParse(url)) return [];
    const { origin, hostname } = new URL(url);
    return [[cloudId, { cloudId, url: origin, subdomain: hostname.split('.')[0] ?? hostname }]];
  });
  return [...new Map(sites).values()];
}

/**
 * Returns the site named in the connection; without a name, the only accessible one.
 * @throws Fault if there is none, or several
 */
export async function siteOf(client: GrantClient): Promise<Site> {
  const { accessToken, facts } = client.credentials;
  const subdomain = facts['subdomain']?.toLowerCase();
  const key = createHash('sha256')
    .update(`${accessToken} ${subdomain ?? ''}`)
    .digest('base64');
  // Every call needs the site, so it is cached, by token: another token may have no access to it.
  return client.cache.getOrFind(key, () => findSite(client, subdomain));
}

async function findSite(client: GrantClient, subdomain: string | undefined): Promise<Site> {
  const sites = await sitesOf(client);
  const matching = subdomain === undefined ? sites : sites.filter((site) => site.subdomain.toLowerCase() === subdomain);
  const [site, another] = matching;
  if (!site)
    throw new Fault(
      'access_denied',
      subdomain === undefined
        ? 'The account has access to no Confluence site. Consent again, and choose one.'
        : 'The account has no access to the Confluence site that confluence_subdomain names. Consent again, and choose that one.',
    );
  if (another)
    throw new Fault(
      'bad_response',
      'The account has access to several Confluence sites. Name one in confluence_subdomain.',
    );
  return site;
}

/** Context of calls to version 2 of the API, for one site. */
export interface Call {
  readonly client: SourceClient;
  readonly site: Site;
}

const request = ({ client, site }: Call, path: readonly string[], query: Record<string, string> = {}) =>
  client.get(['ex', 'confluence', site.cloudId, 'wiki', 'api', 'v2', ...path], query);

/** Requests one object by its id. @throws Fault server_error for an answer without an id */
export const fetchObject = async (
  call: Call,
  path: readonly string[],
  query: Record<string, string> = {},
): Promise<Json> => requireId('Confluence', await request(call, path, query), 'the requested object');

/** The API's maximum page size. */
const PER_PAGE = '250';

/** Returns a page of a list. Only the cursor of the next link is used: its host and path are not trusted. */
export async function fetchPage(
  call: Call,
  path: readonly string[],
  query: Record<string, string>,
  cursor: string | null,
): Promise<{ readonly values: readonly Json[]; readonly next: string | null }> {
  const answer = await request(call, path, { limit: PER_PAGE, ...query, ...(cursor === null ? {} : { cursor }) });
  if (!Array.isArray(answer['results']))
    throw new Fault('server_error', 'Confluence gave an answer without a list. The request is retried automatically.');
  const link = asText(asObject(answer['_links'])['next']);
  const next = link === null ? null : new URL(link, 'https://api.atlassian.com').searchParams.get('cursor');
  // A repeated cursor would loop for ever: links without further results were seen.
  // https://github.com/onyx-dot-app/onyx/pull/11291
  if (link !== null && (next === null || next === cursor))
    throw new Fault(
      'server_error',
      'Confluence returned a list without its next page. The request is retried automatically.',
    );
  return { values: asObjects(answer['results']), next };
}
