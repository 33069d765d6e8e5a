import { setTimeout as sleep } from 'node:timers/promises';
import Joi from 'joi';

import { CALLBACK_PATHS } from '../../../contract/accounts/oauth.js';
import { workflowIds } from '../../../contract/runs/workflowIds.js';
import { CONNECTED_SOURCES, isConnectedSource } from '../../../contract/sources/connectedSources.js';
import { OAUTH_SOURCES, type OAuthSource } from '../../../contract/accounts/whiteLabel.js';
import type { AttemptDoc } from '../../../store/models/connections.js';
import type { DataSourceDoc } from '../../../store/models/dataSources.js';
import type { ApiDeps } from '../../http/deps.js';
import { type Operation, undocumented, type PageAnswer, RedirectAnswer } from '../../http/operation.js';
import { cancelledPage, connectedPage, failedPage, pagePath, pendingPage, unknownPage } from './pages.js';

/** Time in milliseconds that the page waits for the result; the connection continues afterwards. */
const TIME_LIMIT_MS = 25_000;
const POLL_MS = 100;
/** Error codes of providers for a refusal by the user. */
const CONSENT_REFUSED = /^(access_denied|user_denied|user_cancelled_login|consent_declined)$/;
/** Error codes of RFC 6749 for a failure of the provider, which may also occur after the consent page. */
const TEMPORARY = /^(server_error|temporarily_unavailable)$/;
/** Error codes that may be logged: other text could be anything. */
const ERROR_CODE = /^\w{1,64}$/;
/** Maximum length of a code or token in characters; longer ones are rejected. */
const MAX_CODE = 8_192;

const nameOf = (service: OAuthSource): string =>
  isConnectedSource(service) ? CONNECTED_SOURCES[service].name : service;

/** Creates GET /integrations/<source>, to which the provider redirects the user with a code or a refusal. */
const callback = (service: OAuthSource): Operation =>
  undocumented({
    method: 'get',
    path: `/integrations/${CALLBACK_PATHS[service]}`,
    auth: 'open',
    changesRecords: true,
    summary: 'Receives the user whom a provider redirects after the consent. Returns a page.',
    // Providers may add parameters.
    query: Joi.object({ state: Joi.any(), code: Joi.any(), oauth_verifier: Joi.any(), error: Joi.any() }).unknown(),
    answer: Joi.any(),
    async handle({ query: { state, error, ...query }, signal, deps }) {
      const isOAuth1 = isConnectedSource(service) && deps.connectors.consent(service)?.spec.isOAuth1 === true;
      const code = isOAuth1 ? query.oauth_verifier : query.code;
      const attempt = typeof state === 'string' ? await deps.store.attempts.findByState(state) : null;
      if (attempt?.service !== service) return unknownPage();
      if (typeof code === 'string' && code !== '' && code.length <= MAX_CODE && error === undefined)
        return returnedWithCode(attempt, code, signal, deps);
      // After a refusal, OAuth 1.0a providers add no parameters to the callback URL, which already contains the state.
      const errorWithoutParameters = isOAuth1 ? 'access_denied' : '';
      return returnedWithoutCode(attempt, typeof error === 'string' ? error : errorWithoutParameters, signal, deps);
    },
  });

export const callbacks: readonly Operation[] = OAUTH_SOURCES.map(callback);

async function returnedWithCode(
  attempt: AttemptDoc,
  code: string,
  signal: AbortSignal,
  deps: ApiDeps,
): Promise<PageAnswer | RedirectAnswer> {
  const { store, dispatcher } = deps;
  const { _id } = attempt;
  if (await store.attempts.recordReturn(_id, code)) await dispatcher.signalConsentReturned(_id);
  // The first return, but after the time limit.
  else if (await store.attempts.changeState(_id, ['waiting'], 'expired')) await dispatcher.signalConsentReturned(_id);
  // A repeated visit starts no second exchange; it waits for the result of the first one.
  return outcomeOf(attempt, signal, deps);
}

