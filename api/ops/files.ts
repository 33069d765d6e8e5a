import Joi from 'joi';

import { operation } from '../http/operation.js';
import { opsPage } from './answers.js';
import { OPS_PATH } from './sessions.js';
import { askForKey } from './signIn.js';
import { html } from '../http/html.js';
import { causeKey, failedFilesTable, filesLink } from './view/failures.js';
import { card, nothing } from './view/pieces.js';
import { topBar, wholePage } from './view/page.js';

const PER_PAGE = 50;
const MOST_CAUSES = 1_000;

/** GET /ops/files: the files that failed for one cause. */
export const opsFiles = operation<'operator', unknown>({
  method: 'get',
  path: `${OPS_PATH}/files`,
  auth: 'operator',
  summary: 'Files that failed for one cause, for operators.',
  query: Joi.object({
    cause: Joi.string().hex().length(16).failover(''),
    page: Joi.number().integer().min(1).max(10_000).failover(1),
  }),
  answer: Joi.any(),
  async handle({ caller, query, deps }) {
    if (caller === null) return askForKey(401, null);
    const { organizationId, session } = caller;
    const { store, temporalLinks } = deps;
    const page = Number(query['page'] ?? 1);
    const groups = await store.files.byCause({ organizationId }, MOST_CAUSES);
    const group = groups.find(({ cause }) => causeKey(cause) === query['cause']);
    const offset = (page - 1) * PER_PAGE;
    const found = group
      ? await store.files.failed({ organizationId }, { cause: group.cause, offset, limit: PER_PAGE + 1 })
      : [];
    const files = found.slice(0, PER_PAGE);
    const workflows = await store.runHistory.workflowIds(
      organizationId,
      files.flatMap(({ runId }) => runId ?? []),
    );
    const link = (to: number, text: string) => html`<a href="${filesLink(group?.cause ?? '', to)}">${text}</a>`;
    const pages = html`<nav aria-label="Pages">
      ${page > 1 ? link(page - 1, '← before') : nothing} ${found.length > PER_PAGE ? link(page + 1, 'next →') : nothing}
    </nav>`;
    const body = html`${topBar(`files that failed (organization ${organizationId})`, html``, session !== null)}
      <main id="main">
        ${card(
          group ? `${group.files} files` : 'Files that failed',
          group?.sentence ?? 'None has failed for this cause any more.',
          failedFilesTable(files, temporalLinks, workflows),
          pages,
        )}
      </main>`;
    return opsPage(200, (nonce) => wholePage('Files that failed · Operations', nonce, body));
  },
});
