/** Tests of the operators page: the text of each part, live updates, and when the data of each part is read. */
import { describe, expect, jest, test } from '@jest/globals';

import type { Html } from '../../api/http/answers/html.js';
import { createLiveOverviews } from '../../api/ops/live.js';
import type { OrganizationOverview } from '../../api/http/overviews.js';
import { createOverviews } from '../../api/ops/overview.js';
import { partsOf } from '../../api/ops/view/page.js';
import { bytes, count, pager, temporalLink, webLink, when } from '../../api/ops/view/components.js';
import type { TemporalLinks } from '../../contract/runs/temporalLinks.js';
import { everyRow } from '../support/everyRow.js';
import { waitFor } from '../support/waitFor.js';

const links: TemporalLinks = {
  workflow: (key) => (key ? `http://ui/${key}` : null),
  schedule: (key) => `http://ui/${key}`,
  organization: () => null,
  workflowLink: () => ({ workflow_id: null, workflow_url: null }),
};
/** Returns the visible text. */
const textOf = ({ text }: Html): string =>
  text
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&quot;', '"')
    .replaceAll(/\s+/g, ' ')
    .trim();

const NOW = Date.UTC(2026, 5, 10, 12);
const RUN = {
  ...{ id: 7, kind: 'syncSource', workflowId: 'w', customerId: 'ada', about: 'notes', source: 'BOX' },
  ...{ startedAt: new Date(NOW), total: 10, ready: 3, failed: 2, listed: null, pause: null, stall: null },
};
const SOURCE = {
  ...{ id: 5, type: 'BOX', customerId: 'ada', account: 'a@b', state: 'ready', why: null, syncStatus: 'READY' },
  ...{ workflowId: null, filesSyncedAt: null, itemsSyncedAt: new Date(NOW), scheduled: null },
};
const CHECK = { ok: true, latency_ms: 4 };
const OVERVIEW = {
  ...{ organizationId: 1, at: new Date(NOW), organization: { name: 'o', users: 3, createdAt: new Date(NOW) } },
  engines: {
    mongodb: CHECK,
    schema: CHECK,
    qdrant: { ...CHECK, latency_ms: 9 },
    temporal: CHECK,
    worker: CHECK,
    disk: CHECK,
  },
  stalls: [],
  sources: { counts: { revoked: 0, failed: 0, held: 0, syncing: 1, ready: 2 }, rows: [SOURCE] },
  runs: { rows: [RUN], started: 1, waiting: 0, paused: 0, stalled: 0 },
  ...{
    failures: [],
    warnings: [],
    held: [],
    quarantine: { files: 0, rows: [], groups: 0 },
    webhooks: [],
    storage: null,
  },
};
/**
 * Returns the text of a part of the page. @param fields differences from the overview of a problem-free organization
 */
const render = (
  part: keyof ReturnType<typeof partsOf>,
  fields: object = {},
  view = { state: null, page: 1 } as object,
): string => textOf(partsOf({ ...OVERVIEW, ...fields } as unknown as OrganizationOverview, view as never, links)[part]);

test('formats figures and times for people', () => {
  expect([0, 999, 1_000, 9_940, 12_345, 1.5e9, 3e18].map(bytes)).toEqual([
    ...['0 B', '999 B', '1 kB', '9.9 kB', '12 kB', '1.5 GB', '3,000 PB'],
  ]);
  expect([count(1_234), count(9, 10), count(10, 10)]).toEqual(['1,234', '9', '10+']);
  const at = (ms: number | null) => textOf(when(ms === null ? null : new Date(ms), NOW));
  expect(at(null)).toBe('never');
  expect(at(NOW - 11 * 3_600_000)).toBe('01:00');
  expect(at(NOW - 13 * 3_600_000)).toBe('9 Jun 23:00');
  expect(at(Date.UTC(2025, 11, 31, 8, 5))).toBe('31 Dec 2025 08:05');
});

test('links only to web addresses and Temporal, and to other pages only if they exist', () => {
  expect(webLink('https://a.test/?a=1&b', 'text').text).toContain('href="https://a.test/?a=1&amp;b"');
  for (const url of ['javascript:alert(1)', 'data:text/html,x', null]) expect(webLink(url, 'text').text).toBe('text');
  expect(temporalLink(null, 'text').text).toBe('text');
  const linkOf = (page: number) => `?page=${page}`;
  expect(pager(1, 1, linkOf).text).toBe('');
  const hrefs = (page: number) => [...pager(page, 3, linkOf).text.matchAll(/href="([^"]*)"/g)].map(([, href]) => href);
  expect([hrefs(1), hrefs(2), hrefs(3)]).toEqual([['?page=2'], ['?page=1', '?page=3'], ['?page=2']]);
});

