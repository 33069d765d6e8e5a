/**
 * Real damage to the files of the embedded Qdrant: reconcile, /ready and doctor report it, and a rebuild from stored
 * chunks repairs it.
 */
import { mkdtemp, open, readdir, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { EMBEDDING_MODELS } from '../../../contract/vectors/embeddingModels.js';
import { type QdrantEngine, startQdrant } from '../../../engines/qdrant.js';
import { DEFAULT_ENGINES_DIR, ensureVenv } from '../../../engines/venv.js';
import { type EmbeddingEmulator, startEmbeddingEmulator } from '../../emulators/embeddingProviders/start.js';
import { cli as callCli } from '../../support/cli.js';
import type { TestUser } from '../../support/client.js';
import { drawPicture } from '../../support/pictures.js';
import { startService, type TestService } from '../../support/service.js';
import { thoroughly, thoroughRows } from '../../support/thorough.js';
import { waitFor } from '../../support/waitFor.js';

const TEXT_SPACE = 'minilm-l6-v2-384';
const GIVEN = 'COHERE_MULTILINGUAL_V3';
/** The space of the picture's vectors. */
const PICTURE_SPACE = EMBEDDING_MODELS.VERTEX_MULTIMODAL.space;
const BIRDS = ['kingfisher', 'heron', 'swallow', 'nightjar'];

let dataDir: string;
let engine: QdrantEngine;
let service: TestService;
let emulator: EmbeddingEmulator;
let user: TestUser;
let fileWithOwnVectors: number;
let before: Awaited<ReturnType<typeof searches>>;

const start = async (port: number | 'free'): Promise<QdrantEngine> =>
  startQdrant({ dataDir, venv: await ensureVenv({ enginesDir: DEFAULT_ENGINES_DIR }), port });
const call = async (...args: string[]) => {
  const { code, lines, stderr } = await callCli(service.env, ...args);
  return { code, stderr, out: lines.join('\n') };
};
const unitVector = (index: number): number[] =>
  Array.from({ length: EMBEDDING_MODELS[GIVEN].dimensions }, (_, at) => (at === index ? 1 : 0));

beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'allotrope-damaged-'));
  engine = await start('free');
  emulator = await startEmbeddingEmulator();
  const vertex = Object.entries(emulator.settings()).filter(([name]) => /VERTEX|EGRESS|PRIVATE/.test(name));
  service = await startService({
    ...Object.fromEntries(vertex),
    ...{ QDRANT_URL: engine.url, ALLOWED_PRIVATE_HOSTS: '127.0.0.1' },
  });
  user = await service.user('ruth');
  const texts = await Promise.all(
    BIRDS.map((bird) => {
      const words = Array.from({ length: 60 }, (_, nth) => `${bird} ${nth * 7}`).join(' ');
      const content = `The ${bird} lives at the river. ${words}.`;
      return user.send({ name: `${bird}.txt`, content }, { chunk_size: 60, generate_sparse_vectors: true });
    }),
  );
  for (const { id } of texts) await user.settled(id);
  const picture = await user.send({ name: 'picture.png', content: drawPicture(['A lighthouse']) }, {});
  await user.settled(picture.id);
  const sent = await user.send({ name: 'given.txt', content: 'Sent as chunks.' }, { store_file_only: true });
  fileWithOwnVectors = (await user.settled(sent.id)).id;
  const uploaded = await user.post('/upload_chunks_and_embeddings', {
    embedding_model: GIVEN,
    chunks_and_embeddings: [
      {
        file_id: fileWithOwnVectors,
        chunks_and_embeddings: [1, 2].map((nth) => ({
          chunk_number: nth,
          chunk: `part ${nth}`,
          embedding: unitVector(nth),
        })),
      },
    ],
  });
  expect(uploaded.status).toBe(200);
  await user.settled(fileWithOwnVectors);
  before = await searches();
  expect(before.vectors.map((vector) => vector?.indexOf(1))).toEqual([1, 2]);
}, 240_000);
afterAll(async () => {
  await service?.close();
  await emulator?.close();
  await engine?.stop();
  await rm(dataDir, { recursive: true, force: true });
});

interface Hit {
  readonly id: number;
  readonly chunk: number;
  readonly score: number;
}

/**
 * Returns what the API returns: hits of a search by vectors, of a hybrid search and of a search for pictures, and the
 * vectors that a caller uploaded.
 */
async function searches() {
  const ask = async (body: object): Promise<Hit[]> =>
    (await user.search({ k: 5, ...body })).map((one) => ({
      ...{ id: one.file_id, chunk: one.chunk_index ?? 0 },
      score: one.score ?? 0,
    }));
  const dense = await ask({ query: 'where does the heron live' });
  const hybrid = await ask({ query: 'nightjar 21', hybrid_search: true });
  const pictures = await ask({ query: 'lighthouse', media_type: 'IMAGE' });
  const { results } = await user.chunks({ ids: [fileWithOwnVectors] }, { include_vectors: true });
  return { dense, hybrid, pictures, vectors: results.map(({ embedding }) => embedding) };
}

