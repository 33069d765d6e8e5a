/** Common parts of the Microsoft Graph sources: consent, refusals, pagination. https://learn.microsoft.com/graph */
import { recordOf, string } from '../cursors.js';
import { Fault } from '../../contract/failures.js';
import type { Identity, SharedLimit } from '../connector.js';
import type { OAuthSpec } from '../oauthSpec.js';
import type { CallOptions, Refusal, SourceClient } from '../accountClient.js';
import type { ErrorClass } from '../errorClasses.js';
import { noSuchItem } from '../faults.js';

import { asObject, asObjects, asText, type Json } from '../json.js';
export const dateOf = (value: unknown): string | null => {
  const text = asText(value);
  return text !== null && !Number.isNaN(Date.parse(text)) ? text : null;
};

/** Returns the OAuth settings for Microsoft. Without offline_access there is no refresh token. */
export const microsoftOAuth = (scopes: readonly string[]): OAuthSpec => ({
  scopes: ['offline_access', 'User.Read', ...scopes],
  scopeSeparator: ' ',
  scopeParameter: 'scope',
  // Wider scopes include narrower ones. https://learn.microsoft.com/graph/permissions-reference
  scopeAliases: {
    // An empty list: token responses of Microsoft never contain this scope, so it does not count as missing.
    offline_access: [],
    'Files.Read.All': ['Files.ReadWrite.All'],
    'Sites.Read.All': ['Sites.ReadWrite.All', 'Sites.Manage.All', 'Sites.FullControl.All'],
    'Mail.Read': ['Mail.ReadWrite'],
    'MailboxSettings.Read': ['MailboxSettings.ReadWrite'],
    'User.Read': ['User.ReadWrite', 'User.Read.All'],
  },
  pkce: true,
  clientAuth: 'post',
  bodyFormat: 'form',
  // Lets users with several accounts choose one.
  authorizeParameters: { response_mode: 'query', prompt: 'select_account' },
  rotates: true,
});

/** Error codes (`error.code`, in lower case) whose meaning differs from their status. */
const CODES: Readonly<Record<string, ErrorClass>> = {
  // Graph answers 400 to invalid ids.
  errorinvalidid: 'not_found',
  errorinvalididmalformed: 'not_found',
  errorinvalididnotpresent: 'not_found',
  // The cursor of a drive's or mail folder's feed has expired.
  resyncrequired: 'cursor_invalid',
  resyncchangesapplydifferences: 'cursor_invalid',
  resyncchangesuploaddifferences: 'cursor_invalid',
  syncstatenotfound: 'cursor_invalid',
  syncstateinvalid: 'cursor_invalid',
  activitylimitreached: 'rate_limited',
  applicationthrottled: 'rate_limited',
  toomanyrequests: 'rate_limited',
  errorexceededmessagelimit: 'rate_limited',
  // The item has no downloadable content, such as a notebook, or is locked.
  notsupported: 'not_exportable',
  resourcelocked: 'forbidden_item',
};
const BANDWIDTH_USED_UP = 509;

/** Classifies a refusal of Graph. */
export function classify({ status, headers, body }: Refusal): ErrorClass | null {
  if (status === 401) return null;
  const code = asText(asObject(asObject(body)['error'])['code'])?.toLowerCase() ?? '';
  const kindOfCode = Object.hasOwn(CODES, code) ? CODES[code] : undefined;
  if (kindOfCode !== undefined) return kindOfCode;
  if (status === 410) return 'cursor_invalid';
  if (status === 423) return 'forbidden_item';
  // Graph also answers 503 to a throttled tenant, then with Retry-After.
  if (status === BANDWIDTH_USED_UP || (status === 503 && headers['retry-after'] !== undefined)) return 'rate_limited';
  return null;
}

/** The limits of an app, over all tenants: https://learn.microsoft.com/graph/throttling-limits. */
export const appLimit: SharedLimit = {
  requestsAtOnce: 64,
  // Other limits apply to a tenant, or to the app in one tenant or mailbox; which accounts share them is unknown.
  appliesTo: ({ headers }) => /^application\b/i.test(headers['x-ms-throttle-scope'] ?? ''),
};