describe('operators page', () => {
  test('shows the progress of each run', () =>
    everyRow(
      [
        [{}, '5 of 10 · 2 failed'],
        [{ failed: 0 }, '3 of 10'],
        [{ total: 0 }, 'in progress'],
        [{ total: 0, listed: 1_200 }, '1,200 items found'],
        [{ pause: { maxTokens: 5, tokensTaken: 4, wanted: 2, at: new Date(NOW) } }, 'at its max_tokens at 5 of 10'],
        [{ stall: { since: new Date(NOW), message: 'No worker runs.' } }, 'No worker runs.'],
      ] as [object, string][],
      ([fields]) => JSON.stringify(fields),
      ([fields, expected]) =>
        expect(render('runs', { runs: { ...OVERVIEW.runs, rows: [{ ...RUN, ...fields }] } })).toContain(expected),
    ));

  test('shows the number of runs', () => {
    expect(render('runs')).toMatch(/^Active runs 1 in progress What/);
    const runs = { rows: [RUN], started: 60, waiting: 4, paused: 2, stalled: 1 };
    expect(render('runs', { runs })).toContain('60 in progress, 4 waiting to start, 2 paused, 1 stalled, 1 shown');
    expect(render('runs', { runs: { ...OVERVIEW.runs, rows: [] } })).toContain('No run is active.');
    expect(render('runs', { runs: null })).toContain('could not be read');
  });

  test('lists the data sources of the chosen state page by page, those with problems first', () => {
    const rows = Array.from({ length: 120 }, (_, index) => ({
      ...SOURCE,
      id: 1_000 + index,
      state: index < 60 ? 'failed' : 'ready',
    }));
    const sources = { counts: { revoked: 0, failed: 60, held: 0, syncing: 0, ready: 60 }, rows };
    const ids = (view: object) =>
      [...render('sources', { sources }, view).matchAll(/\b1[01]\d\d\b/g)].map(([id]) => Number(id));
    const from = (firstNumber: number, length: number) => Array.from({ length }, (_, index) => firstNumber + index);
    expect(ids({ state: null, page: 1 })).toEqual(from(1_000, 50));
    expect(ids({ state: null, page: 3 })).toEqual(from(1_100, 20));
    expect(ids({ state: 'ready', page: 2 })).toEqual(from(1_110, 10));
    // A page number past the end shows the last page.
    expect(ids({ state: 'failed', page: 9 })).toEqual(from(1_050, 10));
    expect(render('sources', { sources })).toContain('all 120 failed 60 ready 60');
    const filtered = render('sources', {}, { state: 'failed', page: 1 });
    expect(filtered).toContain('all 3 failed 0 syncing 1 ready 2');
    expect(filtered).toContain('None of these data sources is in this state.');
    const noSources = { counts: { revoked: 0, failed: 0, held: 0, syncing: 0, ready: 0 }, rows: [] };
    expect(render('sources', { sources: noSources })).toContain('There are no data sources.');
    const withProblems = { ...OVERVIEW.sources, counts: { revoked: 1, failed: 2, held: 3, syncing: 4, ready: 5 } };
    expect(render('tiles', { sources: withProblems })).toMatch(/^Data sources 15 6 need attention/);
    expect(render('tiles')).toMatch(/^Data sources 3 no problems Active runs 1 none waiting .* slowest answer 9 ms$/);
    const down = { ...OVERVIEW.engines, qdrant: { ...CHECK, ok: false } };
    expect(render('tiles', { engines: down })).toMatch(/failing qdrant$/);
  });

  test('shows no figure and no verdict for parts that could not be read', () => {
    const unread = { sources: null, runs: null, storage: null, failures: null, organization: null, engines: null };
    expect(render('tiles', unread)).toBe(
      ['Data sources', 'Active runs', 'Files', 'Causes of failures', 'Users', 'Engines']
        .map((name) => `${name} – could not be read`)
        .join(' '),
    );
  });

  test('shows when a data source is synced next', () =>
    everyRow(
      [
        [null, 'not automatic'],
        ['paused', 'paused'],
        ['setting', 'being set'],
      ] as [string | null, string][],
      String,
      ([scheduled, expected]) =>
        expect(render('sources', { sources: { ...OVERVIEW.sources, rows: [{ ...SOURCE, scheduled }] } })).toContain(
          expected,
        ),
    ));

  test('groups failures by cause, with a remedy', () => {
    const latest = { _id: 1, syncErrorMessage: 'HTTP 404.', workflowId: 'w', runId: 7, updatedAt: new Date(NOW) };
    const failures = [
      { cause: 'not_found', files: 3, latest },
      { cause: null, files: 1, latest: { ...latest, syncErrorMessage: null } },
    ];
    expect(render('failures', { failures })).toMatch(
      /^Failures by cause 4 files .* 3 not found : .* HTTP 404\. .* 1 no cause was stored : Resync the file/,
    );
    expect(render('failures')).toContain('No file has failed.');
  });

  test('groups ready files by the cause of their warning, with a remedy and the latest message', () => {
    const fileMetadata = { warnings: [{ cause: 'low_ocr_confidence', message: 'OCR is not sure of page 2.' }] };
    const latest = { runId: 7, workflowId: 'w', syncErrorMessage: null, fileMetadata, updatedAt: new Date(NOW) };
    const warnings = [{ cause: 'low_ocr_confidence', files: 3, latest }];
    expect(render('failures', { warnings })).toMatch(
      /Ready, with a warning .* 3 low ocr confidence : Compare its text with the original\. .* OCR is not sure of page 2\./,
    );
    expect(render('failures')).not.toContain('warning');
    expect(render('failures', { warnings: null })).toMatch(/Ready, with a warning .*could not be read/);
  });

  test('shows pending decisions, each with the API request that makes it', () => {
    expect(render('decisions')).toBe('');
    const pause = { maxTokens: 50, tokensTaken: 40, wanted: 20, at: new Date(NOW) };
    const paused = render('decisions', { runs: { ...OVERVIEW.runs, paused: 1, rows: [{ ...RUN, pause }] } });
    expect(paused).toContain('max_tokens of 50: 40 are used, and the next text has 20.');
    expect(paused).toContain(
      'POST /sync_runs/7/resume {"max_tokens": null} or a number from 60 on, with customer-id: ada',
    );
    const row = {
      of: 'data_sources',
      id: 5,
      name: 'n',
      source: 'BOX',
      customerId: 'ada',
      missing: 12,
      isApproved: false,
    };
    expect(render('decisions', { held: [row] })).toContain('data source 5 did not find 12 of its files');
    expect(render('decisions', { held: [row] })).toContain('POST /data_sources/5/held_deletions/approve');
    expect(render('decisions', { held: [{ ...row, isApproved: true }] })).toContain(
      'Approved: the next listing deletes them',
    );
    expect(render('decisions', { held: [{ ...row, of: 'files' }] })).toContain('POST /files/5/held_deletions/approve');
  });

  test('shows files in quarantine', () => {
    const group = { of: 'data_source_id', id: 5, name: 'n', source: 'BOX', customerId: 'ada', files: 3 };
    const rows = [{ ...group, firstErasedAt: new Date(NOW), lastErasedAt: new Date(NOW) }];
    const shown = render('quarantine', { quarantine: { files: 9, rows, groups: 2 } });
    expect(shown).toContain('9 files that vanished at their source; shows the 1 of 2 groups that are erased first');
    expect(shown).toContain('POST /quarantined_files/restore {"data_source_id": 5}');
    expect(render('quarantine')).toContain('No file is in quarantine.');
  });

  test('shows deliveries of webhooks', () => {
    const webhook = { _id: 2, url: 'http://r', status: 'ACTIVE', statusReason: '', disabledAt: null, failing: null };
    const event = { kind: 'FILE_READY' };
    const attempt = (fields: object) => ({ at: new Date(NOW), ms: 1, statusCode: 200, error: null, ...fields });
    const delivery = {
      event,
      position: 8,
      status: 'DELIVERED',
      attempts: [attempt({})],
      nextTryAt: null,
      createdAt: new Date(NOW),
    };
    const shown = (fields: object, deliveries: object[] = []) =>
      render('webhooks', { webhooks: [{ webhook: { ...webhook, ...fields }, deliveries }] });
    expect(shown({})).toContain('http://r (webhook 2) active Nothing was delivered yet.');
    expect(shown({ disabledAt: new Date(NOW), status: 'FLAGGED' })).toContain('disabled since');
    expect(shown({ status: 'FLAGGED', statusReason: 'refused' })).toContain('failing refused');
    expect(shown({}, [delivery])).toMatch(/8 FILE_READY delivered 1 HTTP 200/);
    const waiting = {
      ...delivery,
      status: 'PENDING',
      nextTryAt: new Date(NOW),
      attempts: [attempt({}), attempt({ error: 'late' })],
    };
    expect(shown({}, [waiting])).toMatch(/8 FILE_READY waiting 2 late again at/);
    expect(shown({}, [{ ...waiting, status: 'FAILED' }])).toMatch(/8 FILE_READY given up 2 late (?!again)/);
  });

  test('shows each alert once', () => {
    expect(render('alerts')).toBe('');
    const stall = { cause: 'no_worker', runs: 2, message: 'It stalled.', since: new Date(NOW) };
    const engines = { ...OVERVIEW.engines, worker: { ...CHECK, ok: false, hint: 'No worker runs' } };
    expect(render('alerts', { stalls: [stall] })).toMatch(/^2 runs are stalled since .*\. It stalled\.$/);
    expect(render('alerts', { stalls: [{ ...stall, runs: 1 }], engines })).toMatch(
      /^1 run is stalled since .*\. No worker runs\.$/,
    );
    expect(render('alerts', { engines })).toBe('No worker runs.');
  });
});