/** Expects the same hits in the same order. Scores by words depend on deleted points until the engine drops them. */
function expectSame(found: typeof before, expected: typeof before): void {
  const hits = (list: readonly Hit[], tolerance: number) =>
    list.map(({ score, ...hit }) => ({ ...hit, score: expect.closeTo(score, tolerance) as unknown }));
  expect(found).toEqual({
    dense: hits(expected.dense, 3),
    hybrid: hits(expected.hybrid, 2),
    pictures: hits(expected.pictures, 3),
    vectors: expected.vectors,
  });
}

const collectionFolder = (space: string): string =>
  path.join(dataDir, 'qdrant', `${service.env['QDRANT_COLLECTION_PREFIX'] ?? ''}${space}`);

/** Returns the files of the text space's collection whose path has this ending. */
async function filesOf(ending: string): Promise<string[]> {
  const folder = collectionFolder(TEXT_SPACE);
  const found = (await readdir(folder, { recursive: true }))
    .filter((file) => file.endsWith(ending))
    .map((file) => path.join(folder, file));
  if (found.length === 0) throw new Error(`no file ends in ${ending}`);
  return found;
}

/** Stops the engine, damages files, and starts it again. */
async function whileStopped(damage: () => Promise<void>): Promise<void> {
  await engine.stop();
  await damage();
  engine = await start(engine.ports[0] ?? 0);
}

const VECTORS = 'vector_storage-dense/vectors/chunk_0.mmap';
const OVERWRITTEN_BYTES = 200_000;

async function overwrite(file: string): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    // Read as 32-bit floats, these are larger than any component of a vector of length 1.
    await handle.write(Buffer.alloc(OVERWRITTEN_BYTES, 0x45), 0, OVERWRITTEN_BYTES, 0);
  } finally {
    await handle.close();
  }
}

const ofVectorFiles = (act: (file: string) => Promise<void>) => async (): Promise<void> => {
  for (const file of await filesOf(VECTORS)) if ((await stat(file)).size > 0) await act(file);
};

/** Asserts that /ready, doctor and a search report that searches in a collection fail. */
async function expectReportedSearches(): Promise<void> {
  // /ready caches the result of its test search for some seconds.
  const ready = await waitFor(
    () => user.get<{ status: string; reasons: string[] }>('/ready'),
    ({ body }) => body.reasons.join().includes('Qdrant fails searches in'),
  );
  expect(ready).toMatchObject({ status: 200, body: { status: 'degraded' } });
  expect((await call('doctor')).out).toContain('searches fail');
  // Nothing is written meanwhile: a write would make the engine fill the missing file with zeros, and searches would
  // work again.
  expect(await user.post('/embeddings', { query: 'where does the heron live', k: 1 })).toMatchObject({
    status: 503,
    body: { detail: expect.stringMatching(/^Qdrant reports an internal error/) },
  });
}

test('reports overwritten vectors in reconcile, and repairs them by vectors rebuild', async () => {
  await whileStopped(ofVectorFiles(overwrite));

  const found = await call('reconcile');
  expect(found).toMatchObject({ code: 1, out: expect.stringContaining('damaged_vectors: ') });
  expect(found.out).toContain('npm run cli -- vectors rebuild');
  expect(found.out).not.toContain('No difference.');

  await expectRepair();
});

async function expectRepair(): Promise<void> {
  const rebuilt = await call('vectors', 'rebuild', '--recreate', '--json');
  expect(JSON.parse(rebuilt.out)).toMatchObject({ done: true, rebuilt: BIRDS.length + 2, failed: 0 });
  expectSame(await searches(), before);
  expect(await call('reconcile', '--full')).toMatchObject({ code: 0, out: expect.stringContaining('No difference.') });
}

const UNLOADABLE: readonly (readonly [what: string, damage: () => Promise<void>])[] = [
  ['a deleted vector file', ofVectorFiles((file) => rm(file))],
  ...thoroughRows([
    ['a truncated vector file', ofVectorFiles((file) => truncate(file, 4_096))],
    [
      'a segment that cannot be loaded',
      async () => {
        for (const file of await filesOf('segment.json')) await rm(file);
      },
    ],
  ] as const),
];

test.each(UNLOADABLE)(
  'reconcile, /ready, doctor and searches report %s; reconcile also a missing collection; a rebuild repairs both',
  async (_what, damage) => {
    await whileStopped(async () => {
      await damage();
      await rm(collectionFolder(PICTURE_SPACE), { recursive: true });
    });

    await expectReportedSearches();
    const found = await call('reconcile');
    expect(found).toMatchObject({ code: 1, out: expect.stringContaining('damaged_collection: ') });
    expect(found.out).toContain(`the collection of ${TEXT_SPACE}, `);
    expect(found.out).toMatch(new RegExp(`the collection of ${PICTURE_SPACE}, .*: it does not exist`));
    expect(found.out).toContain('npm run cli -- vectors rebuild');
    expect(found.out).not.toContain('No difference.');

    const refused = await call('vectors', 'rebuild');
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('--recreate') });
    await expectRepair();
  },
);

thoroughly('reports a missing Qdrant folder in reconcile, and repairs it by vectors rebuild', async () => {
  await whileStopped(() => rm(path.join(dataDir, 'qdrant'), { recursive: true, force: true }));

  const found = await call('reconcile');
  expect(found).toMatchObject({ code: 1, out: expect.stringContaining('damaged_collection: ') });
  expect(found.out).toContain('npm run cli -- vectors rebuild');
  await expectRepair();
});