async function returnedWithoutCode(
  attempt: AttemptDoc,
  error: string,
  signal: AbortSignal,
  deps: ApiDeps,
): Promise<PageAnswer | RedirectAnswer> {
  const { store, unit, dispatcher, log } = deps;
  const { _id, service, knownSourceId, organizationId, userId } = attempt;
  if (CONSENT_REFUSED.test(error)) {
    const isFirstReturn = await unit.transaction(async (session) => {
      if (!(await store.attempts.recordReturn(_id, null, session))) return false;
      if (knownSourceId !== null)
        await store.dataSources.recordCancellation(attempt, knownSourceId, workflowIds.connect(_id), session);
      return true;
    });
    if (!isFirstReturn) return outcomeOf(attempt, signal, deps);
    await dispatcher.signalConsentReturned(_id);
    return cancelledPage(nameOf(service));
  }
  const message = TEMPORARY.test(error)
    ? `${nameOf(service)} could not complete the consent because of an error of its own. Nothing was connected. Try again later.`
    : `${nameOf(service)} rejected the request of this service, and did not show a consent page. Inform the operator of this service before you try again: the cause is in the settings of the OAuth client at ${nameOf(service)}.`;
  if (await store.attempts.changeState(_id, ['waiting'], 'failed', { message })) {
    const code = ERROR_CODE.test(error) ? error : null;
    log.warn(
      { organizationId, userId, attemptId: _id, service, code },
      'a provider returned an error instead of a code',
    );
    await dispatcher.signalConsentReturned(_id);
  }
  return outcomeOf(attempt, signal, deps);
}

/** Returns the page for the result, once it is known. */
async function outcomeOf(
  { _id, service }: AttemptDoc,
  signal: AbortSignal,
  deps: ApiDeps,
): Promise<PageAnswer | RedirectAnswer> {
  const name = nameOf(service);
  for (const until = Date.now() + TIME_LIMIT_MS; Date.now() < until; await sleep(POLL_MS)) {
    const attempt = await deps.store.attempts.find(_id);
    // The secret of the selection page is issued only once. A reload of this page aborts the request: leave the secret
    // to the newer request.
    if (signal.aborted) break;
    switch (attempt?.state) {
      case undefined:
        return unknownPage();
      case 'waiting':
      case 'returned':
      case 'exchanging':
      case 'granted':
        break;
      case 'connected':
        return afterConnecting(attempt, deps);
      case 'denied':
        return cancelledPage(name);
      case 'expired':
        return failedPage(`${name} was not connected`, 'The time limit of this connection has passed.', 410);
      case 'cancelled':
        return failedPage(`${name} was not connected`, 'This service cancelled the connection.', 409);
      case 'failed':
        return failedPage(`${name} was not connected`, attempt.message ?? 'An internal error occurred.');
    }
  }
  return pendingPage(name);
}

/** Fields by which users recognise their account. */
const READABLE_FIELDS = ['user_name', 'email', 'team_name', 'site_name'] as const;

/** Returns the name by which users recognise their account; null if it has none. */
function readableAccount({ externalId, metadata }: DataSourceDoc): string | null {
  const account = externalId?.split('|')[1] ?? null;
  const names = [...READABLE_FIELDS.map((name) => metadata[name]), account?.includes('@') === true ? account : null];
  const [firstName = account, ...otherNames] = new Set(
    names.filter((name): name is string => typeof name === 'string' && name !== ''),
  );
  return otherNames.length === 0 ? firstName : `${firstName ?? ''} (${otherNames.join(', ')})`;
}

async function afterConnecting(attempt: AttemptDoc, deps: ApiDeps): Promise<PageAnswer | RedirectAnswer> {
  const { store, unit, settings } = deps;
  const { _id, service, actions, runIds, dataSourceId } = attempt;
  for (const runId of runIds) unit.start(runId);
  const source = await store.dataSources.find(attempt, dataSourceId ?? 0);
  const until = new Date(Date.now() + settings.connectPageLifeMs);
  const chooser = actions.offersChooser ? await store.attempts.createPage(_id, until) : null;
  if (chooser !== null && actions.opensChooser) return new RedirectAnswer(pagePath(chooser));
  // This page shows the name of the account, and browsers may store its URL for a long time. It therefore has no URL of
  // its own: it is the response to the callback, whose URL is valid only until the attempt is deleted.
  return connectedPage(nameOf(service), source ? readableAccount(source) : null, chooser);
}
