import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { reconcile } from '../../../cli/reconcile.js';
import { DIFFERENCES } from '../../../store/reconcile/differences.js';
import type { FileDoc } from '../../../store/models/files.js';
import { samplePage, type Site, sitemapOf, startSite } from '../../emulators/site.js';
import type { TestUser } from '../../support/client.js';
import { withDatabase } from '../../support/mongo.js';
import { startService, type TestService } from '../../support/service.js';
import { collectionsOf, qdrantOf } from '../../support/storedPoints.js';

const UNKNOWN_ID = 9_000_000_001;
const SPACE = { name: 'minilm-l6-v2-384', dimensions: 384 };
let service: TestService;
let site: Site;
let user: TestUser;
let other: { organizationId: number; apiKey: string; user: TestUser };

beforeAll(async () => {
  site = await startSite();
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1', CONTENT_ROW_BYTES: '200' });
  user = await service.user('ruth');
  const made = await service.store.organizations.create('other');
  other = { ...made, user: await service.user('ruth', made.apiKey) };
});
afterAll(async () => {
  await service.close();
  await site.close();
});

/** Returns the number of differences of each kind. */
async function countDifferences(options: Parameters<typeof reconcile>[1] = {}): Promise<Record<string, number>> {
  const { report } = await reconcile(service.store, options);
  return Object.fromEntries([...report.kinds()].map(([kind, { count }]) => [kind, count]));
}

const text = (seed: string, words = 40): string =>
  Array.from({ length: words }, (_, n) => `${seed} word ${n} says ${n * 7}.`).join(' ');

async function sendText(
  owner: TestUser,
  name: string,
  words?: number,
  query: Record<string, unknown> = {},
): Promise<number> {
  const { id } = await owner.send({ name: `${name}.txt`, content: text(name, words) }, { chunk_size: 100, ...query });
  expect(await owner.settled(id)).toMatchObject({ sync_status: 'READY' });
  return id;
}

const record = (id: number): Promise<FileDoc> =>
  withDatabase(service, async (connection) => {
    const row = await connection.collection('files').findOne({ _id: id as never });
    return row as unknown as FileDoc;
  });
const updateFile = (id: number, $set: object): Promise<unknown> =>
  withDatabase(service, (connection) =>
    connection.collection('files').updateOne({ _id: id as never }, { $set: { ...$set } as never }),
  );

/** Writes two points like those of a file, but with another file id, generation or vector space. */
async function plantPoints(like: FileDoc, as: Partial<{ fileId: number; generation: number; space: string }>) {
  const space = { name: as.space ?? SPACE.name, dimensions: SPACE.dimensions };
  await service.store.vectors.upsert([
    {
      ...{ organizationId: like.organizationId, userId: like.userId, parentId: null, ancestors: [] },
      ...{ fileId: as.fileId ?? like._id, generation: as.generation ?? like.generation, space },
      ...{ model: 'OPENAI', source: 'TEXT', fileTypeAtSource: null, mediaType: 'TEXT', tagPairs: like.tagPairs },
      vectors: [new Float32Array(384).fill(0.1), new Float32Array(384).fill(0.2)],
    },
  ]);
}

const plantChunks = (like: FileDoc, fileId: number, generation: number): Promise<void> =>
  service.store.chunks.write([
    {
      ...{ organizationId: like.organizationId, userId: like.userId, fileId, generation },
      ...{ text: 'left behind', prefix: '', cuts: [{ start: 0, end: 11, tokens: 2 }] },
    },
  ]);

const plantStored = async (key: string): Promise<void> => {
  const file = path.join(service.env['DATA_DIR'] ?? '', 'files', key);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, 'left behind');
};

const deletePoints = async (fileId: number, chunkIndex: number): Promise<void> => {
  const must = [
    { key: 'file_id', match: { value: fileId } },
    { key: 'chunk_index', match: { value: chunkIndex } },
  ];
  for (const name of await collectionsOf(service))
    await qdrantOf(service).delete(name, { wait: true, filter: { must } });
};

