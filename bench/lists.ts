/**
 * `npm run bench:lists`: pages of one user's 100,000 files and 1,000,000 chunks through the API, beside the same query
 * made straight with the MongoDB driver. `-- --quick` seeds a tenth.
 */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import mongoose from 'mongoose';

import type { FileRecord } from '../contract/records.js';
import { fileQuery } from '../store/files/filter.js';
import { fileModel } from '../store/files/model.js';
import type { TestUser } from '../test/support/client.js';
import { type ListCase, listCases, OFFSET, PAGE } from './listCases.js';
import { percentile } from './measures.js';
import { seedLists } from './seedLists.js';
import { startBenchService } from './service.js';

const quick = process.argv.includes('--quick');
const FILES = quick ? 10_000 : 100_000;
const ROUNDS = 40;
const MAX_MS = 50;
const MAX_RATIO = 1.5;
const RESULTS = fileURLToPath(new URL('lists.md', import.meta.url));
const say = (line: string): void => console.log(`· ${line}`);

/** The time each of two works takes, by turns, so that both meet the same machine. */
async function timeBoth(ours: () => Promise<unknown>, theirs: () => Promise<unknown>): Promise<[number, number]> {
  const times: [number[], number[]] = [[], []];
  for (let round = -5; round < ROUNDS; round += 1) {
    for (const [index, work] of [ours, theirs].entries()) {
      const begun = performance.now();
      // One after another is the measure.
      await work();
      if (round >= 0) times[index]?.push(performance.now() - begun);
    }
  }
  return [percentile(times[0], 95), percentile(times[1], 95)];
}

/** The same page and count as a program would ask for that has nothing but the driver. */
async function straight(
  connection: mongoose.Connection,
  tenant: { organizationId: number; userId: number },
  one: ListCase,
) {
  const files = connection.collection('files');
  const query = fileQuery(tenant, one.filters) as never;
  const sort = { [one.field]: 1, _id: 1 } as const;
  if (one.of === 'files') {
    const page = await files.find(query).sort(sort).skip(OFFSET).limit(PAGE).toArray();
    return [page, await files.countDocuments(query)];
  }
  const total = await files
    .aggregate([{ $match: query }, { $group: { _id: null, chunks: { $sum: '$numChunks' } } }])
    .toArray();
  let skip = OFFSET;
  let wanted = PAGE;
  const rows: unknown[] = [];
  const cursor = files.find(query, { projection: { generation: 1, numChunks: 1 } }).sort(sort);
  for await (const file of cursor) {
    const { _id, numChunks, generation } = file as unknown as { _id: number; numChunks: number; generation: number };
    if (skip >= numChunks) {
      skip -= numChunks;
      continue;
    }
    rows.push(
      await connection
        .collection('segments')
        .find({ ...tenant, fileId: _id, generation })
        .toArray(),
    );
    wanted -= numChunks - skip;
    skip = 0;
    if (wanted <= 0) break;
  }
  await cursor.close();
  return [rows, total];
}

async function measure(
  user: TestUser,
  connection: mongoose.Connection,
  tenant: { organizationId: number; userId: number },
  one: ListCase,
) {
  const path = one.of === 'files' ? '/user_files_v2' : '/list_chunks_and_embeddings';
  const body = { filters: one.wire, order_by: one.order, pagination: { limit: PAGE, offset: OFFSET } };
  const asked = async (): Promise<void> => {
    const { status, body: answer } = await user.post(path, body);
    if (status !== 200) throw new Error(`${one.name} answered ${status}: ${JSON.stringify(answer)}`);
  };
  const [ours, theirs] = await timeBoth(asked, () => straight(connection, tenant, one));
  const ratio = ours / theirs;
  const met = (one.boundless || ours < MAX_MS) && ratio <= MAX_RATIO;
  say(
    `${one.of} ${one.name}: ${ours.toFixed(1)} ms, driver ${theirs.toFixed(1)} ms, ${ratio.toFixed(2)}×${met ? '' : '  MISSED'}`,
  );
  return `| ${one.of} | ${one.name} | ${ours.toFixed(1)} | ${theirs.toFixed(1)} | ${ratio.toFixed(2)}× | ${met ? 'yes' : 'MISSED'} |`;
}

const service = await startBenchService({ siteHost: '127.0.0.1:9', profileDir: null, say });
try {
  const user = await service.user();
  const own = (await user.post<FileRecord>('/scrape_sitemap', { url: 'http://127.0.0.1:9/none.xml' })).body;
  const tenant = { organizationId: own.organization_id, userId: own.organization_user_id ?? 0 };
  const connection = await mongoose.createConnection(service.mongodbUri).asPromise();
  const begun = performance.now();
  const blank = new (fileModel(connection))().toObject({ minimize: false });
  const seeded = await seedLists(connection, tenant, blank, FILES);
  const seconds = ((performance.now() - begun) / 1000).toFixed(0);
  say(`seeded ${FILES} files and about ${FILES * 10} chunks in ${seconds} s`);
  const lines: string[] = [];
  for (const one of listCases(seeded)) lines.push(await measure(user, connection, tenant, one));
  await connection.close();
  const text = [
    '# Lists',
    '',
    `${new Date().toISOString()} · one user with ${FILES} files and ${FILES * 10} chunks, seeded in ${seconds} s · p95 of ${ROUNDS} ` +
      `pages of ${PAGE} rows at offset ${OFFSET}, count included, one caller. Wanted: below ${MAX_MS} ms and at most ${MAX_RATIO}× ` +
      'the same page and count asked of MongoDB by its driver; substrings and negated tags by the ratio alone.',
    '',
    '| list | page | p95, ms | driver, ms | ratio | met |',
    '|------|------|--------:|-----------:|------:|----:|',
    ...lines,
    '',
  ].join('\n');
  if (!quick) await writeFile(RESULTS, text);
  console.log(`\n${text}`);
} finally {
  await service.stop();
}
process.exit(0);
