import { createSign } from 'node:crypto';

import { Fault } from '../../../contract/failures.js';
import type { Egress } from '../../../egress/types.js';
import { member } from '../../members.js';
import { send } from '../../serviceClient.js';

/** A fixed access token, or the content of a service account's key file, with which tokens are fetched. */
export type GoogleCredentials = { readonly accessToken: string } | { readonly serviceAccount: string };

/** Provides access tokens of Google Cloud for requests. */
export interface AccessTokens {
  /**
   * Returns a token.
   * @throws Fault access_denied that names the setting, or a network Fault
   */
  getToken(signal: AbortSignal): Promise<string>;
  /** Discards a rejected token, so that the next call fetches a new one. Returns false if the token is fixed. */
  discard(): boolean;
}

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
/** Milliseconds before its expiry at which a token is replaced, since a request may take a while. */
const RENEWAL_MARGIN_MS = 120_000;
const TIMEOUT_MS = 20_000;
const MAX_BYTES = 100_000;

interface ServiceAccount {
  readonly client_email: string;
  readonly private_key: string;
  readonly token_uri: string;
}

const accessDenied = (problem: string): Fault =>
  new Fault(
    'access_denied',
    `Vertex AI cannot be used: ${problem}. Set VERTEX_CREDENTIALS to the key file of a service account that may use Vertex AI.`,
  );

/**
 * Creates a provider of access tokens: a fixed one, or tokens fetched with a service account's key (RFC 7523) and
 * cached until shortly before they expire.
 */
export function createAccessTokens(
  credentials: GoogleCredentials,
  egress: Pick<Egress, 'request'>,
  now: () => number = Date.now,
): AccessTokens {
  if ('accessToken' in credentials) return { getToken: async () => credentials.accessToken, discard: () => false };
  let cached: { token: string; expiresAt: number } | null = null;
  let pendingFetch: Promise<string> | null = null;
  const fetchToken = async (): Promise<string> => {
    const account = readAccount(credentials.serviceAccount);
    const answer = await send(egress, {
      url: account.token_uri,
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ grant_type: GRANT, assertion: assertion(account, now()) }).toString(),
      maxBytes: MAX_BYTES,
      timeoutMs: TIMEOUT_MS,
    });
    if (answer.status >= 500 || answer.status === 429 || answer.status === 408)
      throw new Fault('server_error', `Google returned no access token (HTTP ${answer.status}). Try again later.`);
    if (answer.status !== 200) throw accessDenied(`Google refused the service account (HTTP ${answer.status})`);
    const body = parse(answer.text);
    const [token, seconds] = [member(body, 'access_token'), member(body, 'expires_in')];
    if (typeof token !== 'string' || token === '')
      throw new Fault('server_error', 'Google returned an answer without an access token. Try again later.');
    cached = { token, expiresAt: now() + (typeof seconds === 'number' ? seconds * 1000 : 0) - RENEWAL_MARGIN_MS };
    return token;
  };
  return {
    async getToken(signal) {
      signal.throwIfAborted();
      if (cached && now() < cached.expiresAt) return cached.token;
      // All waiting callers share one fetch. It uses none of their signals, so that one abort does not end it for the
      // others.
      pendingFetch ??= fetchToken().finally(() => {
        pendingFetch = null;
      });
      return pendingFetch;
    },
    discard() {
      cached = null;
      return true;
    },
  };
}

/**
 * Parses a service account key.
 * @throws Fault access_denied if the text is not one
 */
function readAccount(text: string): ServiceAccount {
  const body = parse(text);
  const [email, key] = [member(body, 'client_email'), member(body, 'private_key')];
  const uri = member(body, 'token_uri') ?? 'https://oauth2.googleapis.com/token';
  if (typeof email !== 'string' || typeof key !== 'string' || typeof uri !== 'string')
    throw accessDenied('the credentials are not a service account key (JSON with client_email and private_key)');
  return { client_email: email, private_key: key, token_uri: uri };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

function assertion(account: ServiceAccount, now: number): string {
  const issuedAt = Math.floor(now / 1000);
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
  const claims = {
    iss: account.client_email,
    scope: SCOPE,
    aud: account.token_uri,
    iat: issuedAt,
    exp: issuedAt + 3600,
  };
  const signed = `${encode({ alg: 'RS256', typ: 'JWT' })}.${encode(claims)}`;
  try {
    return `${signed}.${createSign('RSA-SHA256').update(signed).sign(account.private_key, 'base64url')}`;
  } catch {
    throw accessDenied('the private key of the service account cannot be read');
  }
}
