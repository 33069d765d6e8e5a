/**
 * `npm run bench:lists`: pages of one user's 100,000 files and 1,000,000 chunks through the API, compared with the same
 * query through the MongoDB driver alone. `-- --quick` seeds a tenth.
 */
import { fileURLToPath } from 'node:url';
import mongoose from 'mongoose';

import { fileModel } from '../store/models/files.js';
import { listCases, OFFSET, PAGE } from './listCases.js';
import { queryByDriver } from './listDriver.js';
import { percentile } from './measures.js';
import { otherLists, seedOthers } from './otherLists.js';
import { environment, table } from './report.js';
import { seedLists } from './seedLists.js';
import { startBenchService } from './service.js';
import { writeReport } from './writeReport.js';

const quick = process.argv.includes('--quick');
const FILES = quick ? 10_000 : 100_000;
/** Measured pages of a filter: one for each of six orders in both directions. */
const ITERATIONS = 12;
/** Measured pages of a list that has a single order. */
const ITERATIONS_OF_ORDER = 12;
/** A total is cached from the second request on. */
const WARM_UP = 2;
const MAX_MS = 50;
const MAX_RATIO = 1.5;
const RESULTS = fileURLToPath(new URL('lists.md', import.meta.url));
const printLine = (line: string): void => console.log(`· ${line}`);

interface Work {
  /** Preparation that is not timed. */
  prepare?(): Promise<void>;
  run(iteration: number): Promise<unknown>;
}

/** Returns the times of several functions, run alternately so that all run under the same conditions. */
async function timeAll(iterations: number, works: readonly Work[]): Promise<number[][]> {
  const times: number[][] = works.map(() => []);
  for (let iteration = -WARM_UP; iteration < iterations; iteration += 1) {
    // Run them one after the other, because concurrent calls would slow each other down.
    for (const [index, { prepare, run }] of works.entries()) {
      await prepare?.();
      const startedAt = performance.now();
      await run(Math.max(0, iteration));
      if (iteration >= 0) times[index]?.push(performance.now() - startedAt);
    }
  }
  return times;
}

const p95 = (times: readonly number[] = []): number => percentile(times, 95);
const ms = (time: number): string => time.toFixed(1);
const verdict = (met: boolean): string => (met ? 'yes' : 'MISSED');

