import type { HeldRow } from '../../../store/overview/held.js';
import type { QuarantineOverview, QuarantineRow } from '../../../store/overview/quarantine.js';
import type { RunRow, RunsOverview, RunPauseState } from '../../../store/overview/runs.js';
import { html, type Html } from '../../http/answers/html.js';
import { unavailable, badge, card, count, empty, nothing, temporalLink, when, words } from './components.js';
import type { TemporalLinks } from '../../../contract/runs/temporalLinks.js';

/** Renders an API call to copy. */
const call = (text: string): Html => html`<code>${text}</code>`;

const about = (name: string | null, ...more: readonly (string | null)[]): Html =>
  html`<span class="name">${name ?? more[0] ?? ''}</span><br /><span class="soft small"
      >${more.filter((text) => text !== null && text !== '').join(' · ')}</span
    >`;

function pausedRow(
  { id, about: name, source, customerId, workflowId }: RunRow,
  pause: RunPauseState,
  links: TemporalLinks,
) {
  const { maxTokens, tokensTaken, wanted } = pause;
  return html`<tr>
    <th scope="row" class="w">${about(name, source === null ? null : words(source), customerId)}</th>
    <td class="w">
      ${badge('warn', 'paused')} run ${temporalLink(links.workflow(workflowId), String(id))} reached its max_tokens of
      ${count(maxTokens)}: ${count(tokensTaken)} are used, and the next text has ${count(wanted)}. Since
      ${when(pause.at)}
    </td>
    <td class="w">
      ${call(`POST /sync_runs/${id}/resume {"max_tokens": null}`)} or a number from ${tokensTaken + wanted} on, with
      ${call(`customer-id: ${customerId}`)}
    </td>
  </tr>`;
}

function heldRow({ of, id, name, source, customerId, missing, isApproved }: HeldRow): Html {
  const decide = html`${call(`POST /${of}/${id}/held_deletions/approve`)} or ${call('…/refuse')}`;
  return html`<tr>
    <th scope="row" class="w">${about(name, words(source), customerId)}</th>
    <td class="w">
      ${badge('warn', 'deletions held')} the last sync of ${of === 'files' ? 'scrape' : 'data source'} ${id} did not
      find ${count(missing)} of its files at the source. These are suspiciously many, so no file was deleted
    </td>
    <td class="w">
      ${isApproved ? html`Approved: the next listing deletes them. ${call('…/refuse')} keeps them` : decide}
    </td>
  </tr>`;
}

/** Renders work that waits for a decision of the operator; nothing if there is none. */
export function decisionsCard(runs: RunsOverview | null, held: readonly HeldRow[] | null, links: TemporalLinks): Html {
  if (held === null) return card('Pending decisions', '', unavailable());
  const stopped = runs?.rows.flatMap((run) => (run.pause === null ? [] : [pausedRow(run, run.pause, links)])) ?? [];
  if (stopped.length + held.length === 0) return nothing;
  const more =
    (runs?.paused ?? 0) > stopped.length
      ? `; shows ${count(stopped.length)} of ${count(runs?.paused ?? 0)} paused runs`
      : '';
  return card(
    'Pending decisions',
    `${count(stopped.length + held.length)}${more}`,
    html`<div class="tall">
      <table>
        <thead>
          <tr>
            <th scope="col">What</th>
            <th scope="col">Why</th>
            <th scope="col">What to call</th>
          </tr>
        </thead>
        <tbody>
          ${stopped} ${held.map(heldRow)}
        </tbody>
      </table>
    </div>`,
  );
}

function quarantineRow({ of, id, name, source, customerId, files, firstErasedAt, lastErasedAt }: QuarantineRow): Html {
  const sourceText = source === null ? null : words(source);
  const place = of === 'parent_id' ? 'scrape' : 'data source';
  const erasedAt =
    firstErasedAt.getTime() === lastErasedAt.getTime()
      ? when(lastErasedAt)
      : html`${when(firstErasedAt)} to ${when(lastErasedAt)}`;
  return html`<tr>
    <td class="n">${count(files)}</td>
    <th scope="row" class="w">
      ${about(name ?? (id === null ? 'without a data source' : `${place} ${id}`), sourceText, id === null ? null : `${place} ${id}`, customerId)}
    </th>
    <td>${erasedAt}</td>
    <td class="w">${id === null ? '' : call(`POST /quarantined_files/restore {"${of}": ${id}}`)}</td>
  </tr>`;
}

/** Renders files that disappeared at their source and can be restored for some days. */
export function quarantineCard(quarantine: QuarantineOverview | null): Html {
  if (!quarantine) return card('Quarantine', '', unavailable());
  const { files, rows, groups } = quarantine;
  if (files === 0) return card('Quarantine', 'none', empty('No file is in quarantine.'));
  const more =
    groups > rows.length ? `; shows the ${rows.length} of ${count(groups)} groups that are erased first` : '';
  return card(
    'Quarantine',
    `${count(files)} files that vanished at their source${more}`,
    html`<div class="tall">
      <table>
        <thead>
          <tr>
            <th scope="col" class="n">Files</th>
            <th scope="col">Of</th>
            <th scope="col">Erased at</th>
            <th scope="col">Request that restores them</th>
          </tr>
        </thead>
        <tbody>
          ${rows.map(quarantineRow)}
        </tbody>
      </table>
    </div>`,
  );
}
