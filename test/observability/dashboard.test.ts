import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';

import type { Backlog } from '../../observability/backlog.js';
import { createMetrics } from '../../observability/metrics.js';
import { SETTINGS } from '../../config/settings.js';

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly datasource?: { readonly uid: string };
  readonly targets?: readonly { readonly expr: string; readonly datasource: { readonly uid: string } }[];
}
interface Dashboard {
  readonly title: string;
  readonly uid: string;
  readonly schemaVersion: number;
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly type: string; readonly query: string }[];
  };
  readonly panels: readonly Panel[];
}

const file = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const dashboard = JSON.parse(file('deploy/grafana/allotrope.json')) as Dashboard;
const operations = file('docs/operations/metrics.md');
const graphs = dashboard.panels.filter(({ type }) => type !== 'row');

/**
 * Metrics of the SDK that the dashboard shows. test/system/observability/exports/metrics.ts checks that they are exported.
 */
const OF_SDK = [
  'temporal_activity_schedule_to_start_latency_seconds',
  'temporal_activity_execution_latency_seconds',
  'temporal_worker_task_slots_available',
  'temporal_workflow_completed_total',
  'temporal_workflow_failed_total',
];

/** Metric families of a scrape by name, with the names of their labels. */
const families = new Map<string, Set<string>>();

beforeAll(async () => {
  const metrics = createMetrics({ ofProcess: true, prices: { s: 1 } });
  const backlog: Backlog = {
    files: { READY: 1 },
    runs: [{ kind: 'syncUpload', state: 'waiting', count: 1, oldestAt: new Date() }],
    deliveries: { waiting: 0, oldestAt: null },
    stalled: [{ cause: 'no_worker', runs: 2 }],
    workers: { alive: 1 },
    failingWebhooks: 1,
    unnumberedEventAt: null,
  };
  metrics.reportBacklog(() => Promise.resolve(backlog));
  metrics.reportDisks({ folders: [{ name: 'DATA_DIR', path: process.cwd() }], minFreeBytes: 1 });
  metrics.embedded({ space: 's', purpose: 'document', outcome: 'computed', texts: 1, tokens: 1 });
  metrics.providerRequest('s', 'answered');
  metrics.providerTokens('s', 1);
  metrics.answered({ method: 'GET', route: '/', status: 200, seconds: 1 });
  metrics.filesEnded('READY', 1);
  metrics.contentReceived('WEB_SCRAPE', 'new', 1);
  metrics.sourceRequest('SLACK', 'answered');
  metrics.tokenRefresh('SLACK', 'refreshed');
  metrics.webhookAttempt('delivered', 1);
  for (const system of ['mongodb', 'qdrant'] as const)
    metrics.watch({ system, operation: 'find', target: '' })({ failed: true });
  const { text } = await metrics.scrape();
  for (const [, name = ''] of text.matchAll(/^# TYPE (\w+)/gm)) families.set(name, new Set());
  for (const [, name = '', labels = ''] of text.matchAll(/^(\w+)\{([^}]*)\}/gm)) {
    const family = families.get(name.replace(/_(bucket|count|sum)$/, '')) ?? families.get(name);
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) family?.add(label);
  }
});

/** Returns the names of metrics that an expression uses. */
const metricsIn = (expr: string): string[] =>
  [...expr.matchAll(/\b(?:allotrope|temporal|process|nodejs)_\w+/g)].map(([name]) => name);
const familyOf = (name: string): string => (families.has(name) ? name : name.replace(/_(bucket|count|sum)$/, ''));

describe('the dashboard', () => {
  test('takes its data source from a variable, and has no overlapping panels', () => {
    expect(dashboard).toMatchObject({ title: 'Allotrope', uid: 'allotrope' });
    expect(dashboard.templating.list).toMatchObject([{ name: 'datasource', type: 'datasource', query: 'prometheus' }]);
    for (const { title, datasource, targets = [] } of graphs)
      expect([title, datasource?.uid, new Set(targets.map((target) => target.datasource.uid))]).toEqual([
        title,
        '${datasource}',
        new Set(['${datasource}']),
      ]);
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(Math.max(...dashboard.panels.map(({ gridPos: { x, w } }) => x + w))).toBe(24);
  });

  test('uses only exported metrics', () => {
    const names = [...new Set(graphs.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => metricsIn(expr))))];
    expect(names.length).toBeGreaterThan(20);
    expect(names.filter((name) => !families.has(familyOf(name)) && !OF_SDK.includes(familyOf(name)))).toEqual([]);
  });

  test('sums only by labels of the metric', () => {
    const wrong = graphs.flatMap(({ targets = [] }) =>
      targets.flatMap(({ expr }) => {
        const [name = ''] = metricsIn(expr);
        const labels = families.get(familyOf(name));
        const by = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) =>
          list.split(',').map((label) => label.trim()),
        );
        return labels
          ? by.filter((label) => label !== 'le' && !labels.has(label)).map((label) => `${name} by ${label}`)
          : [];
      }),
    );
    expect(wrong).toEqual([]);
  });

  test('shows every metric of the service', () => {
    const shown = new Set(
      graphs.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => metricsIn(expr).map(familyOf))),
    );
    expect([...families.keys()].filter((name) => name.startsWith('allotrope_') && !shown.has(name))).toEqual([]);
  });
});

test('alert rules use only exported metrics; the labels folder and status are exported', () => {
  const { groups } = parse(file('deploy/alerts.yml')) as { groups: { rules: { expr: string }[] }[] };
  const rules = groups.flatMap((group) => group.rules);
  expect(rules.length).toBeGreaterThan(2);
  for (const { expr } of rules) expect(metricsIn(expr).filter((name) => !families.has(name))).toEqual([]);
  expect(families.get('allotrope_disk_free_bytes')).toContain('folder');
  expect(families.get('allotrope_http_requests_total')).toContain('status');
});

test('docs/operations/metrics.md explains exactly the metrics of the service, with their labels', () => {
  const explained = new Map(
    [...operations.matchAll(/`(allotrope_\w+)(?:\{([\w,]+)\})?`/g)].map(([, name = '', labels = '']) => [
      name,
      labels
        .split(',')
        .filter((label) => label !== '')
        .toSorted(),
    ]),
  );
  const exported = [...families].filter(([name]) => name.startsWith('allotrope_'));
  expect(Object.fromEntries(explained)).toEqual(
    Object.fromEntries(
      exported.map(([name, labels]) => [name, [...labels].filter((label) => label !== 'le').toSorted()]),
    ),
  );
  for (const name of OF_SDK.slice(0, 1)) expect(operations).toContain(name);
});

test('the Prometheus example is valid YAML and names only existing settings', () => {
  const text = file('deploy/prometheus.yml');
  const { scrape_configs } = parse(text) as { scrape_configs: { job_name: string }[] };
  expect(scrape_configs.map(({ job_name }) => job_name)).toEqual(['allotrope-api', 'allotrope-worker']);
  for (const [name] of text.matchAll(/\b[A-Z]+_[A-Z_]+\b/g)) expect(Object.keys(SETTINGS)).toContain(name);
});
