import type { IncomingHttpHeaders } from 'node:http';

import type { ApiDeps } from '../deps.js';
import { endedAmong } from './opsSessions.js';
import { expiredToken, forbidden, invalid, keyAsToken, noAgentToken, tokenAsKey, unauthorized } from '../errors.js';
import type { AuthScheme, KeyCaller, OperatorCaller, UserCaller } from '../operation.js';
import { isLikeToken, type TokenOwner, type TokenScope } from './tokens.js';

/** Maximum length of an end user's customer id. */
const MAX_CUSTOMER_ID = 512;

type Credential =
  | { kind: 'token'; claims: TokenOwner; scope: TokenScope | null }
  | { kind: 'key'; organizationId: number };

/** Caller of the request. */
export interface Identity {
  readonly caller: UserCaller | TokenOwner | KeyCaller | OperatorCaller | null;
  /** Rejects with 401 if the caller was deleted. Null: the caller exists, or `caller` is null. */
  readonly confirmed: Promise<unknown> | null;
  /** Scope of the access token; absent for other credentials, and for a token without one. */
  readonly scope?: TokenScope;
}

/**
 * Returns the last token in the header. Front-ends append a new token when one has expired, and browsers join headers
 * of one name with commas.
 */
const lastOf = (header: string): string => header.slice(header.lastIndexOf(',') + 1).trimStart();

async function credentialOf(header = '', { tokens, store }: ApiDeps): Promise<Credential> {
  const [, scheme, secret] = /^(\S+)\s+(\S+)\s*$/.exec(lastOf(header)) ?? [];
  if (scheme === undefined || secret === undefined) throw unauthorized();
  switch (scheme.toLowerCase()) {
    case 'token': {
      const grant = tokens.read(secret);
      if (!grant) throw isLikeToken(secret) ? unauthorized() : keyAsToken();
      return { kind: 'token', claims: grant.owner, scope: grant.scope };
    }
    case 'bearer': {
      if (isLikeToken(secret)) throw tokenAsKey();
      const organizationId = await store.organizations.organizationOfKey(secret);
      if (organizationId === null) throw unauthorized();
      return { kind: 'key', organizationId };
    }
    default:
      throw unauthorized();
  }
}

async function liveOwner(claims: TokenOwner, { store }: ApiDeps): Promise<UserCaller> {
  const owner = await store.users.find(claims);
  if (!owner) throw unauthorized();
  return owner;
}

async function confirmLive(claims: TokenOwner, { store }: ApiDeps): Promise<void> {
  if (!(await store.users.isLive(claims))) throw unauthorized();
}

/**
 * Authenticates an agent by an access token, sent as `Bearer` or `Token`.
 * @throws HttpError 401 for other credentials, API keys included: an agent acts for one user
 */
export async function authenticateAgent(
  header: string | undefined,
  deps: ApiDeps,
): Promise<{ readonly caller: UserCaller; readonly scope: TokenScope | null }> {
  const [, secret = ''] = /^(?:bearer|token)\s+(\S+)\s*$/i.exec(header ?? '') ?? [];
  const grant = deps.tokens.read(secret);
  if (!grant) throw isLikeToken(secret) ? expiredToken() : noAgentToken();
  return { caller: await liveOwner(grant.owner, deps), scope: grant.scope };
}

/** Authenticates a browser with a valid session whose API key is still valid. */
async function browserOf(cookie: string | undefined, { opsSessions, store }: ApiDeps): Promise<OperatorCaller | null> {
  const session = opsSessions.read(cookie);
  if (!session) return null;
  const { organizationId } = session;
  return (await endedAmong([session], store)).length === 0 ? { organizationId, session } : null;
}

function customerIdOf(headers: IncomingHttpHeaders): string {
  const customerId = headers['customer-id'];
  if (typeof customerId !== 'string' || customerId.trim() === '')
    throw invalid(['header', 'customer-id'], 'Field required', 'missing');
  if (customerId.length > MAX_CUSTOMER_ID)
    throw invalid(['header', 'customer-id'], `At most ${MAX_CUSTOMER_ID} characters`, 'string_too_long');
  return customerId;
}

/** Authenticates the caller. 401 precedes every other error, then 403, then 422 for a missing customer-id. */
export async function authenticate(scheme: AuthScheme, headers: IncomingHttpHeaders, deps: ApiDeps): Promise<Identity> {
  if (scheme === 'open') return { caller: null, confirmed: null };
  if (scheme === 'operator' && headers.authorization === undefined)
    return { caller: await browserOf(headers.cookie, deps), confirmed: null };
  const credential = await credentialOf(headers.authorization, deps);
  if (credential.kind === 'token') {
    const scope = credential.scope === null ? {} : { scope: credential.scope };
    if (scheme === 'reader') {
      const confirmed = confirmLive(credential.claims, deps);
      // Attach a handler now so that an early rejection is not unhandled.
      confirmed.catch(() => undefined);
      return { caller: credential.claims, confirmed, ...scope };
    }
    const caller = await liveOwner(credential.claims, deps);
    if (scheme === 'user' || scheme === 'either') return { caller, confirmed: null, ...scope };
    // Clients read a 401 of the token operation as "invalid key", which is right for a token that is sent as the key.
    throw scheme === 'issuing' ? unauthorized() : forbidden();
  }
  const { organizationId } = credential;
  if (scheme === 'operator') return { caller: { organizationId, session: null }, confirmed: null };
  const isForAll = scheme === 'key' || (scheme === 'either' && headers['customer-id'] === undefined);
  if (isForAll) return { caller: { organizationId }, confirmed: null };
  return { caller: await deps.store.users.ensure(organizationId, customerIdOf(headers)), confirmed: null };
}