test('finds planted differences of every kind except damaged vectors, and repairs those that need no operator', async () => {
  site.pages.set('/a.html', samplePage(3, 1));
  site.pages.set('/b.html', samplePage(4, 1));
  site.pages.set('/sitemap.xml', sitemapOf(site.origin, ['/a.html', '/b.html']));
  const parent = await user.scrape({ url: site.url('/sitemap.xml'), chunk_size: 100 });
  await user.settled(parent.id);
  const [first, second] = await user.children(parent.id);
  const ids = await Promise.all(
    ['chunkless', 'pointless', 'sparseless', 'tagged', 'miscounted', 'dirty', 'stuck', 'cold', 'bare', 'adrift'].map(
      (name) => sendText(user, name, name === 'bare' ? 5 : 40, { generate_sparse_vectors: name === 'sparseless' }),
    ),
  );
  const [chunkless, pointless, sparseless, tagged, miscounted, dirty, stuck, cold, bare, adrift] = ids as [
    ...[number, number, number, number, number],
    ...[number, number, number, number, number],
  ];
  const intact = await sendText(user, 'whole');
  expect(await countDifferences()).toEqual({});

  const like = await record(intact);
  const { organizationId, userId } = like;
  await plantChunks(like, UNKNOWN_ID, 1);
  await plantChunks(like, intact, like.generation + 5);
  await plantPoints(like, { fileId: UNKNOWN_ID });
  await plantPoints(like, { generation: like.generation + 5 });
  await plantPoints(like, { space: 'elsewhere-384' });
  await plantStored(`${organizationId}/${UNKNOWN_ID}/1.raw`);
  await plantStored(`${organizationId}/${intact}/7.abc.vectors`);
  await plantStored(`${organizationId}/originals/${UNKNOWN_ID}`);
  await plantStored(`${organizationId}/readme/what.txt`);
  const items = { organizationId, userId, customerId: 'ruth', dataSourceId: UNKNOWN_ID, externalId: 'x', listedBy: 0 };
  await withDatabase(service, async (connection) => {
    const insert = (name: string, row: object): Promise<unknown> => connection.collection(name).insertOne(row as never);
    const unknownFile = { organizationId, userId, fileId: UNKNOWN_ID };
    await insert('contents', { _id: `${UNKNOWN_ID}:1`, ...unknownFile, generation: 1, bytes: Buffer.from('x') });
    await insert('originals', {
      _id: UNKNOWN_ID,
      ...unknownFile,
      bytes: Buffer.from('x'),
      aliveAt: null,
      markedForDeletion: false,
    });
    await insert('recognized_pages', { ...unknownFile, reading: 'r', number: 1, page: {} });
    await insert('items', { ...items, _id: UNKNOWN_ID, source: 'BOX', name: 'x' });
    await connection.collection('segments').deleteOne({ fileId: chunkless });
    await connection.collection('contents').deleteMany({ fileId: first!.id });
    await connection.collection('originals').deleteMany({ fileId: bare });
  });
  await rm(path.join(service.env['DATA_DIR'] ?? '', 'files', `${organizationId}/${first!.id}`), {
    ...{ recursive: true, force: true },
  });
  await deletePoints(pointless, 1);
  for (const name of await collectionsOf(service)) {
    const must = [{ key: 'file_id', match: { value: sparseless } }];
    await qdrantOf(service).deleteVectors(name, { wait: true, vector: ['sparse'], filter: { must } });
    await qdrantOf(service).setPayload(name, {
      ...{ wait: true, payload: { tags: ['planted=yes'] } },
      filter: { must: [{ key: 'file_id', match: { value: tagged } }] },
    });
  }
  await updateFile(miscounted, { numChunks: 1 });
  await updateFile(dirty, { cleanupPending: true });
  await updateFile(stuck, { syncStatus: 'SYNCING' });
  await updateFile(cold, {
    embeddingStorageStatus: 'COLD_STORAGE',
    coldCopy: { key: `${organizationId}/${cold}/1.x.vectors`, generation: 1, points: 3, bytes: 9 },
  });
  await updateFile(adrift, { dataSourceId: UNKNOWN_ID });
  await updateFile(parent.id, { 'fileMetadata.pages_ready': 7 });

  const expected = {
    ...{ stray_chunks: 2, stray_points: 3, stray_contents: 1, stray_originals: 1, stray_pages: 1 },
    ...{ stray_stored: 4, stray_items: 1, missing_chunks: 1, missing_points: 1, missing_sparse: 1 },
    ...{ missing_content: 1, missing_cold_copy: 1, missing_original: 1, missing_source: 1 },
    ...{ other_tags: 1, wrong_count: 1, wrong_page_counts: 1, unfinished_cleanup: 1, stuck: 1 },
  };
  // Damaged vectors are tested in test/system/outages/damagedVectors.test.ts.
  const others = Object.keys(DIFFERENCES).filter((kind) => !kind.startsWith('damaged_'));
  expect(Object.keys(expected).toSorted()).toEqual(others.toSorted());
  expect(await countDifferences()).toEqual(expected);
  // Comparing changes nothing.
  const { report } = await reconcile(service.store, {});
  expect(Object.fromEntries([...report.kinds()].map(([kind, { count }]) => [kind, count]))).toEqual(expected);
  expect(report.kinds().get('missing_points')?.examples).toEqual([
    expect.stringMatching(
      new RegExp(
        `^organization 1, file ${pointless} \\(pointless.txt\\): its record states \\d+ points, but \\d+ are stored$`,
      ),
    ),
  ]);

  const repaired = await reconcile(service.store, { repairs: true });
  // Differences that only an operator can repair.
  expect(repaired.report.countUnrepaired()).toBe(3);
  await Promise.all([chunkless, pointless, sparseless, cold, first!.id].map((id) => user.settled(id)));
  expect(await countDifferences()).toEqual({ stray_stored: 1, missing_original: 1, missing_source: 1 });
  expect(await user.file(stuck)).toMatchObject({ sync_status: 'SYNC_ABORTED' });
  expect(await record(miscounted)).toMatchObject({ numChunks: like.numChunks > 1 ? expect.any(Number) : 1 });
  expect((await user.file(parent.id)).file_metadata).toMatchObject({ pages_total: 2, pages_ready: 2 });
  for (const id of [chunkless, pointless, sparseless, cold]) {
    expect(await user.file(id)).toMatchObject({ sync_status: 'READY' });
    const { body } = await user.post<{ documents: unknown[] }>('/embeddings', { query: 'word', k: 3, file_ids: [id] });
    expect(body.documents.length).toBeGreaterThan(0);
  }
  // The list of runs distinguishes runs of the operator's command from runs of callers.
  const { body: startedRuns } = await user.get<{ results: { file_id: number }[] }>('/sync_runs?causes=command');
  const resynced = startedRuns.results.map(({ file_id }) => file_id);
  expect(resynced).toEqual(expect.arrayContaining([chunkless, pointless, sparseless, cold]));
  expect(resynced).not.toContain(stuck);
  expect(second?.sync_status).toBe('READY');
  await user.post('/delete_files_v2', { filters: { ids: [bare, adrift] } });
});

