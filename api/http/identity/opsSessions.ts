import { randomBytes } from 'node:crypto';

import type { Store } from '../../../store/connect.js';
import { createSigner, type SigningKey } from './signer.js';

/** A browser session created with an API key. */
export interface OpsSession {
  readonly id: string;
  readonly organizationId: number;
  /** The API key. The session ends when the key is revoked. */
  readonly keyId: number;
  readonly expiresAt: number;
}

export interface OpsSessions {
  /** @returns the cookie value and its lifetime */
  begin(
    key: Pick<OpsSession, 'organizationId' | 'keyId'>,
    id?: string,
  ): { readonly cookie: string; readonly ms: number };
  /** Returns the session in a `cookie` header; null if there is no valid one. */
  read(header: string | undefined): OpsSession | null;
  readonly lifeMs: number;
  /** Returns whether the session should be renewed. */
  isAging(session: OpsSession): boolean;
}

/** Path of the operator pages. Browsers send the cookie only to this path and to paths below it. */
export const OPS_PATH = '/ops';
const COOKIE = 'allotrope_ops';

/**
 * Returns the header that sets or deletes the session cookie. Browsers do not send the cookie with requests from other
 * sites, and scripts cannot read it.
 */
export const cookieHeader = (value: string, ms: number, isSecure: boolean): string =>
  [
    `${COOKIE}=${value}`,
    `Path=${OPS_PATH}`,
    `Max-Age=${Math.floor(ms / 1000)}`,
    'HttpOnly',
    'SameSite=Strict',
    ...(isSecure ? ['Secure'] : []),
  ].join('; ');

export function createOpsSessions(
  keys: readonly SigningKey[],
  lifeMs: number,
  now: () => number = Date.now,
): OpsSessions {
  const signer = createSigner(keys, 'ops-session');
  return {
    lifeMs,
    begin({ organizationId, keyId }, id = randomBytes(16).toString('base64url')) {
      return { cookie: signer.sign({ o: organizationId, k: keyId, e: now() + lifeMs, s: id }), ms: lifeMs };
    },
    read(header = '') {
      const pairs = header.split(';').map((pair) => pair.trim());
      const value = pairs.find((pair) => pair.startsWith(`${COOKIE}=`))?.slice(COOKIE.length + 1);
      const claims = value === undefined ? null : signer.read(value);
      if (claims === null) return null;
      const { o, k, e, s } = claims as { o: number; k: number; e: number; s: string };
      return e > now() ? { id: s, organizationId: o, keyId: k, expiresAt: e } : null;
    },
    isAging: ({ expiresAt }) => expiresAt - now() < lifeMs / 2,
  };
}

/** Returns the ids of the sessions whose API key was revoked, or that were signed out. Does not check their expiry. */
export async function endedAmong(
  sessions: readonly OpsSession[],
  { endedSessions, apiKeys }: Pick<Store, 'endedSessions' | 'apiKeys'>,
): Promise<string[]> {
  const [ended, validKeyIds] = await Promise.all([
    endedSessions.filterEnded(sessions.map(({ id }) => id)),
    apiKeys.validAmong(sessions.map(({ keyId }) => keyId)),
  ]);
  return sessions.flatMap(({ id, keyId }) => (ended.includes(id) || !validKeyIds.includes(keyId) ? [id] : []));
}
