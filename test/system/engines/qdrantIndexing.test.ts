/** The embedded Qdrant while it builds an index: it answers, takes writes, may be killed, and nothing is lost. */
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { QdrantClient } from '@qdrant/js-client-rest';

import { type QdrantEngine, startQdrant } from '../../../engines/qdrant.js';
import { DEFAULT_ENGINES_DIR, ensureVenv } from '../../../engines/venv.js';
import { seededChance } from '../../support/seed.js';
import { waitFor } from '../../support/waitFor.js';
import { thoroughly } from '../../support/thorough.js';

const SIZE = 64;
/** Points above the engine's 500 KB. */
const ENOUGH = 2_000;
const MAX_WRITTEN = 50_000;
/** Looks, 5 ms apart, for a build that begins. */
const LOOKS = 100;
const chance = seededChance('vectors of an index');
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

/** Makes a collection and writes to it until its index is being built; answers how many points it has. */
async function fillUntilIndexing(name: string): Promise<number> {
  await client.createCollection(name, { vectors: { size: SIZE, distance: 'Cosine' } });
  await client.createPayloadIndex(name, { field_name: 'n', field_schema: 'integer', wait: true });
  const isBuilding = async (): Promise<boolean> => (await shardsOf(name)).length === 2;
  for (let written = 0; written <= MAX_WRITTEN; written += 500) {
    // It is begun a moment after a write, and the next one may be the end of it.
    for (let look = 0; look < (written < ENOUGH ? 1 : LOOKS); look += 1) {
      if (await isBuilding()) return written;
      await sleep(5);
    }
    await client.upsert(name, { wait: true, points: pointsFrom(written, 500) });
  }
  throw new Error('no index is built');
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

test('what is written, changed and deleted while an index is built is in what takes the place', async () => {
  const filled = await fillUntilIndexing('busy');
  // Each round at points of its own.
  let round = 0;
  do {
    const base = round * 3;
    await client.upsert('busy', { wait: true, points: pointsFrom(1_000_000 + round, 1) });
    await client.delete('busy', { wait: true, points: [base] });
    await client.delete('busy', { wait: true, filter: { must: [{ key: 'n', match: { value: base + 1 } }] } });
    await client.setPayload('busy', { wait: true, payload: { n: -1 }, points: [base + 2] });
    const found = await client.query('busy', { query: pointsFrom(0, 1)[0]!.vector, limit: 5 });
    expect(found.points).toHaveLength(5);
    round += 1;
  } while ((await shardsOf('busy')).length === 2 && 3 * round < filled);
  await waitFor(
    () => indexed('busy'),
    (count) => count > 0,
  );
  expect((await client.count('busy')).count).toBe(filled - round);
  const changed = await client.count('busy', { filter: { must: [{ key: 'n', match: { value: -1 } }] }, exact: true });
  expect(changed.count).toBe(round);
  const last = 3 * (round - 1);
  const kept = await client.retrieve('busy', { ids: [last, last + 1, last + 2, 1_000_000 + round - 1] });
  expect(kept.map(({ id }) => Number(id)).toSorted((a, b) => a - b)).toEqual([last + 2, 1_000_000 + round - 1]);
});

test('killed while it builds an index it keeps every point and no copy, and builds it after all', async () => {
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

thoroughly(
  'more is written than is kept while an index is built: it is given up, nothing is lost, and it is built in a quiet moment',
  async () => {
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
      expect(log).toContain('indexing crowded: given up');
      expect((await client.count('crowded')).count).toBe(filled + 500);
      await waitFor(
        () => shardsOf('crowded'),
        (shards) => shards.length === 1,
      );
      expect(await indexed('crowded')).toBe(0);
      // No further write, and no question for longer than an idle moment takes: only the files tell.
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
  },
);

thoroughly('a collection whose index is being built can be deleted, and the engine stopped', async () => {
  await fillUntilIndexing('gone');
  await client.deleteCollection('gone');
  expect(existsSync(join(dataDir, 'qdrant', 'gone'))).toBe(false);
  const filled = await fillUntilIndexing('left');
  await engine.stop();
  await engine.restart();
  expect((await client.count('left')).count).toBe(filled);
});