describe('overview of an organization', () => {
  const log = { warn: () => undefined } as never;
  const storeOf = (reads: string[], broken: readonly string[] = []) => {
    const read = (name: string, value: unknown) => (organizationId: unknown) => {
      reads.push(`${name} ${JSON.stringify(organizationId)}`);
      return broken.includes(name) ? Promise.reject(new Error('unreachable')) : Promise.resolve(value);
    };
    return {
      organizations: { findRecord: read('record', { name: 'o', createdAt: new Date() }) },
      overview: Object.fromEntries(
        ['users', 'sources', 'runs', 'held', 'quarantine', 'storage'].map((name) => [name, read(name, name)]),
      ),
      stalls: { groupByCause: read('stalls', []) },
      files: { byCause: read('byCause', []), byWarning: read('byWarning', []) },
      webhooks: { list: read('webhooks', [{ _id: 4 }]) },
      deliveries: { list: read('deliveries', ['d']) },
      ...{ pingMongo: () => Promise.resolve(), schema: { check: () => Promise.resolve(null) } },
      ...{ vectors: { probe: () => Promise.resolve([]) }, workers: { list: () => Promise.resolve([]) } },
    };
  };
  const depsOf = (reads: string[], broken: readonly string[] = []) =>
    ({
      ...{ store: storeOf(reads, broken), log, dispatcher: { ping: () => Promise.resolve() } },
      ...{ diskProblem: () => Promise.resolve(null), engineProblem: () => Promise.resolve(null) },
    }) as never;

  test('is read once for concurrent callers, and only from the records of its organization', async () => {
    const reads: string[] = [];
    const overviews = createOverviews(depsOf(reads), 60_000);
    const [one, two] = await Promise.all([overviews.of(1), overviews.of(1)]);
    expect(two).toBe(one);
    expect(one).toMatchObject({
      ...{
        organizationId: 1,
        organization: { name: 'o', users: 'users' },
        sources: 'sources',
        runs: 'runs',
        held: 'held',
      },
      ...{
        quarantine: 'quarantine',
        storage: 'storage',
        webhooks: [{ webhook: { _id: 4 }, deliveries: ['d'] }],
        stalls: [],
      },
    });
    expect(one.engines).not.toHaveProperty('runs');
    expect(reads.filter((read) => read === 'runs 1')).toHaveLength(1);
    expect(await overviews.of(1)).toBe(one);
    expect((await overviews.of(2)).organizationId).toBe(2);
    expect(reads.filter((read) => read === 'runs 2')).toHaveLength(1);
    // Each part is read once per organization, with the id of that organization.
    expect(reads.filter((read) => /^(sources|held|storage|quarantine|users) /.test(read)).toSorted()).toEqual(
      ['held', 'quarantine', 'sources', 'storage', 'users'].flatMap((name) => [`${name} 1`, `${name} 2`]),
    );
    expect(reads).toContain('byCause {"organizationId":1}');
    expect(reads).toContain('byWarning {"organizationId":1}');
  });

  test('has null for a failed part, and reads it again', async () => {
    const reads: string[] = [];
    const overviews = createOverviews(depsOf(reads, ['storage']), 0);
    expect(await overviews.of(1)).toMatchObject({ storage: null, runs: 'runs' });
    await overviews.of(1);
    const times = (name: string) => reads.filter((read) => read === `${name} 1`).length;
    // Parts that change often are read each time; costly ones are cached.
    expect([times('storage'), times('runs'), times('held')]).toEqual([2, 2, 1]);
  });

  test('a part that keeps failing is not shown with its last result', async () => {
    const broken: string[] = [];
    const overviews = createOverviews(depsOf([], broken), 0);
    const clock = jest.spyOn(performance, 'now');
    let now = performance.now();
    clock.mockImplementation(() => now);
    try {
      expect(await overviews.of(1)).toMatchObject({ storage: 'storage', held: 'held' });
      broken.push('storage');
      now += 10_000;
      // This call starts the refresh, which fails, and returns the previous result.
      expect(await overviews.of(1)).toMatchObject({ storage: 'storage' });
      expect(await overviews.of(1)).toMatchObject({ storage: null, held: 'held' });
      broken.length = 0;
      expect(await overviews.of(1)).toMatchObject({ storage: 'storage' });
    } finally {
      clock.mockRestore();
    }
  });
});

