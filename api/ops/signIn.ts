import Joi from 'joi';

import type { ApiDeps } from '../http/deps.js';
import { HttpError } from '../http/errors.js';
import { undocumented, type PageAnswer, RedirectAnswer } from '../http/operation.js';
import { opsPage } from './answers.js';
import { cookieHeader, OPS_PATH } from '../http/identity/opsSessions.js';
import { signInPage } from './view/signIn.js';

const UNKNOWN = 'This key is unknown, or was revoked.';
const MAX_KEY_LENGTH = 512;

export const isSecure = ({ publicUrl }: Pick<ApiDeps, 'publicUrl'>): boolean => publicUrl().startsWith('https:');

/** Renders the sign-in form with the error of the last attempt. */
export const signInAnswer = (status: number, error: string | null, headers: Record<string, string> = {}): PageAnswer =>
  opsPage(status, (nonce) => signInPage(nonce, error), headers);

/** POST /ops/sign_in: exchanges an API key for a session cookie. */
export const signIn = undocumented({
  method: 'post',
  path: `${OPS_PATH}/sign_in`,
  auth: 'open',
  takesForm: true,
  fromOwnPages: true,
  summary: 'Signs a browser in with an API key.',
  body: Joi.object({ api_key: Joi.string().allow('').max(MAX_KEY_LENGTH).default('') }),
  answer: Joi.any(),
  async handle({ body, peer, requestId, deps }) {
    try {
      deps.signInAttempts.admit(peer);
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      const seconds = String(error.retryAfterSeconds ?? 1);
      return signInAnswer(429, `Too many keys were tried. Try again in ${seconds} s.`, { 'retry-after': seconds });
    }
    const key = body.api_key.trim();
    const [organizationId, keyId] =
      key === ''
        ? [null, null]
        : await Promise.all([deps.store.organizations.organizationOfKey(key), deps.store.apiKeys.idOf(key)]);
    if (organizationId === null || keyId === null) {
      deps.log.warn({ requestId, peer }, 'an unknown key was used to sign in at the operator page');
      return signInAnswer(401, key === '' ? 'Give the API key of your organization.' : UNKNOWN);
    }
    deps.signInAttempts.refund(peer);
    const { cookie, ms } = deps.opsSessions.begin({ organizationId, keyId });
    deps.log.info({ requestId, organizationId, keyId, peer }, 'a browser signed in at the operator page');
    return new RedirectAnswer(OPS_PATH, { 'set-cookie': cookieHeader(cookie, ms, isSecure(deps)) });
  },
});

/** POST /ops/sign_out: ends the session, also for copies of its cookie. */
export const signOut = undocumented({
  method: 'post',
  path: `${OPS_PATH}/sign_out`,
  auth: 'operator',
  takesForm: true,
  fromOwnPages: true,
  summary: 'Signs a browser out.',
  answer: Joi.any(),
  async handle({ caller, deps }) {
    const session = caller?.session ?? null;
    if (session) {
      await deps.store.endedSessions.end(session.id, new Date(session.expiresAt + deps.opsSessions.lifeMs));
      deps.live.endSession(session.id);
    }
    return new RedirectAnswer(OPS_PATH, { 'set-cookie': cookieHeader('', 0, isSecure(deps)) });
  },
});
