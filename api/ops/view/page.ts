import { SOURCE_STATES } from '../../../store/overview/sources.js';
import { MAX_RUNS_COUNTED } from '../../../store/overview/runs.js';
import type { StallCause } from '../../../contract/runs/stalls.js';
import { failureSentence } from '../../../contract/webhooks.js';
import { html, Html } from '../../http/answers/html.js';
import type { OrganizationOverview } from '../../http/overviews.js';
import { OPS_PATH } from '../../http/identity/opsSessions.js';
import { failuresCard, warningsCard } from './failures.js';
import { badge, bytes, clock, count, type Tone, nothing, when } from './components.js';
import { runsCard } from './runs.js';
import { SCRIPT } from './script.js';
import { sourcesCard, type SourcesView } from './sources.js';
import { storageCard } from './storage.js';
import { STYLE } from './style.js';
import type { TemporalLinks } from '../../../contract/runs/temporalLinks.js';
import { decisionsCard, quarantineCard } from './waiting.js';
import { webhooksCard } from './webhooks.js';

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Ccircle cx='8' cy='8' r='7' fill='%230b62bd'/%3E%3C/svg%3E";

/** Renders a whole page. @param nonce of this response: scripts and styles without it are blocked */
export const wholePage = (title: string, nonce: string, body: Html, head: Html = nothing, script = ''): string =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        ${head}
        <title>${title}</title>
        <link rel="icon" href="${ICON}" />
        <style nonce="${nonce}">
          ${new Html(STYLE)}
        </style>
      </head>
      <body>
        ${body}
        ${
          script === ''
            ? nothing
            : html`<script nonce="${nonce}">
                ${new Html(script)};
              </script>`
        }
      </body>
    </html>`.text;

/** Returns a policy that allows only scripts and styles of this response. */
export const pagePolicy = (nonce: string): string =>
  [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    "connect-src 'self'",
    'img-src data:',
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/**
 * For each cause of a stall, the entry of `engines` whose hint describes the problem. For other causes, the message of
 * the stall describes it.
 */
const CHECK_OF_CAUSE: Readonly<Partial<Record<StallCause, 'qdrant' | 'temporal' | 'worker'>>> = {
  no_worker: 'worker',
  worker_silent: 'worker',
  worker_starved: 'worker',
  qdrant_down: 'qdrant',
  temporal_down: 'temporal',
};

function alerts({ engines, stalls, webhooks }: OrganizationOverview): Html {
  // A stall is often caused by an engine. Show its current problem once, with the number of stalled runs.
  const shown = new Set<string>();
  const stalled = (stalls ?? []).map(({ runs, message, cause, since }) => {
    const name = CHECK_OF_CAUSE[cause];
    const hint = name && engines?.[name].hint;
    if (hint !== undefined) shown.add(hint);
    const are = runs === 1 ? 'run is' : 'runs are';
    return html`${count(runs)} ${are} stalled since ${when(since)}. ${hint === undefined ? message : `${hint}.`}`;
  });
  const otherHints = Object.values(engines ?? {}).flatMap(({ hint }) =>
    hint === undefined || shown.has(hint) ? [] : [html`${hint}.`],
  );
  const refused = (webhooks ?? []).flatMap(({ webhook: { _id, failing } }) =>
    failing ? [html`Webhook ${_id} refuses deliveries. ${failureSentence(failing)}`] : [],
  );
  const withTone = (tone: Tone, sentences: readonly Html[]) => sentences.map((sentence) => ({ tone, sentence }));
  const alertsShown = [...withTone('bad', stalled), ...withTone('warn', [...otherHints, ...refused])];
  return alertsShown.length === 0
    ? nothing
    : html`${alertsShown.map(({ tone, sentence }) => html`<p class="alert ${tone}" role="status">${sentence}</p>`)}`;
}

/** Renders a tile. @param shown null if the data could not be read: the tile then shows a dash and says so */
function tile(name: string, shown: readonly [value: string, about: Html] | null): Html {
  const [value, about] = shown ?? ['–', html`could not be read`];
  return html`<div class="tile">
    <h2>${name}</h2>
    <b>${value}</b>
    <p>${about}</p>
  </div>`;
}

function sourcesTile({ counts }: NonNullable<OrganizationOverview['sources']>): [value: string, about: Html] {
  const withProblems = counts.revoked + counts.failed + counts.held;
  return [
    count(SOURCE_STATES.reduce((sum, state) => sum + counts[state], 0)),
    withProblems > 0 ? badge('bad', `${count(withProblems)} need attention`) : badge('good', 'no problems'),
  ];
}

function runsTile({
  started,
  waiting,
  paused,
  stalled,
}: NonNullable<OrganizationOverview['runs']>): [value: string, about: Html] {
  const shown = (runs: number): string => count(runs, MAX_RUNS_COUNTED);
  return [
    shown(started),
    html`${waiting > 0 ? `${shown(waiting)} waiting to start` : 'none waiting'}
    ${paused > 0 ? badge('warn', `${shown(paused)} paused`) : nothing}
    ${stalled > 0 ? badge('bad', `${shown(stalled)} stalled`) : nothing}`,
  ];
}

function filesTile({ files, bytes: size }: NonNullable<OrganizationOverview['storage']>): [value: string, about: Html] {
  const failed = files.SYNC_ERROR;
  return [
    count(files.READY),
    html`ready · ${bytes(size)} ${failed > 0 ? badge('bad', `${count(failed)} failed`) : nothing}`,
  ];
}

function enginesTile(engines: NonNullable<OrganizationOverview['engines']>): [value: string, about: Html] {
  const failing = Object.entries(engines).flatMap(([name, { ok }]) => (ok ? [] : [name]));
  if (failing.length > 0) return ['failing', html`${failing.map((name) => html`${badge('bad', name)} `)}`];
  const slowest = Math.max(0, ...Object.values(engines).map((engine) => engine.latency_ms));
  return ['healthy', html`slowest answer ${slowest} ms`];
}

const tiles = ({ sources, runs, failures, storage, engines, organization }: OrganizationOverview): Html =>
  html`<div class="tiles">
    ${tile('Data sources', sources && sourcesTile(sources))} ${tile('Active runs', runs && runsTile(runs))}
    ${tile('Files', storage && filesTile(storage))}
    ${tile('Causes of failures', failures && [count(failures.length), html`see the remedies below`])}
    ${tile('Users', organization && [count(organization.users), html`of this organization`])}
    ${tile('Engines', engines && enginesTile(engines))}
  </div>`;

/** Returns the changing parts of the page, by name. */
export const partsOf = (
  overview: OrganizationOverview,
  view: SourcesView,
  links: TemporalLinks,
): Readonly<
  Record<
    | 'clock'
    | 'alerts'
    | 'tiles'
    | 'decisions'
    | 'runs'
    | 'failures'
    | 'sources'
    | 'webhooks'
    | 'quarantine'
    | 'storage',
    Html
  >
> => ({
  clock: html`as of ${clock(overview.at)}`,
  alerts: alerts(overview),
  tiles: tiles(overview),
  runs: runsCard(overview.runs, links),
  decisions: decisionsCard(overview.runs, overview.held, links),
  failures: html`${failuresCard(overview.failures, links)} ${warningsCard(overview.warnings, links)}`,
  sources: sourcesCard(overview.sources, view, links),
  webhooks: webhooksCard(overview.webhooks),
  quarantine: quarantineCard(overview.quarantine),
  storage: storageCard(overview.storage),
});

/** Renders the top bar. @param live whether the page receives updates */
export function topBar(name: string, live: Html, canSignOut: boolean): Html {
  const out = html`<form method="post" action="${OPS_PATH}/sign_out"><button>Sign out</button></form>`;
  return html`<a class="skip" href="#main">To the content</a>
    <div class="top">
      <h1><a href="${OPS_PATH}">Operations</a> <span>· ${name}</span></h1>
      <span class="room"></span>${live} ${canSignOut ? out : nothing}
    </div>`;
}

/** Renders the page of one organization. */
export function overviewPage(
  overview: OrganizationOverview,
  view: SourcesView,
  links: TemporalLinks,
  nonce: string,
  canSignOut: boolean,
): string {
  const parts = partsOf(overview, view, links);
  const part = (name: keyof typeof parts): Html => html`<div id="part-${name}" tabindex="-1">${parts[name]}</div>`;
  const { organizationId, organization } = overview;
  const ui = links.organization(organizationId);
  const live = html`<span class="soft small"><span id="part-clock">${parts.clock}</span></span>
    <span id="live" class="badge off" role="status">static</span>
    ${ui === null ? nothing : html`<a href="${ui}" rel="noreferrer noopener" target="_blank">Temporal</a>`}`;
  const body = html`${topBar(`${organization?.name ?? ''} (organization ${organizationId})`, live, canSignOut)}
    <main id="main">
      ${part('alerts')} ${part('tiles')} ${part('decisions')}
      <div class="two">
        ${part('runs')}
        <div class="column">${part('failures')} ${part('storage')}</div>
      </div>
      <div id="sources">${part('sources')}</div>
      ${part('quarantine')} ${part('webhooks')}
    </main>`;
  // Without scripts, the browser reloads the page itself.
  const head = html`<noscript><meta http-equiv="refresh" content="30" /></noscript>`;
  return wholePage('Operations', nonce, body, head, SCRIPT);
}