describe('live page', () => {
  const html = (text: string) => ({ text }) as Html;
  const session = (id: string, lifeMs = 60_000) => ({
    ...{ id, organizationId: 1, keyId: 1, expiresAt: Date.now() + lifeMs },
  });

  /**
   * Creates live overviews with a short tick. @param endedSessions ids of ended sessions
   * @param keyLifetimeMs lifetime of pages that are opened with an API key
   */
  function start(endedSessions: string[] = [], keyLifetimeMs = 60_000) {
    const shown = { a: 'a1', b: 'b1' };
    const overviewReads: number[] = [];
    const overviews = {
      of: (organizationId: number) => {
        overviewReads.push(organizationId);
        return Promise.resolve({} as OrganizationOverview);
      },
    };
    const log = { warn: () => undefined } as never;
    const live = createLiveOverviews(
      overviews,
      () => Promise.resolve(endedSessions),
      { tickMs: 5, maxClients: 2, keyLifetimeMs },
      log,
    );
    const watch = (id: string | null, lifeMs?: number) => {
      const open = live.watch(1, id === null ? null : session(id, lifeMs), () => ({
        a: html(shown.a),
        b: html(shown.b),
      }));
      if (open === null) return null;
      const disconnect = new AbortController();
      const events: string[] = [];
      const ended = (async () => {
        for await (const text of open(disconnect.signal)) events.push(text);
      })();
      return { events, disconnect, ended };
    };
    return { live, shown, overviewReads, watch };
  }
  const part = (name: string, text: string) => `event: part\ndata: ${JSON.stringify({ part: name, html: text })}\n\n`;

  test('receives each part once, and again after a change', async () => {
    const { live, shown, overviewReads, watch } = start();
    const { events, disconnect, ended } = watch('s')!;
    await waitFor(
      () => events.length,
      (length) => length >= 3,
    );
    expect(events).toEqual(['retry: 3000\n\n', part('a', 'a1'), part('b', 'b1')]);
    shown.b = 'b2';
    await waitFor(
      () => events.length,
      (length) => length >= 4,
    );
    expect(events.slice(3)).toEqual([part('b', 'b2')]);
    disconnect.abort();
    await ended;
    await live.close();
    const reads = overviewReads.length;
    await new Promise((resolve) => setTimeout(resolve, 30));
    // Without a connected browser, no overview is read.
    expect(overviewReads).toHaveLength(reads);
  });

  test('counts against the maximum of watchers until it is signed out or its session is over', async () => {
    const endedSessions: string[] = [];
    const { live, watch } = start(endedSessions);
    const [one, two] = [watch('one')!, watch('two')!];
    await waitFor(
      () => [one.events.length, two.events.length],
      ([a = 0, b = 0]) => a > 1 && b > 1,
    );
    expect(watch('three')).toBeNull();
    live.endSession('one');
    await one.ended;
    expect(one.events.at(-1)).toBe('event: signed-out\ndata: {}\n\n');
    expect(two.events.at(-1)).not.toContain('signed-out');
    endedSessions.push('two');
    await two.ended;
    expect(two.events.at(-1)).toBe('event: signed-out\ndata: {}\n\n');
    const three = watch('three')!;
    await live.close();
    await three.ended;
    // A closing server does not sign browsers out: they reconnect and show the page again.
    expect(three.events.some((text) => text.includes('signed-out'))).toBe(false);
    expect(watch('four')).toBeNull();
  });

  test('ends at the expiry of its own credentials without signing the browser out', async () => {
    const { live, shown, watch } = start([], 0);
    // Another tab has renewed the session under the same id.
    const [expired, renewed] = [watch('s', 0)!, watch('s')!];
    await expired.ended;
    expect(expired.events.join('')).not.toContain('signed-out');
    const byKey = watch(null)!;
    await byKey.ended;
    expect(byKey.events.join('')).not.toContain('signed-out');
    shown.a = 'a2';
    await waitFor(
      () => renewed.events,
      (events) => events.includes(part('a', 'a2')),
    );
    await live.close();
    await renewed.ended;
  });
});