const startedAt = new Date();
const service = await startBenchService({ siteHost: '127.0.0.1:9', profileDir: null, printLine });
try {
  const user = await service.user();
  const whoami = (await user.get<{ id: number; organization_id: number }>('/whoami')).body;
  const tenant = { organizationId: whoami.organization_id, userId: whoami.id };
  const connection = await mongoose.createConnection(service.mongodbUri).asPromise();
  const seedingFrom = performance.now();
  const blank = new (fileModel(connection))().toObject({ minimize: false });
  const seeded = await seedLists(connection, tenant, blank, FILES);
  await seedOthers(connection, tenant);
  const seconds = ((performance.now() - seedingFrom) / 1000).toFixed(0);
  printLine(`seeded ${FILES} files and ${seeded.chunks} chunks in ${seconds} s`);

  const stamp = (updatedAt: Date) => async (): Promise<void> => {
    await connection.collection('files').updateOne({ _id: seeded.largest.id as never }, { $set: { updatedAt } });
  };
  const settle = stamp(new Date(Date.UTC(2026, 0, 2)));
  /** Changes a file of the user, so that no total is cached. */
  const touch = (): Promise<void> => stamp(new Date())();
  const check = ({ status }: { status: number }, name: string): void => {
    if (status !== 200) throw new Error(`${name} answered ${status}`);
  };

  const rows: string[][] = [];
  const pages: { of: string; atRest: number[]; changing: number[] }[] = [];
  for (const list of listCases(seeded)) {
    const path = list.of === 'files' ? '/user_files_v2' : '/list_chunks_and_embeddings';
    const orderOf = (iteration: number) => ({
      order: list.orders[iteration % list.orders.length] ?? 'updated_at',
      direction: Math.floor(iteration / list.orders.length) % 2 === 0 ? ('asc' as const) : ('desc' as const),
    });
    const request = async (iteration: number): Promise<void> => {
      const { order, direction } = orderOf(iteration);
      const pagination = { limit: PAGE, offset: OFFSET };
      check(
        await user.post(path, { filters: list.wire, order_by: order, order_dir: direction, pagination }),
        list.name,
      );
    };
    const driver = (iteration: number): Promise<void> => {
      const { order, direction } = orderOf(iteration);
      return queryByDriver(connection, tenant, list, order, direction === 'asc' ? 1 : -1);
    };
    const iterations = list.orders.length === 1 ? ITERATIONS_OF_ORDER : list.ratioOnly ? ITERATIONS / 2 : ITERATIONS;
    const [atRest = [], baselineTimes = [], changing = []] = await timeAll(iterations, [
      { prepare: settle, run: request },
      { run: driver },
      { prepare: touch, run: request },
    ]);
    const [ours, whileChanging, baseline] = [p95(atRest), p95(changing), p95(baselineTimes)];
    const met = (list.ratioOnly || ours < MAX_MS) && ours / baseline <= MAX_RATIO;
    const metWhileChanging = (list.ratioOnly || whileChanging < MAX_MS) && whileChanging / baseline <= MAX_RATIO;
    rows.push([
      ...[list.of, list.name, ms(ours), ms(baseline), `${(ours / baseline).toFixed(2)}×`, verdict(met)],
      ...[ms(whileChanging), `${(whileChanging / baseline).toFixed(2)}×`, verdict(metWhileChanging)],
    ]);
    if (!list.ratioOnly) pages.push({ of: list.of, atRest, changing });
    const slowest = orderOf(changing.indexOf(Math.max(...changing)));
    printLine(
      `${list.of} ${list.name}: ${ms(ours)} ms, driver ${ms(baseline)} ms; changing ${ms(whileChanging)} ms (slowest by ${slowest.order} ${slowest.direction})`,
    );
  }
  for (const kind of ['files', 'chunks']) {
    const selected = pages.filter((page) => page.of === kind);
    const [ours, changing] = [
      p95(selected.flatMap((page) => page.atRest)),
      p95(selected.flatMap((page) => page.changing)),
    ];
    const name = 'all except substrings and negated tags';
    rows.push([kind, name, ms(ours), '', '', verdict(ours < MAX_MS), ms(changing), '', verdict(changing < MAX_MS)]);
  }

  const others: string[][] = [];
  for (const list of otherLists(connection, tenant, { user, organization: service.organization }, seeded)) {
    const request = async (): Promise<void> => check(await list.request(), list.name);
    const [atRest = [], baselineTimes = [], changing = []] = await timeAll(ITERATIONS_OF_ORDER, [
      { prepare: settle, run: request },
      { run: list.queryByDriver },
      { prepare: touch, run: request },
    ]);
    others.push([list.name, ms(p95(atRest)), ms(p95(baselineTimes)), ms(p95(changing))]);
    printLine(others.at(-1)?.join(' · ') ?? '');
  }
  await connection.close();
  const text = [
    '# Lists',
    '',
    `${startedAt.toISOString()} · \`npm run bench:lists${quick ? ' -- --quick' : ''}\`, ${((Date.now() - startedAt.getTime()) / 60_000).toFixed(1)} minutes · ${environment()}`,
    '',
    `One user with ${FILES + 1} files and ${seeded.chunks} chunks, seeded in ${seconds} s. p95 of ${ITERATIONS_OF_ORDER} pages of ${PAGE} rows at ` +
      `offset ${OFFSET}, for one caller over HTTP, including the count. ` +
      `Each filter is measured with ${ITERATIONS} pages: one for each of the six orders in each direction. ` +
      `The last two filters are measured with ${ITERATIONS / 2} pages. ` +
      `The baseline is the same page and total from the MongoDB driver at the same time. Target: below ${MAX_MS} ms and at most ` +
      `${MAX_RATIO}× the driver; substrings and negated tags by the ratio alone. *At rest*: the last change of ` +
      "the user's files is older than a minute, so totals are cached. *Changing*: a file changes before each page, " +
      'so every total is counted again.',
    '',
    table(['list', 'page', 'at rest, ms', 'driver, ms', 'ratio', 'met', 'changing, ms', 'ratio', 'met'], rows),
    '',
    table(['list', 'at rest, ms', 'driver, ms', 'changing, ms'], others),
    '',
  ].join('\n');
  if (!quick) await writeReport(RESULTS, text);
  console.log(`\n${text}`);
} finally {
  await service.stop();
}
process.exit(0);
