import Joi from 'joi';

import { isWarning, ITEM_CAUSES, type ItemCause } from '../../contract/runs/ledger.js';
import { undocumented } from '../http/operation.js';
import { opsPage } from './answers.js';
import { OPS_PATH } from '../http/identity/opsSessions.js';
import { signInAnswer } from './signIn.js';
import { html } from '../http/answers/html.js';
import { causeName, filesOfCauseTable, filesLink, NO_CAUSE, remedyOf } from './view/failures.js';
import { card, nothing } from './view/components.js';
import { topBar, wholePage } from './view/page.js';

const PER_PAGE = 50;

/** GET /ops/files: lists the files that failed for one cause, or that have one warning. */
export const opsFiles = undocumented({
  method: 'get',
  path: `${OPS_PATH}/files`,
  auth: 'operator',
  summary: 'Files that failed for one cause, for operators.',
  query: Joi.object({
    cause: Joi.string()
      .valid(NO_CAUSE, ...ITEM_CAUSES)
      .failover(NO_CAUSE)
      .default(NO_CAUSE),
    page: Joi.number().integer().min(1).max(10_000).failover(1),
  }),
  answer: Joi.any(),
  async handle({ caller, query, deps }) {
    if (caller === null) return signInAnswer(401, null);
    const { organizationId, session } = caller;
    const { store, temporalLinks } = deps;
    const page = query.page ?? 1;
    const requested = query.cause;
    const cause = requested === NO_CAUSE ? null : (requested as ItemCause);
    const offset = (page - 1) * PER_PAGE;
    const filesFound = await store.files.failed({ organizationId }, { cause, offset, limit: PER_PAGE + 1 });
    const files = filesFound.slice(0, PER_PAGE);
    const link = (to: number, text: string) => html`<a href="${filesLink(cause, to)}">${text}</a>`;
    const pages = html`<nav aria-label="Pages">
      ${page > 1 ? link(page - 1, '← before') : nothing}
      ${filesFound.length > PER_PAGE ? link(page + 1, 'next →') : nothing}
    </nav>`;
    const title = isWarning(cause) ? 'Files with a warning' : 'Files that failed';
    const body = html`${topBar(`${title.toLowerCase()} (organization ${organizationId})`, html``, session !== null)}
      <main id="main">
        ${card(`${title}: ${causeName(cause)}`, remedyOf(cause), filesOfCauseTable(files, temporalLinks), pages)}
      </main>`;
    return opsPage(200, (nonce) => wholePage(`${title} · Operations`, nonce, body));
  },
});
