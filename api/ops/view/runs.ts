import type { RunKind } from '../../../contract/runs/runKinds.js';
import { MAX_RUNS_COUNTED, type RunRow, type RunsOverview } from '../../../store/overview/runs.js';
import { html, type Html } from '../../http/answers/html.js';
import { unavailable, badge, card, count, empty, nothing, temporalLink, when, words } from './components.js';
import type { TemporalLinks } from '../../../contract/runs/temporalLinks.js';

const KINDS: Readonly<Record<RunKind, string>> = {
  scrapeSitemap: 'sitemap',
  webScrape: 'web scrape',
  syncFeed: 'feed',
  syncUpload: 'upload',
  connectByConsent: 'connection',
  syncItems: 'listing',
  syncSource: 'sync of files',
  resyncFile: 'resync',
  deleteFiles: 'deletion',
  deleteUser: 'deletion of a user',
  recountFiles: 'recount',
  updateTags: 'tags',
  reembedFiles: 're-embedding',
  moveStorage: 'storage',
  autoSync: 'auto-sync',
  settleQuarantine: 'quarantine',
};

function progress({ id, total, ready, failed, listed, pause, stall }: RunRow): Html {
  if (stall !== null)
    return html`${badge('bad', 'stalled')}
      <span class="soft small">since ${when(stall.since)}: ${stall.message}</span>`;
  if (pause !== null) {
    const done = total === 0 ? '' : ` at ${count(ready + failed)} of ${count(total)}`;
    return html`${badge('warn', 'paused')}
      <span class="soft small">at its max_tokens${done}; see the pending decisions</span>`;
  }
  if (total === 0) {
    const shown = listed === null ? 'in progress' : `${count(listed)} items found`;
    return html`<progress aria-label="Progress of run ${id}"></progress><span class="soft small">${shown}</span>`;
  }
  const failures = failed > 0 ? html` · <span class="badge bad">${count(failed)} failed</span>` : nothing;
  return html`<progress aria-label="Progress of run ${id}" max="${total}" value="${ready + failed}"></progress
    ><span class="soft small">${count(ready + failed)} of ${count(total)}${failures}</span>`;
}

const row = (run: RunRow, links: TemporalLinks): Html => {
  const { id, kind, workflowId, customerId, about, source, startedAt } = run;
  const runTitle = html`${KINDS[kind]}${source === null ? '' : ` · ${words(source)}`}`;
  return html`<tr>
    <th scope="row" class="w">
      <span class="name">${about ?? KINDS[kind]}</span><br /><span class="soft small">${runTitle} · ${customerId}</span>
    </th>
    <td>${progress(run)}</td>
    <td>${when(startedAt)}</td>
    <td class="n">${temporalLink(links.workflow(workflowId), String(id), workflowId)}</td>
  </tr>`;
};

/** Renders active runs with their progress. */
export function runsCard(runs: RunsOverview | null, links: TemporalLinks): Html {
  if (!runs) return card('Active runs', '', unavailable());
  const { rows, started, waiting, paused, stalled } = runs;
  const summary = [
    `${count(started, MAX_RUNS_COUNTED)} in progress`,
    ...(waiting > 0 ? [`${count(waiting, MAX_RUNS_COUNTED)} waiting to start`] : []),
    ...(paused > 0 ? [`${count(paused, MAX_RUNS_COUNTED)} paused`] : []),
    ...(stalled > 0 ? [`${count(stalled, MAX_RUNS_COUNTED)} stalled`] : []),
    ...(started > rows.length ? [`${rows.length} shown`] : []),
  ].join(', ');
  const table = html`<div class="tall">
    <table>
      <thead>
        <tr>
          <th scope="col">What</th>
          <th scope="col">Progress</th>
          <th scope="col">Since</th>
          <th scope="col" class="n">Run</th>
        </tr>
      </thead>
      <tbody>
        ${rows.map((run) => row(run, links))}
      </tbody>
    </table>
  </div>`;
  return card('Active runs', summary, rows.length === 0 ? empty('No run is active.') : table);
}
