import { type FileWarning, type ItemCause, REMEDIES } from '../../../contract/runs/ledger.js';
import type { TemporalLinks } from '../../../contract/runs/temporalLinks.js';
import { type FailedFile, type FailureGroup, MAX_FAILURES_COUNTED } from '../../../store/files/failures.js';
import { html, type Html } from '../../http/answers/html.js';
import { OPS_PATH } from '../../http/identity/opsSessions.js';
import { unavailable, card, count, empty, nothing, temporalLink, webLink, when, words } from './components.js';

/** Value in a URL for files without a stored cause. */
export const NO_CAUSE = 'none';

export const filesLink = (cause: ItemCause | null, page = 1): string =>
  `${OPS_PATH}/files?cause=${cause ?? NO_CAUSE}${page > 1 ? `&page=${page}` : ''}`;

export const causeName = (cause: ItemCause | null): string => (cause === null ? 'no cause was stored' : words(cause));
export const remedyOf = (cause: ItemCause | null): string =>
  cause === null ? 'Resync the file: if it fails again, its cause is stored.' : (REMEDIES[cause] ?? '');

function run({ runId, workflowId }: FailedFile, links: TemporalLinks): Html {
  return temporalLink(links.workflow(workflowId), runId === null ? (workflowId ?? '') : String(runId));
}

/** Returns the sentence that a file ended with: why it failed, or its warning. */
function sentenceOf({ syncErrorMessage, fileMetadata }: FailedFile): string {
  const [warning] = (fileMetadata?.['warnings'] ?? []) as readonly FileWarning[];
  return syncErrorMessage ?? warning?.message ?? '';
}

function groupsTable(groups: readonly FailureGroup[], links: TemporalLinks): Html {
  const row = ({ cause, files, latest }: FailureGroup): Html => {
    const sentence = sentenceOf(latest);
    return html`<tr>
      <td class="n">
        <a href="${filesLink(cause)}" aria-label="${files} files: ${causeName(cause)}"
          >${count(files, MAX_FAILURES_COUNTED)}</a
        >
      </td>
      <td class="w">
        <b>${causeName(cause)}</b>: ${remedyOf(cause)}
        ${sentence === '' ? nothing : html`<br /><span class="soft small">${sentence}</span>`}
      </td>
      <td>${when(latest.updatedAt)}</td>
      <td class="n">${run(latest, links)}</td>
    </tr>`;
  };
  return html`<div class="tall">
    <table>
      <thead>
        <tr>
          <th scope="col" class="n">Files</th>
          <th scope="col">Cause, remedy, and message of the latest</th>
          <th scope="col">Latest</th>
          <th scope="col" class="n">Latest run</th>
        </tr>
      </thead>
      <tbody>
        ${groups.map(row)}
      </tbody>
    </table>
  </div>`;
}

/** Renders failures grouped by cause, with the remedy and the latest message of each. */
export function failuresCard(groups: readonly FailureGroup[] | null, links: TemporalLinks): Html {
  if (!groups) return card('Failures by cause', '', unavailable());
  const failed = groups.reduce((sum, { files }) => sum + files, 0);
  const isMore = groups.some(({ files }) => files >= MAX_FAILURES_COUNTED);
  return card(
    'Failures by cause',
    failed === 0 ? 'none' : `${count(failed)}${isMore ? '+' : ''} files`,
    failed === 0 ? empty('No file has failed.') : groupsTable(groups, links),
  );
}

/** Renders ready files with a warning, grouped by its cause; nothing if there are none. */
export function warningsCard(groups: readonly FailureGroup[] | null, links: TemporalLinks): Html {
  if (!groups) return card('Ready, with a warning', '', unavailable());
  if (groups.length === 0) return nothing;
  return card('Ready, with a warning', 'their text may be wrong', groupsTable(groups, links));
}

/** Renders the files that failed for one cause, or that have one warning. */
export function filesOfCauseTable(files: readonly FailedFile[], links: TemporalLinks): Html {
  if (files.length === 0) return empty('No file has this cause.');
  const row = (file: FailedFile): Html => {
    const { _id, name, source, customerId, externalUrl, externalFileId, updatedAt } = file;
    return html`<tr>
      <td class="n">${_id}</td>
      <th scope="row" class="w">
        <span class="name">${webLink(externalUrl, name ?? externalFileId)}</span><br /><span class="soft small"
          >${words(source)} · ${customerId}</span
        >
      </th>
      <td class="w">${sentenceOf(file)}</td>
      <td>${when(updatedAt)}</td>
      <td class="n">${run(file, links)}</td>
    </tr>`;
  };
  return html`<div class="scroll">
    <table>
      <thead>
        <tr>
          <th scope="col" class="n">File</th>
          <th scope="col">Name</th>
          <th scope="col">Why</th>
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