/** Identifies the account by the user's e-mail address; without one by the sign-in name. */
export async function identifyUser(client: SourceClient): Promise<Identity> {
  const user = await client.get(['me'], { $select: 'id,displayName,mail,userPrincipalName' });
  const account = (asText(user['mail']) ?? asText(user['userPrincipalName']))?.toLowerCase();
  const id = asText(user['id']);
  if (account === undefined || id === null) throw new Fault('server_error', 'Microsoft returned no user. Try again.');
  const name = asText(user['displayName']);
  return { account, metadata: { user_id: id, ...(name === null ? {} : { user_name: name }) } };
}

/** The query parameters of a request: built by the connector, or taken from a link in an answer. */
export type Query = Readonly<Record<string, string>>;
/** Checks that a value is a Query. Validates cursors that contain the query of the next page. */
export const isQuery = recordOf(string);

/** Decodes a path of a URL. Null if it has an invalid escape sequence. */
export function decodedPath(path: string): string | null {
  try {
    return decodeURIComponent(path);
  } catch {
    return null;
  }
}

/** Maximum length of a query taken from a link. */
const MAX_QUERY = 16_384;

/**
 * Returns the query parameters of a link in an answer; null without any. Some links have their token in the path, as
 * the argument `(token='…')` at its end: it becomes the parameter `token`. Nothing else of the link is used: requests
 * go to the host and path that the connector chooses, so an answer cannot redirect them.
 */
export function queryOf(link: unknown): Query | null {
  const text = asText(link);
  if (text === null || text.length > MAX_QUERY || !URL.canParse(text)) return null;
  const { pathname, searchParams } = new URL(text);
  // Microsoft documents it both with and without quotes: https://learn.microsoft.com/graph/api/driveitem-delta#examples
  const argument = /\(token='?([^'()]*)'?\)$/.exec(decodedPath(pathname) ?? '')?.[1];
  const query = { ...Object.fromEntries(searchParams), ...(argument === undefined ? {} : { token: argument }) };
  return Object.keys(query).length === 0 ? null : query;
}

/** A page of a collection. */
export interface GraphPage {
  readonly values: readonly Json[];
  /** Null after the last page. */
  readonly next: Query | null;
  /** On the last page of a feed: the cursor of the next sync. */
  readonly delta: Query | null;
}

/** Returns a page of a collection, with the cursor of the next one. */
export async function fetchPage(
  client: SourceClient,
  path: readonly string[],
  query: Query,
  options?: CallOptions,
): Promise<GraphPage> {
  const answer = await client.get(path, query, options);
  if (!Array.isArray(answer['value']))
    throw new Fault('server_error', 'Microsoft gave an answer without a list. The request is retried automatically.');
  const next = queryOf(answer['@odata.nextLink']);
  if (next === null && asText(answer['@odata.nextLink']) !== null)
    throw new Fault(
      'server_error',
      'Microsoft returned a link to the next page that cannot be read. The request is retried automatically.',
    );
  return { values: asObjects(answer['value']), next, delta: queryOf(answer['@odata.deltaLink']) };
}

/**
 * Returns all pages of a short collection. Throws a Fault for more than `maxEntries` entries: an incomplete list would
 * cause deletions.
 */
export async function fetchAll(
  client: SourceClient,
  path: readonly string[],
  query: Query,
  { maxEntries, options }: { readonly maxEntries: number; readonly options?: CallOptions },
): Promise<readonly Json[]> {
  const entries: Json[] = [];
  for (let pageQuery: Query | null = query; pageQuery !== null;) {
    const page: GraphPage = await fetchPage(client, path, pageQuery, options);
    entries.push(...page.values);
    pageQuery = page.next;
    if (entries.length > maxEntries)
      throw new Fault(
        'too_large',
        `Microsoft lists more than ${maxEntries} entries, a fixed maximum of this service. Reduce their number.`,
      );
  }
  return entries;
}

/**
 * Awaits a request to Graph with an id that a client of our API supplied. Graph answers 400 with a generic text to an
 * invalid id; this becomes the error for an unknown item.
 */
export async function withCallerId<T>(name: string, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw error instanceof Fault && error.kind === 'bad_response' ? noSuchItem(name) : error;
  }
}
