/** Shared parts of the Google emulators: consent at Google's paths, error bodies, partial responses and page tokens. */
import type { ServerResponse } from 'node:http';

import { replayable } from './consentEmulator.js';
import { type Call, type Emulator, type InjectedFault, sendJson, startEmulator } from './emulator.js';
import { type Access, createOAuthProvider, type OAuthProvider, type OAuthProviderSettings } from './oauthProvider.js';

/** A refusal in the format of Google's APIs. */
export interface GoogleRefusal {
  readonly status: number;
  readonly reason?: string;
  readonly message?: string;
  /** Whether the body has the format of newer APIs, without a list of errors. */
  readonly isNew?: true;
  /** The parameter that caused the error. */
  readonly location?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'badRequest',
  401: 'authError',
  403: 'forbidden',
  404: 'notFound',
  429: 'rateLimitExceeded',
  500: 'backendError',
};

export function refuseGoogle(response: ServerResponse, refusal: GoogleRefusal): void {
  if (refusal.isNew === true) return refuseByStatus(response, refusal);
  const { status, reason = REASONS[status] ?? 'backendError', message = reason, location, headers = {} } = refusal;
  const locationFields = location === undefined ? {} : { locationType: 'parameter', location };
  const errors = [{ message, domain: 'global', reason, ...locationFields }];
  sendJson(response, status, { error: { code: status, message, errors } }, headers);
}

/** Canonical error codes by HTTP status. https://google.aip.dev/193 */
const CANONICAL: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
};

/** Refuses in the format of Google's newer APIs. `reason` is the reason in ErrorInfo; unset: no details. */
function refuseByStatus(
  response: ServerResponse,
  { status, reason, message = 'The caller does not have permission', headers = {} }: GoogleRefusal,
): void {
  const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'googleapis.com' };
  const details = reason === undefined ? {} : { details: [info] };
  const error = { code: status, message, status: CANONICAL[status] ?? 'UNKNOWN', ...details };
  sendJson(response, status, { error }, headers);
}

const GOOGLE_PEOPLE = [
  { id: 'ada@harbour.example', label: 'Ada' },
  { id: 'ben@harbour.example', label: 'Ben' },
];

/** Selects the members that `fields` names, for example `nextPageToken,files(id,owners/name)`. Null: all members. */
export function selectFields(fields: string | null, value: unknown): unknown {
  if (fields === null || fields === '*') return value;
  if (Array.isArray(value)) return value.map((member: unknown) => selectFields(fields, member));
  if (typeof value !== 'object' || value === null) return value;
  const chosen: Record<string, unknown> = {};
  for (const [, name = '', inner, nested] of fields.matchAll(
    /([\w-]+)(?:\(((?:[^()]|\([^()]*\))*)\)|\/([\w/]+))?(?:,|$)/g,
  )) {
    const member = (value as Record<string, unknown>)[name];
    if (member !== undefined) chosen[name] = selectFields(inner ?? nested ?? null, member);
  }
  return chosen;
}

/** Pages of lists. A page token holds a position and its list, and can expire. */
export interface Pages {
  /** Returns a page; null if it refused the token. */
  take<T>(
    call: Call,
    list: readonly T[],
    pageSize: number,
  ): { readonly page: readonly T[]; readonly next: string | null } | null;
  /** Invalidates all page tokens. */
  expire(): void;
}

const INVALID = { status: 400, reason: 'invalid', message: 'Invalid Value', location: 'pageToken' };

/** @param refusal the answer to an expired or unknown token */
export function createPages(refusal: GoogleRefusal = INVALID): Pages {
  let age = 0;
  return {
    take({ query, response, url }, list, pageSize) {
      const parameters = new URLSearchParams(query);
      parameters.delete('pageToken');
      const listUrl = `${url.pathname}?${parameters.toString()}`;
      const token = query.get('pageToken');
      let from = 0;
      if (token !== null) {
        const [tokenAge, position, tokenList] = Buffer.from(token, 'base64url').toString().split(' ');
        from = Number(position);
        // A token is valid only if path and all other parameters equal those of the request that returned it.
        if (
          Number(tokenAge) !== age ||
          !Number.isSafeInteger(from) ||
          tokenList !== Buffer.from(listUrl).toString('base64url')
        ) {
          refuseGoogle(response, refusal);
          return null;
        }
      }
      const to = from + pageSize;
      const next = `${age} ${to} ${Buffer.from(listUrl).toString('base64url')}`;
      return { page: list.slice(from, to), next: to < list.length ? Buffer.from(next).toString('base64url') : null };
    },
    expire() {
      age += 1;
    },
  };
}

/** Alternates between the two rate limit responses of Google's APIs. @param retryAfterSeconds seconds in Retry-After */
export const alternateRateLimits =
  (retryAfterSeconds = 0) =>
  (nth: number): GoogleRefusal => ({
    ...(nth % 2 === 0 ? { status: 403, reason: 'userRateLimitExceeded' } : { status: 429 }),
    headers: { 'retry-after': String(retryAfterSeconds) },
  });

export interface GoogleEmulator extends Emulator<GoogleRefusal> {
  readonly oauth: OAuthProvider;
  /** Returns the pairs of SOURCE_URLS for consent, tokens and the API. */
  settingsOf(source: string, paths: Readonly<Record<string, string>>): string;
}

const CONSENT = { authorize: '/o/oauth2/v2/auth', token: '/token', revoke: '/revoke' };

/**
 * Starts an emulator. Faults are not injected into requests for consent and tokens.
 * @param scope pattern of the scopes that grant access
 * @param faultTargetOf returns the text for the function given to `injectFault`
 */
export async function startGoogle(
  answer: (call: Call, access: Access) => void | Promise<void>,
  scope: RegExp,
  settings: Partial<OAuthProviderSettings> = {},
  faultTargetOf: (call: Call) => string = ({ url }) => url.pathname,
): Promise<GoogleEmulator> {
  const oauth = createOAuthProvider({ name: 'Google', paths: CONSENT, people: GOOGLE_PEOPLE, ...settings });
  const isConsent = (path: string) => Object.values(CONSENT).includes(path);
  const emulator = await startEmulator<GoogleRefusal>({
    refuse: refuseGoogle,
    faultTargetOf,
    admit({ request, response, url }) {
      if (isConsent(url.pathname)) return true;
      const access = oauth.accessOf(request);
      if (!access) {
        const headers = { 'www-authenticate': 'Bearer realm="https://accounts.google.com/", error="invalid_token"' };
        refuseGoogle(response, { status: 401, message: 'Invalid Credentials', headers });
        return false;
      }
      if (access.scopes.length === 0 || access.scopes.some((granted) => scope.test(granted))) return true;
      const message = 'Request had insufficient authentication scopes.';
      refuseGoogle(response, { status: 403, reason: 'insufficientPermissions', message });
      return false;
    },
    async answer(call) {
      if (await oauth.take(replayable(call), call.response)) return;
      const access = oauth.accessOf(call.request);
      if (access) await answer(call, access);
      else refuseGoogle(call.response, { status: 401 });
    },
  });
  return {
    ...emulator,
    oauth,
    injectFault(how) {
      emulator.injectFault((path): InjectedFault<GoogleRefusal> => (isConsent(path) ? null : how(path)));
    },
    settingsOf: (source, paths) =>
      Object.entries({ ...paths, ...CONSENT })
        .map(([part, path]) => `${source}.${part}=${emulator.origin}${path}`)
        .join(','),
  };
}
