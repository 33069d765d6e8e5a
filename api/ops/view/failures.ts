import { createHash } from 'node:crypto';

import { type FailedFile, type FailureGroup } from '../../../store/files/failures.js';
import { html, type Html } from '../../http/html.js';
import { OPS_PATH } from '../sessions.js';
import { away, card, count, empty, webLink, when, words } from './pieces.js';
import type { TemporalLinks } from '../../../contract/temporalLinks.js';

/** A cause as it stands in an address. */
export const causeKey = (cause: string): string => createHash('sha256').update(cause).digest('hex').slice(0, 16);

export const filesLink = (cause: string, page = 1): string =>
  `${OPS_PATH}/files?cause=${causeKey(cause)}${page > 1 ? `&page=${page}` : ''}`;

export function failuresCard(groups: readonly FailureGroup[] | null): Html {
  if (!groups) return card('Failures by cause', '', away());
  const failed = groups.reduce((sum, { files }) => sum + files, 0);
  const row = ({ cause, sentence, files, latestAt }: FailureGroup): Html =>
    html`<tr>
      <td class="n"><a href="${filesLink(cause)}" aria-label="${files} files that failed so">${count(files)}</a></td>
      <td class="w">${sentence === '' ? 'No cause was kept.' : sentence}</td>
      <td>${when(latestAt)}</td>
    </tr>`;
  const table = html`<div class="tall">
    <table>
      <thead>
        <tr>
          <th scope="col" class="n">Files</th>
          <th scope="col">Why, and what to do</th>
          <th scope="col">Latest</th>
        </tr>
      </thead>
      <tbody>
        ${groups.map(row)}
      </tbody>
    </table>
  </div>`;
  return card(
    'Failures by cause',
    failed === 0 ? 'none' : `${count(failed)} files`,
    failed === 0 ? empty('No file has failed.') : table,
  );
}

/** The files of one cause. */
export function failedFilesTable(
  files: readonly FailedFile[],
  links: TemporalLinks,
  workflowOf: ReadonlyMap<number, string>,
): Html {
  if (files.length === 0) return empty('There are none any more.');
  const row = (file: FailedFile): Html => {
    const { _id, name, source, customerId, externalUrl, externalFileId, runId, syncErrorMessage, updatedAt } = file;
    const workflowId = runId === null ? undefined : workflowOf.get(runId);
    const link = workflowId === undefined ? null : links.workflow(workflowId);
    const run = runId === null ? '' : String(runId);
    return html`<tr>
      <td class="n">${_id}</td>
      <th scope="row" class="w">
        <span class="name">${webLink(externalUrl, name ?? externalFileId)}</span><br /><span class="soft small"
          >${words(source)} · ${customerId}</span
        >
      </th>
      <td class="w">${syncErrorMessage ?? ''}</td>
      <td>${when(updatedAt)}</td>
      <td class="n">
        ${link === null ? html`${run}` : html`<a href="${link}" rel="noreferrer noopener" target="_blank">${run}</a>`}
      </td>
    </tr>`;
  };
  return html`<div class="scroll">
    <table>
      <thead>
        <tr>
          <th scope="col" class="n">File</th>
          <th scope="col">Name</th>
          <th scope="col">Why, and what to do</th>
          <th scope="col">When</th>
          <th scope="col" class="n">Run</th>
        </tr>
      </thead>
      <tbody>
        ${files.map(row)}
      </tbody>
    </table>
  </div>`;
}
