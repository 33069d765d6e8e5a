import { expect, test } from '@jest/globals';

import type { PageAnswer } from '../../api/http/operation.js';
import { opsFiles } from '../../api/ops/files.js';
import { everyRow } from '../support/everyRow.js';

const PER_PAGE = 50;

/** Returns the indexes of the files that a page of failed files shows, its links to other pages, and what it read. */
async function pageOf(stored: number, query: Record<string, unknown>) {
  const reads: unknown[] = [];
  const all = Array.from({ length: stored }, (_, at) => ({
    ...{ _id: 1000 + at, name: `file ${at}`, source: 'BOX', customerId: 'ada', externalUrl: null, externalFileId: 'x' },
    ...{ updatedAt: new Date(0), runId: null, workflowId: null, syncErrorMessage: 'It failed.', fileMetadata: null },
  }));
  const failed = async (
    scope: unknown,
    { cause, offset, limit }: { cause: unknown; offset: number; limit: number },
  ) => {
    reads.push([scope, cause]);
    return all.slice(offset, offset + limit);
  };
  const caller = { organizationId: 7, session: null };
  const deps = { store: { files: { failed } }, temporalLinks: { workflow: () => null } };
  const answer = (await opsFiles.handle({ caller, query, deps } as never)) as PageAnswer;
  return {
    reads,
    status: answer.status,
    shown: [...answer.html.matchAll(/<td class="n">(\d{4})<\/td>/g)].map(([, id]) => Number(id) - 1000),
    links: [...answer.html.matchAll(/href="\/ops\/files\?([^"]*)"/g)].map(([, link]) => link),
  };
}

const PAGES: readonly (readonly [stored: number, page: number, first: number, shown: number, links: string[]])[] = [
  [0, 1, 0, 0, []],
  [PER_PAGE, 1, 0, 50, []],
  [PER_PAGE + 1, 1, 0, 50, ['page=2']],
  [PER_PAGE + 1, 2, 50, 1, ['']],
  [2 * PER_PAGE, 2, 50, 50, ['']],
  [2 * PER_PAGE + 1, 2, 50, 50, ['', 'page=3']],
  [2 * PER_PAGE + 1, 3, 100, 1, ['page=2']],
];

test('shows 50 failed files of the organization and cause per page, with links to the pages that exist', () =>
  everyRow(
    PAGES,
    ([stored, page]) => `page ${page} of ${stored} files`,
    async ([stored, page, first, shown, links]) => {
      const answer = await pageOf(stored, { cause: 'not_found', page });
      expect(answer).toEqual({
        reads: [[{ organizationId: 7 }, 'not_found']],
        status: 200,
        shown: Array.from({ length: shown }, (_, at) => first + at),
        links: links.map((link) => `cause=not_found${link && `&amp;${link}`}`),
      });
    },
  ));

test('without a page in the query, shows the first page; cause=none selects files without a cause', async () => {
  expect(await pageOf(51, { cause: 'none' })).toMatchObject({
    reads: [[{ organizationId: 7 }, null]],
    links: ['cause=none&amp;page=2'],
  });
});
