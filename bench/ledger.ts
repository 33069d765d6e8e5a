/**
 * `npm run bench:ledger`: response times of the lists of runs and of their items, for runs of 100,000 items, and the
 * documents that MongoDB reads for them, written to bench/ledger.md. `-- --items=20000` sets another number.
 */
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import mongoose from 'mongoose';

import { environment, table } from './report.js';
import { percentile } from './measures.js';
import { seedLedger } from './seedLedger.js';
import { startBenchService } from './service.js';
import { writeReport } from './writeReport.js';

const ITEMS = Number(process.argv.find((word) => word.startsWith('--items='))?.slice(8) ?? 100_000);
const ITERATIONS = 20;
const RESULTS = fileURLToPath(new URL('ledger.md', import.meta.url));
const printLine = (line: string): void => console.log(`· ${line}`);

/** An entry of MongoDB's profiler. */
interface Profiled {
  readonly ns: string;
  readonly planSummary?: string;
  readonly docsExamined?: number;
  readonly keysExamined?: number;
  readonly millis: number;
}
interface Case {
  readonly name: string;
  readonly iterations?: number;
  run(iteration: number): Promise<{ readonly status: number; readonly body: unknown }>;
}

/** Returns the distinct stages of a plan. Without this, an `$in` lists its index once per value. */
const stagesOf = (plan = ''): string => [...new Set(plan.split(/, (?=IXSCAN)/))].join(', ');

const startedAt = new Date();
const service = await startBenchService({
  siteHost: '127.0.0.1:9',
  profileDir: null,
  // The active run has no workflow; the reaper must not end it.
  settings: { REAP_INTERVAL_S: '86400' },
  printLine,
});
try {
  const user = await service.user();
  const whoami = (await user.get<{ id: number; organization_id: number }>('/whoami')).body;
  const connection = await mongoose.createConnection(service.mongodbUri).asPromise();
  printLine(`seeding ${ITEMS} items, ${2 * ITEMS} files`);
  const { ended, active } = await seedLedger(
    connection,
    { organizationId: whoami.organization_id, userId: whoami.id },
    ITEMS,
  );
  printLine('seeded');
  let cursor: string | null = null;
  const readNextPage = async () => {
    const answer = await user.get<{ next_cursor: string | null }>(
      `/sync_runs/${ended}/items?limit=1000${cursor === null ? '' : `&after=${cursor}`}`,
    );
    cursor = answer.body.next_cursor;
    return answer;
  };
  const listItems = (run: number, query: string) => () => user.get(`/sync_runs/${run}/items?limit=100${query}`);
  const cases: readonly Case[] = [
    { name: 'GET /sync_runs, 100 runs, one of them active', run: () => user.get('/sync_runs') },
    { name: 'GET /sync_runs/ID, ended', run: () => user.get(`/sync_runs/${ended}`) },
    { name: 'GET /sync_runs/ID, active', run: () => user.get(`/sync_runs/${active}`) },
    { name: 'items, all by cursor, pages of 1,000', iterations: ITEMS / 1_000, run: readNextPage },
    { name: 'items, failed (5 %)', run: listItems(ended, '&outcomes=failed') },
    { name: 'items, of a cause (0.1 %)', run: listItems(ended, '&causes=too_large') },
    { name: 'items, of a cause that no item has', run: listItems(ended, '&causes=access_revoked') },
    {
      name: 'items, failed, of a cause that no item has',
      run: listItems(ended, '&outcomes=failed&causes=access_revoked'),
    },
    { name: 'items, of an active run', run: listItems(active, '') },
    { name: 'items, failed, of an active run', run: listItems(active, '&outcomes=failed') },
    {
      name: 'POST retry, by a cause (0.1 %)',
      iterations: 1,
      run: () => user.post(`/sync_runs/${ended}/retry`, { causes: ['too_large'] }),
    },
    {
      name: 'POST retry, all that failed (1,000 at most)',
      iterations: 1,
      run: () => user.post(`/sync_runs/${ended}/retry`, {}),
    },
  ];
  const db = connection.db;
  if (!db) throw new Error('not connected');
  const rows: string[][] = [];
  for (const { name, iterations = ITERATIONS, run } of cases) {
    const times: number[] = [];
    let max = 0;
    await db.command({
      profile: 2,
      filter: {
        ns: { $in: ['ledger_items', 'runs', 'files'].map((collection) => `${db.databaseName}.${collection}`) },
      },
    });
    const from = new Date();
    for (let iteration = 0; iteration < iterations; iteration += 1) {
      const started = performance.now();
      const { status, body } = await run(iteration);
      times.push(performance.now() - started);
      if (status !== 200) throw new Error(`${name} answered ${status}: ${JSON.stringify(body)}`);
    }
    await db.command({ profile: 0 });
    const read = await db
      .collection<Profiled>('system.profile')
      .find({ ts: { $gte: from } } as never)
      .toArray();
    max = Math.max(0, ...read.map(({ docsExamined = 0 }) => docsExamined));
    const heaviest = read.find(({ docsExamined = 0 }) => docsExamined === max);
    const scans = read.filter(({ planSummary = '' }) => planSummary.includes('COLLSCAN')).length;
    const row = [
      name,
      String(iterations),
      percentile(times, 50).toFixed(1),
      percentile(times, 95).toFixed(1),
      max.toLocaleString('en'),
      `${heaviest?.ns.split('.').at(-1) ?? ''}: ${stagesOf(heaviest?.planSummary)}`,
      String(scans),
    ];
    rows.push(row);
    printLine(row.join(' · '));
  }
  await connection.close();
  const text = [
    '# Ledger',
    '',
    `${startedAt.toISOString()} · \`npm run bench:ledger\` · ${environment()} · load ${loadavg()[0]?.toFixed(1) ?? '?'} at the end`,
    '',
    `One user with an ended run of ${ITEMS} items (93 % ok, 5 % failed, 2 % skipped), an active run of ${ITEMS} files, and 1,000 small runs. One caller over HTTP. *Read at most*: the largest number of documents that a single MongoDB query read, with its plan. *Scans*: queries that read a whole collection.`,
    '',
    table(['list', 'calls', 'p50, ms', 'p95, ms', 'read at most', 'plan', 'scans'], rows),
    '',
  ].join('\n');
  await writeReport(RESULTS, text);
  printLine(`written to ${RESULTS}`);
} finally {
  await service.stop();
}
