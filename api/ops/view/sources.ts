import { hoursOfState, nextScheduledSync } from '../../../contract/sources/autoSync.js';
import { scheduleIds } from '../../../contract/runs/workflowIds.js';
import type { SourceType } from '../../../contract/sources/sources.js';
import { CONNECTED_SOURCES, isConnectedSource } from '../../../contract/sources/connectedSources.js';
import {
  SOURCE_STATES,
  type SourceRow,
  type SourcesOverview,
  type SourceState,
} from '../../../store/overview/sources.js';
import { html, type Html } from '../../http/answers/html.js';
import { OPS_PATH } from '../../http/identity/opsSessions.js';
import {
  unavailable,
  badge,
  card,
  count,
  empty,
  type Tone,
  nothing,
  pager,
  temporalLink,
  when,
  words,
} from './components.js';
import type { TemporalLinks } from '../../../contract/runs/temporalLinks.js';

/** Which data sources a page shows. */
export interface SourcesView {
  readonly state: SourceState | null;
  readonly page: number;
}

const PER_PAGE = 50;
const TONES: Readonly<Record<SourceState, Tone>> = {
  ...{ revoked: 'bad', failed: 'bad', held: 'warn', syncing: 'busy', ready: 'good' },
};
const NAMES: Readonly<Record<SourceState, string>> = {
  revoked: 'no access',
  failed: 'failed',
  held: 'deletions held',
  syncing: 'syncing',
  ready: 'ready',
};

const nameOf = (type: SourceType): string => (isConnectedSource(type) ? CONNECTED_SOURCES[type].name : words(type));

/** Returns the address of a view of the data sources. */
export function linkTo({ state, page }: SourcesView): string {
  const query = new URLSearchParams({
    ...(state === null ? {} : { state }),
    ...(page > 1 ? { page: String(page) } : {}),
  }).toString();
  return `${OPS_PATH}${query === '' ? '' : `?${query}`}#sources`;
}

function nextRun({ id, scheduled }: SourceRow, links: TemporalLinks): Html {
  const scheduleId = scheduleIds.source(id);
  const hours = hoursOfState(scheduled);
  const linked = (inside: Html): Html => temporalLink(links.schedule(scheduleId), inside);
  if (scheduled === null) return html`<span class="soft">not automatic</span>`;
  if (hours === null) return linked(html`${scheduled.startsWith('paused') ? 'paused' : 'being set'}`);
  return html`${linked(when(nextScheduledSync(scheduleId, hours, Date.now())))}
    <span class="soft small">every ${hours} h</span>`;
}

const row = (source: SourceRow, links: TemporalLinks): Html => {
  const { id, type, customerId, account, state, why, itemsSyncedAt, filesSyncedAt, workflowId } = source;
  return html`<tr>
    <td class="n">${temporalLink(links.workflow(workflowId), String(id), workflowId ?? '')}</td>
    <th scope="row" class="w">
      ${nameOf(type)}<br /><span class="soft small name"
        >${account === null || account === '' ? '' : `${account} · `}${customerId}</span
      >
    </th>
    <td class="w">
      ${badge(TONES[state], NAMES[state])}${why === null ? nothing : html`<br /><span class="small">${why}</span>`}
    </td>
    <td>${when(itemsSyncedAt)}</td>
    <td>${when(filesSyncedAt)}</td>
    <td class="nowrap">${nextRun(source, links)}</td>
  </tr>`;
};

/** Renders a page of data sources with their state and problem. */
export function sourcesCard(sources: SourcesOverview | null, view: SourcesView, links: TemporalLinks): Html {
  if (!sources) return card('Data sources', '', unavailable());
  const { counts, rows } = sources;
  const total = SOURCE_STATES.reduce((sum, state) => sum + counts[state], 0);
  const shown = rows.filter(({ state }) => view.state === null || state === view.state);
  const pages = Math.max(1, Math.ceil(shown.length / PER_PAGE));
  const page = Math.min(view.page, pages);
  const filter = (state: SourceState | null, text: string, number: number): Html => {
    const current = state === view.state ? html` aria-current="true"` : nothing;
    return html`<a href="${linkTo({ state, page: 1 })}" ${current}>${text} ${count(number)}</a>`;
  };
  const links_ = html`<nav aria-label="States">
    ${filter(null, 'all', total)}
    ${SOURCE_STATES.filter((state) => counts[state] > 0 || state === view.state).map((state) =>
      filter(state, NAMES[state], counts[state]),
    )}
  </nav>`;
  const note =
    total > rows.length
      ? `the ${rows.length} that need attention or changed last`
      : 'those that need attention come first';
  const table = html`<div class="scroll">
      <table>
        <thead>
          <tr>
            <th scope="col" class="n">Id</th>
            <th scope="col">Account</th>
            <th scope="col">State</th>
            <th scope="col">Listed</th>
            <th scope="col">Files synced</th>
            <th scope="col">Next run</th>
          </tr>
        </thead>
        <tbody>
          ${shown.slice((page - 1) * PER_PAGE, page * PER_PAGE).map((source) => row(source, links))}
        </tbody>
      </table>
    </div>
    ${pages > 1 ? html`<p class="empty">${pager(page, pages, (to) => linkTo({ ...view, page: to }))}</p>` : nothing}`;
  const none = total === 0 ? 'There are no data sources.' : 'None of these data sources is in this state.';
  return card('Data sources', note, shown.length === 0 ? empty(none) : table, links_);
}
