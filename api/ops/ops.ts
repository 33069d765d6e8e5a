import Joi from 'joi';

import { SOURCE_STATES, type SourceState } from '../../store/overview/sources.js';
import { HttpError, unauthorized } from '../http/errors.js';
import { EventsAnswer, undocumented } from '../http/operation.js';
import { opsPage } from './answers.js';
import { cookieHeader, OPS_PATH } from '../http/identity/opsSessions.js';
import { signInAnswer, isSecure } from './signIn.js';
import { overviewPage, partsOf } from './view/page.js';
import type { SourcesView } from './view/sources.js';
import { type Infer, typed } from '../schemas/inferred.js';

/** Retry-After for viewers above the limit. */
const RETRY_AFTER_S = 30;

/** Returns the schema of the selected view of data sources. Invalid values select the default view. */
const view = () =>
  Joi.object({
    state: typed<SourceState | null>(
      Joi.string()
        .valid(...SOURCE_STATES)
        .failover(() => null),
    ),
    page: Joi.number().integer().min(1).max(1_000).failover(1),
  });
const viewIn = ({ state = null, page = 1 }: Infer<ReturnType<typeof view>>): SourcesView => ({ state, page });

/** GET /ops: shows the state of an organization to operators; without a session, the sign-in form. */
export const ops = undocumented({
  method: 'get',
  path: OPS_PATH,
  auth: 'operator',
  summary: 'The operator page.',
  query: view(),
  answer: Joi.any(),
  async handle({ caller, query, deps }) {
    if (caller === null) return signInAnswer(401, null);
    const overview = await deps.overviews.of(caller.organizationId);
    const { session } = caller;
    // Loading the page in the second half of the session's lifetime renews the session.
    const renewed = session && deps.opsSessions.isAging(session) ? deps.opsSessions.begin(session, session.id) : null;
    return opsPage(
      200,
      (nonce) => overviewPage(overview, viewIn(query), deps.temporalLinks, nonce, session !== null),
      renewed ? { 'set-cookie': cookieHeader(renewed.cookie, renewed.ms, isSecure(deps)) } : {},
    );
  },
});

/** GET /ops/events: streams the changing parts of the page of GET /ops. */
export const opsEvents = undocumented({
  method: 'get',
  path: `${OPS_PATH}/events`,
  auth: 'operator',
  summary: 'Streams changes of the operator page.',
  query: view(),
  answer: Joi.any(),
  async handle({ caller, query, deps }) {
    if (caller === null) throw unauthorized();
    const shown = viewIn(query);
    const open = deps.live.watch(caller.organizationId, caller.session, (overview) =>
      partsOf(overview, shown, deps.temporalLinks),
    );
    if (!open)
      throw new HttpError(
        503,
        'The maximum number of live operator pages (OPS_CLIENTS) is open. Close one.',
        RETRY_AFTER_S,
      );
    return new EventsAnswer(open);
  },
});
