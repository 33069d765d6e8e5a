import Joi from 'joi';

import { SOURCE_STATES, type SourceState } from '../../store/overview/sources.js';
import { HttpError, unauthorized } from '../http/errors.js';
import { EventsAnswer, operation } from '../http/operation.js';
import { opsPage } from './answers.js';
import { cookieHeader, OPS_PATH } from '../http/opsSessions.js';
import { askForKey, isSecure } from './signIn.js';
import { overviewPage, partsOf } from './view/page.js';
import type { SourcesView } from './view/sources.js';

/** Whoever comes late is sent away for so long. */
const COME_BACK_S = 30;

/** Which data sources are shown. What is no such view is the usual one: addresses are typed by people. */
const view = (): Joi.ObjectSchema =>
  Joi.object({
    state: Joi.string()
      .valid(...SOURCE_STATES)
      .failover(null),
    page: Joi.number().integer().min(1).max(1_000).failover(1),
  });
const viewIn = (query: Readonly<Record<string, unknown>>): SourcesView => ({
  state: (query['state'] as SourceState | undefined) ?? null,
  page: Number(query['page'] ?? 1),
});

/** GET /ops: how an organization stands, for whoever is on call; without a key, the form that takes one. */
export const ops = operation<'operator', unknown>({
  method: 'get',
  path: OPS_PATH,
  auth: 'operator',
  summary: 'The page of operators.',
  query: view(),
  answer: Joi.any(),
  async handle({ caller, query, deps }) {
    if (caller === null) return askForKey(401, null);
    const overview = await deps.overviews.of(caller.organizationId);
    const { session } = caller;
    // Whoever is at work stays signed in.
    const renewed = session && deps.opsSessions.isAging(session) ? deps.opsSessions.begin(session, session.id) : null;
    return opsPage(
      200,
      (nonce) => overviewPage(overview, viewIn(query), deps.temporalLinks, nonce, session !== null),
      renewed ? { 'set-cookie': cookieHeader(renewed.cookie, renewed.ms, isSecure(deps)) } : {},
    );
  },
});

/** GET /ops/events: the parts of that page that change, as they do. */
export const opsEvents = operation<'operator', unknown>({
  method: 'get',
  path: `${OPS_PATH}/events`,
  auth: 'operator',
  summary: 'What changes on the page of operators.',
  query: view(),
  answer: Joi.any(),
  async handle({ caller, query, deps }) {
    if (caller === null) throw unauthorized();
    const shown = viewIn(query);
    const open = deps.live.watch(caller.organizationId, caller.session, (overview) =>
      partsOf(overview, shown, deps.temporalLinks),
    );
    if (!open)
      throw new HttpError(503, 'As many pages as may be (OPS_CLIENTS) are kept up to date already.', COME_BACK_S);
    return new EventsAnswer(open);
  },
});
