/** The embedded Qdrant while it builds an index: reads, writes and a kill during the build. */
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { QdrantClient } from '@qdrant/js-client-rest';

import { type QdrantEngine, startQdrant } from '../../../engines/qdrant.js';
import { DEFAULT_ENGINES_DIR, ensureVenv } from '../../../engines/venv.js';
import { seededRandom } from '../../support/seed.js';
import { waitFor } from '../../support/waitFor.js';
import { thoroughly } from '../../support/thorough.js';

const SIZE = 64;
/** Enough points to exceed the engine's threshold of 500 KB. */
const ENOUGH = 2_000;
const MAX_WRITTEN = 50_000;
/** Number of checks, 5 ms apart, for the start of a build. */
const CHECKS = 100;
const chance = seededRandom('vectors of an index');
let dataDir: string;
let engine: QdrantEngine;
let client: QdrantClient;

const pointsFrom = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => ({
    id: from + index,
    vector: Array.from({ length: SIZE }, () => chance.below(2_001) / 1_000 - 1),
    payload: { n: from + index },
  }));
const shardsOf = async (name: string) =>
  (await readdir(join(dataDir, 'qdrant', name))).filter((entry) => entry.startsWith('shard'));
const indexed = async (name: string) => (await client.getCollection(name)).indexed_vectors_count ?? 0;

/** Creates a collection and writes to it until its index is being built. Returns its number of points. */
async function fillUntilIndexing(name: string): Promise<number> {
  await client.createCollection(name, { vectors: { size: SIZE, distance: 'Cosine' } });
  await client.createPayloadIndex(name, { field_name: 'n', field_schema: 'integer', wait: true });
  const isBuilding = async (): Promise<boolean> => (await shardsOf(name)).length === 2;
  for (let written = 0; written <= MAX_WRITTEN; written += 500) {
    // The build starts a moment after a write, and may have ended before the next write.
    for (let check = 0; check < (written < ENOUGH ? 1 : CHECKS); check += 1) {
      if (await isBuilding()) return written;
      await sleep(5);
    }
    await client.upsert(name, { wait: true, points: pointsFrom(written, 500) });
  }
  throw new Error('no index build was observed');
}

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'allotrope-indexing-'));
  const venv = await ensureVenv({ enginesDir: DEFAULT_ENGINES_DIR });
  engine = await startQdrant({ dataDir, venv, port: 'free', indexAboveKb: 500 });
  client = new QdrantClient({ url: engine.url });
});
afterAll(async () => {
  await engine.stop();
  await rm(dataDir, { recursive: true, force: true });
});

test('includes writes, changes and deletions during a build in the new index', async () => {
  const filled = await fillUntilIndexing('busy');
  // Each iteration changes different points.
  let iteration = 0;
  do {
    const base = iteration * 3;
    await client.upsert('busy', { wait: true, points: pointsFrom(1_000_000 + iteration, 1) });
    await client.delete('busy', { wait: true, points: [base] });
    await client.delete('busy', { wait: true, filter: { must: [{ key: 'n', match: { value: base + 1 } }] } });
    await client.setPayload('busy', { wait: true, payload: { n: -1 }, points: [base + 2] });
    const found = await client.query('busy', { query: pointsFrom(0, 1)[0]!.vector, limit: 5 });
    expect(found.points).toHaveLength(5);
    iteration += 1;
  } while ((await shardsOf('busy')).length === 2 && 3 * iteration < filled);
  await waitFor(
    () => indexed('busy'),
    (count) => count > 0,
  );
  expect((await client.count('busy')).count).toBe(filled - iteration);
  const changed = await client.count('busy', { filter: { must: [{ key: 'n', match: { value: -1 } }] }, exact: true });
  expect(changed.count).toBe(iteration);
  const last = 3 * (iteration - 1);
  const remainingPoints = await client.retrieve('busy', { ids: [last, last + 1, last + 2, 1_000_000 + iteration - 1] });
  expect(remainingPoints.map(({ id }) => Number(id)).toSorted((a, b) => a - b)).toEqual([
    last + 2,
    1_000_000 + iteration - 1,
  ]);
});

test('keeps every point once when killed during a build, and builds the index after the restart', async () => {
  const before = (await client.count('busy')).count;
  const filled = await fillUntilIndexing('killed');
  await client.upsert('killed', { wait: true, points: pointsFrom(1_000_000, 10) });
  await engine.kill('SIGKILL');
  await engine.restart();
  expect((await client.count('killed')).count).toBe(filled + 10);
  expect((await client.count('busy')).count).toBe(before);
  await waitFor(
    () => indexed('killed'),
    (count) => count > 0,
  );
  await waitFor(
    () => shardsOf('killed'),
    (shards) => shards.length === 1,
  );
  expect((await client.count('killed')).count).toBe(filled + 10);
});

thoroughly('aborts a build when writes exceed its buffer, loses no point, and builds the index once idle', async () => {
  await engine.stop();
  const venv = await ensureVenv({ enginesDir: DEFAULT_ENGINES_DIR });
  const crowded = await startQdrant({
    dataDir,
    venv,
    port: engine.ports[0] ?? 'free',
    indexAboveKb: 500,
    keptPoints: 400,
  });
  try {
    const filled = await fillUntilIndexing('crowded');
    await client.upsert('crowded', { wait: true, points: pointsFrom(1_000_000, 500) });
    const log = await readFile(join(dataDir, 'logs', 'qdrant.log'), 'utf8');
    expect(log).toContain('indexing crowded: cancelled');
    expect((await client.count('crowded')).count).toBe(filled + 500);
    await waitFor(
      () => shardsOf('crowded'),
      (shards) => shards.length === 1,
    );
    expect(await indexed('crowded')).toBe(0);
    // The build waits for an idle engine. So poll the files: a write or a query would postpone it.
    await waitFor(
      () => shardsOf('crowded'),
      (shards) => shards.includes('shard-1'),
    );
    await waitFor(
      () => indexed('crowded'),
      (count) => count > 0,
    );
    expect((await client.count('crowded')).count).toBe(filled + 500);
  } finally {
    await crowded.stop();
    await engine.restart();
  }
});

thoroughly('can delete a collection and stop while an index is being built', async () => {
  await fillUntilIndexing('gone');
  await client.deleteCollection('gone');
  expect(existsSync(join(dataDir, 'qdrant', 'gone'))).toBe(false);
  const filled = await fillUntilIndexing('left');
  await engine.stop();
  await engine.restart();
  expect((await client.count('left')).count).toBe(filled);
});