test('does not change files of an active run', async () => {
  const id = await sendText(user, 'worked-on');
  const file = await record(id);
  const before = await countDifferences();
  // A running sync or re-embedding writes points and chunks of a generation that readers do not see yet.
  await plantPoints(file, { generation: 2 });
  await plantChunks(file, id, 2);
  await plantStored(`${file.organizationId}/${id}/2.raw`);
  const runId = await service.store.runs.nextId();
  const owner = { organizationId: file.organizationId, userId: file.userId, customerId: 'ruth' };
  await service.store.transaction((session) =>
    service.store.runs.accept(
      runId,
      { kind: 'resyncFile', workflowId: `resync:${id}`, owner, fileId: id, requestId: 'r' },
      session,
    ),
  );
  // The dispatcher starts a run only after the date in its row. This date is never reached, so the run never starts.
  await service.store.runs.postpone(runId, new Date('9999-01-01'));
  await updateFile(id, { runId, lastGeneration: 2 });
  expect(await countDifferences({ repairs: true })).toEqual(before);
  await updateFile(id, { syncStatus: 'SYNCING' });
  expect(await countDifferences({ repairs: true })).toEqual(before);
  // After the run has ended, these chunks and points belong to no run.
  await updateFile(id, { syncStatus: 'READY' });
  await service.store.runs.finish(runId, 'finished', {});
  expect(await countDifferences()).toEqual({
    ...before,
    ...{ stray_chunks: 1, stray_points: 1, stray_stored: 1 + (before['stray_stored'] ?? 0) },
  });
  await reconcile(service.store, { repairs: true });
  expect(await countDifferences()).toEqual(before);
});

test('repairs one organization without changing another; strays count for their owning organization', async () => {
  const mine = await record(await sendText(user, 'mine'));
  const foreign = await record(await sendText(other.user, 'theirs'));
  const before = await countDifferences({ organizationId: 1 });
  await plantChunks(foreign, UNKNOWN_ID, 1);
  // Points of the other organization: with a file id of the first organization, and with an unknown user.
  await plantPoints({ ...foreign, _id: mine._id }, { generation: mine.generation + 1 });
  await plantPoints({ ...foreign, userId: UNKNOWN_ID }, { fileId: UNKNOWN_ID });
  expect(await countDifferences({ organizationId: 1, repairs: true })).toEqual(before);
  const strays = { stray_chunks: 1, stray_points: 2 };
  expect(await countDifferences({ organizationId: other.organizationId })).toEqual(strays);
  expect(await countDifferences({ organizationId: other.organizationId, repairs: true })).toEqual(strays);
  expect(await countDifferences({ organizationId: other.organizationId })).toEqual({});
  expect(await countDifferences({ organizationId: 1 })).toEqual(before);
});
