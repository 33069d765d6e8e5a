import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';

import { EMBEDDING_MODELS, type EmbeddingModelId } from '../../../contract/vectors/embeddingModels.js';
import type { FileRecord } from '../../../contract/files/records.js';
import { type EmbeddingEmulator, startEmbeddingEmulator } from '../../emulators/embeddingProviders/start.js';
import { readStoredState } from '../../support/storedState.js';
import { apiClient, type TestUser } from '../../support/client.js';
import { withDatabase } from '../../support/mongo.js';
import { drawPicture } from '../../support/pictures.js';
import { startService, type TestService } from '../../support/service.js';
import { waitFor } from '../../support/waitFor.js';
import { thoroughly } from '../../support/thorough.js';

const FROM = 'COHERE_MULTILINGUAL_V3';
const TO = 'OPENAI';
const BIRDS = ['kingfisher', 'heron', 'swallow', 'nightjar'];

interface Estimate {
  readonly id: number | null;
  readonly files: number;
  readonly chunks: number;
  readonly tokens: number;
  readonly known_chunks: number | null;
  readonly price: number | null;
  readonly skipped: Record<string, number>;
}
interface Progress {
  readonly status: string;
  readonly reembedded: number;
  readonly failed: number;
  readonly chunks: number;
  readonly skipped: Record<string, number>;
  readonly failures: { file_id: number; message: string }[];
}

let emulator: EmbeddingEmulator;
let service: TestService;

beforeAll(async () => {
  emulator = await startEmbeddingEmulator();
  service = await startService({
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    EMBEDDING_TRIES: '1',
    EMBEDDING_TIMEOUT_MS: '5000',
    EMBEDDING_PRICES: 'OPENAI=0.02',
    ...emulator.settings(),
  });
});
afterEach(() => emulator.reset());
afterAll(async () => {
  await service.close();
  await emulator.close();
});

const textOf = (bird: string, words = 60): string =>
  `The ${bird} lives here. ${Array.from({ length: words }, (_, i) => `${bird}${i}`).join(' ')}.`;

async function uploadAll(user: TestUser, texts: readonly string[], more: object = {}): Promise<FileRecord[]> {
  const accepted = await Promise.all(
    texts.map((contents) =>
      user.post<FileRecord>('/upload_text', { contents, embedding_model: FROM, chunk_size: 40, ...more }),
    ),
  );
  return Promise.all(accepted.map(({ body }) => user.settled(body.id)));
}

const reembed = (user: TestUser, body: object) =>
  user.post<Estimate>('/files/reembed', { embedding_model: TO, ...body });
const progressOf = async (user: TestUser, id: number | null): Promise<Progress> =>
  (await user.get<Progress>(`/files/reembed/${id}`)).body;
const ENDS = ['FINISHED', 'FAILED', 'CANCELLED'];
const waitForEnd = (user: TestUser, id: number | null): Promise<Progress> =>
  waitFor(
    () => progressOf(user, id),
    ({ status }) => ENDS.includes(status),
  );
const servedBy = (model: EmbeddingModelId) => ({
  [model]: expect.objectContaining({
    served_by: EMBEDDING_MODELS[model].space,
    dimensions: EMBEDDING_MODELS[model].dimensions,
  }) as unknown,
});
const searchFileIds = async (user: TestUser, model: EmbeddingModelId, bird: string): Promise<number[]> =>
  (await user.search({ query: `The ${bird} lives here`, k: 1, embedding_model: model })).map((one) => one.file_id);

const isDocument = (text: string): boolean => text.includes('lives here.');
/** Makes the emulator leave all requests for documents unanswered until it is reset. */
function holdDocuments(): void {
  emulator.reset();
  emulator.injectFault(({ texts }) => (texts.some(isDocument) ? 'hang' : null));
}
const waitForDocumentRequest = () =>
  waitFor(
    () => emulator.requests.filter(({ texts }) => texts.some(isDocument)).length,
    (count) => count > 0,
  );

test('changes the model of files and keeps texts, chunks and tags; a re-sync without changes changes nothing', async () => {
  const user = await service.user('changes');
  const files = await uploadAll(
    user,
    BIRDS.map((bird) => textOf(bird)),
    { tags: { kind: 'bird' } },
  );
  const ids = files.map(({ id }) => id);
  const before = await user.chunks({ ids }, { include_vectors: true });
  expect(before.results.length).toBeGreaterThan(2 * files.length);

  const { status, body } = await reembed(user, { filters: { ids } });
  expect(status).toBe(200);
  expect(body).toMatchObject({ files: 4, chunks: before.results.length, skipped: {}, known_chunks: 0 });
  expect(await waitForEnd(user, body.id)).toMatchObject({
    ...{ status: 'FINISHED', reembedded: 4, failed: 0, skipped: {}, failures: [] },
    chunks: before.results.length,
  });

  const after = await user.chunks({ ids }, { include_vectors: true });
  const withoutVectors = (rows: typeof after.results) => rows.map(({ embedding: _vector, ...row }) => row);
  expect(withoutVectors(after.results)).toEqual(withoutVectors(before.results));
  expect(new Set(after.results.map(({ embedding }) => embedding?.length))).toEqual(new Set([1536]));
  for (const [index, id] of ids.entries()) {
    const { updated_at: _at, embedding_properties, ...rest } = await user.file(id);
    const { updated_at: _before, embedding_properties: _old, ...known } = files[index]!;
    expect(rest).toEqual(known);
    expect(embedding_properties).toEqual(servedBy(TO));
    expect(await searchFileIds(user, TO, BIRDS[index]!)).toEqual([id]);
    expect(await searchFileIds(user, FROM, BIRDS[index]!)).toEqual([]);
  }
  expect((await readStoredState(service.env)).findInconsistencies('changes')).toEqual([]);

  emulator.reset();
  await user.post('/resync_file', { file_id: ids[0] });
  expect(await user.settled(ids[0]!)).toMatchObject({ sync_status: 'READY', embedding_properties: servedBy(TO) });
  expect(emulator.requests).toEqual([]);
  expect((await user.chunks({ ids }, { include_vectors: true })).results).toEqual(after.results);
  // A second run has nothing to do.
  const again = await reembed(user, { filters: { ids } });
  expect(again.body).toMatchObject({ files: 0, tokens: 0, skipped: { already_embedded: 4 } });
  expect(await waitForEnd(user, again.body.id)).toMatchObject({ reembedded: 0, skipped: { already_embedded: 4 } });
}, 90_000);

test('estimates tokens, reusable vectors and price without embedding; refuses a run above max_tokens', async () => {
  const user = await service.user('dry');
  const files = await uploadAll(
    user,
    ['owl', 'wren'].map((bird) => textOf(bird, 100)),
  );
  emulator.reset();
  const { body } = await reembed(user, { dry_run: true });
  expect(body).toMatchObject({ id: null, files: 2, skipped: {}, known_chunks: 0 });
  const tokens = files.reduce((sum, file) => sum + (file.file_statistics?.num_tokens ?? 0), 0);
  expect(body.tokens).toBeGreaterThanOrEqual(tokens);
  expect(body.price).toBeCloseTo((body.tokens * 0.02) / 1e6, 9);
  expect(emulator.requests).toEqual([]);
  expect((await reembed(user, { dry_run: true, embedding_model: 'SOLAR_1_MINI' })).body.price).toBeNull();
  const refused = await user.post<{ detail: { loc: string[]; msg: string }[] }>('/files/reembed', {
    embedding_model: TO,
    max_tokens: body.tokens - 1,
  });
  expect(refused.status).toBe(422);
  expect(refused.body.detail).toEqual([
    expect.objectContaining({
      loc: ['body', 'max_tokens'],
      msg: expect.stringContaining(String(body.tokens)) as unknown,
    }),
  ]);
  expect(emulator.requests).toEqual([]);
  // One of the two texts is embedded for another user of the organization. Its vectors can be reused.
  const other = await service.user('dry too');
  await uploadAll(other, [textOf('owl', 100)], { embedding_model: TO });
  const secondEstimate = (await reembed(user, { dry_run: true })).body;
  expect(secondEstimate.known_chunks).toBeGreaterThan(0);
  expect(secondEstimate.known_chunks).toBeLessThan(secondEstimate.chunks);
  const accepted = await reembed(user, { max_tokens: secondEstimate.tokens });
  expect(await waitForEnd(user, accepted.body.id)).toMatchObject({ status: 'FINISHED', reembedded: 2 });
});

thoroughly(
  'skips files without vectors, pictures, files with vectors of the caller and files in cold storage, with the reason',
  async () => {
    const user = await service.user('left alone');
    const [plain] = await uploadAll(user, [textOf('finch')]);
    const [bare] = await uploadAll(user, [textOf('robin')], { skip_embedding_generation: true });
    const picture = await user.settled((await user.send({ name: 'sea.png', content: drawPicture(['Sea']) })).id);
    const [withOwnVectors, cold] = await uploadAll(user, [textOf('dove'), textOf('crow')]);
    await user.post('/upload_chunks_and_embeddings', {
      embedding_model: FROM,
      overwrite_existing: true,
      chunks_and_embeddings: [
        {
          file_id: withOwnVectors!.id,
          chunks_and_embeddings: [{ chunk_number: 1, chunk: 'Dove.', embedding: Array(1024).fill(0.1) }],
        },
      ],
    });
    await waitFor(
      () => user.chunks({ ids: [withOwnVectors!.id] }),
      ({ results }) => results.length === 1,
    );
    await user.settled(withOwnVectors!.id);
    const storedIn = (embeddingStorageStatus: string) =>
      withDatabase(service, (connection) =>
        connection
          .collection<{ _id: number }>('files')
          .updateOne({ _id: cold!.id }, { $set: { embeddingStorageStatus } }),
      );
    await storedIn('COLD_STORAGE');
    const files = [bare, picture, withOwnVectors, cold].map((file) => file!.id);
    const before = await Promise.all(files.map((id) => user.file(id)));
    const { body } = await reembed(user, {});
    const skipped = { no_vectors: 1, picture: 1, given_vectors: 1, cold_storage: 1 };
    expect(body).toMatchObject({ files: 1, skipped });
    expect(await waitForEnd(user, body.id)).toMatchObject({ status: 'FINISHED', reembedded: 1, skipped });
    expect(await user.file(plain!.id)).toMatchObject({ embedding_properties: servedBy(TO) });
    expect(await Promise.all(files.map((id) => user.file(id)))).toEqual(before);
    // Restore the status. Otherwise later consistency checks would report that the vectors are missing in cold storage,
    // because this test only changed the status.
    await storedIn('HOT_STORAGE');
  },
);

thoroughly('finds unfinished files by the old model and finished ones by the new model during a run', async () => {
  const user = await service.user('half way');
  const files = await uploadAll(
    user,
    BIRDS.map((bird) => textOf(`half${bird}`, 700)),
  );
  const [first, ...others] = files;
  const done = await reembed(user, { filters: { ids: [first!.id] } });
  expect(await waitForEnd(user, done.body.id)).toMatchObject({ reembedded: 1 });
  holdDocuments();
  const running = await reembed(user, { filters: { ids: others.map(({ id }) => id) } });
  await waitForDocumentRequest();
  expect(await progressOf(user, running.body.id)).toMatchObject({ status: 'RUNNING', reembedded: 0 });
  expect(await searchFileIds(user, TO, `half${BIRDS[0]}`)).toEqual([first!.id]);
  expect(await searchFileIds(user, FROM, `half${BIRDS[1]}`)).toEqual([others[0]!.id]);
  emulator.reset();
  expect(await waitForEnd(user, running.body.id)).toMatchObject({ reembedded: 3 });
  for (const [index, { id }] of files.entries()) {
    expect(await searchFileIds(user, TO, `half${BIRDS[index]}`)).toEqual([id]);
    expect(await searchFileIds(user, FROM, `half${BIRDS[index]}`)).toEqual([]);
  }
});

test('ends a cancelled run within seconds, with each file on its old or its new vectors', async () => {
  const user = await service.user('cancelled');
  await uploadAll(
    user,
    BIRDS.map((bird) => textOf(`gone${bird}`)),
  );
  holdDocuments();
  const { body } = await reembed(user, {});
  await waitForDocumentRequest();
  const begun = Date.now();
  expect((await user.post(`/files/reembed/${body.id}/cancel`, {})).status).toBe(200);
  expect(await waitForEnd(user, body.id)).toMatchObject({ status: 'CANCELLED', reembedded: 0 });
  expect(Date.now() - begun).toBeLessThan(15_000);
  expect(await searchFileIds(user, FROM, `gone${BIRDS[2]}`)).toHaveLength(1);
  expect((await readStoredState(service.env)).findInconsistencies('cancelled')).toEqual([]);
  emulator.reset();
  const again = await reembed(user, {});
  expect(await waitForEnd(user, again.body.id)).toMatchObject({ status: 'FINISHED', reembedded: 4 });
  expect((await readStoredState(service.env)).findInconsistencies('cancelled')).toEqual([]);
});

describe('during a run', () => {
  const changedDuringRun = async (name: string, change: (user: TestUser, id: number) => Promise<unknown>) => {
    const user = await service.user(name);
    const [file] = await uploadAll(user, [textOf(name)]);
    holdDocuments();
    const { body } = await reembed(user, {});
    await waitForDocumentRequest();
    await change(user, file!.id);
    emulator.reset();
    return { user, id: file!.id, end: await waitForEnd(user, body.id) };
  };

  test('a file that is synced again with other options has the content of that sync, embedded by one model', async () => {
    const { user, id, end } = await changedDuringRun('resynced', (owner, file_id) =>
      owner.post('/resync_file', { file_id, chunk_size: 20 }),
    );
    expect(end.status).toBe('FINISHED');
    const file = await user.settled(id);
    expect(file).toMatchObject({ sync_status: 'READY', chunk_size: 20 });
    const model = end.reembedded === 1 ? TO : FROM;
    expect(file.embedding_properties).toEqual(servedBy(model));
    expect(await searchFileIds(user, model, 'resynced')).toEqual([id]);
    expect((await readStoredState(service.env)).findInconsistencies('resynced')).toEqual([]);
  });

  thoroughly('a deleted file is deleted completely', async () => {
    const { user, id, end } = await changedDuringRun('deleted', (owner, fileId) =>
      owner.post('/delete_files_v2', { filters: { ids: [fileId] } }),
    );
    expect(end).toMatchObject({ status: 'FINISHED', reembedded: 0, skipped: { being_deleted: 1 } });
    const { body } = await waitFor(
      () => user.post<{ count: number }>('/user_files_v2', { filters: { ids: [id] } }),
      ({ body: { count } }) => count === 0,
    );
    expect(body.count).toBe(0);
    expect((await readStoredState(service.env)).findInconsistencies()).toEqual([]);
  });

  thoroughly('a file whose tags change is found by the new tags', async () => {
    const { user, id, end } = await changedDuringRun('tagged', (owner, fileId) =>
      owner.post('/create_user_file_tags', { organization_user_file_id: fileId, tags: { changed: 'yes' } }),
    );
    expect(end).toMatchObject({ status: 'FINISHED', reembedded: 1 });
    const found = await user.search({ query: 'tagged', k: 1, embedding_model: TO, tags: { changed: 'yes' } });
    expect(found.map((one) => one.file_id)).toEqual([id]);
  });
});

test('fails only the file whose text cannot be embedded, and keeps the old vectors of that file', async () => {
  const user = await service.user('faulty');
  const files = await uploadAll(
    user,
    BIRDS.slice(0, 3).map((bird) => textOf(`odd${bird}`)),
  );
  emulator.injectFault(({ texts }) => (texts.some((text) => text.includes('oddheron')) ? { status: 400 } : null));
  const { body } = await reembed(user, {});
  const end = await waitForEnd(user, body.id);
  expect(end).toMatchObject({ status: 'FINISHED', reembedded: 2, failed: 1 });
  expect(end.failures).toEqual([{ file_id: files[1]!.id, message: expect.stringMatching(/\w/) as unknown }]);
  emulator.reset();
  expect(await searchFileIds(user, FROM, 'oddheron')).toEqual([files[1]!.id]);
  expect((await readStoredState(service.env)).findInconsistencies('faulty')).toEqual([]);
});

thoroughly('sends a text that concurrent files share to the provider once, and counts it for each file', async () => {
  const user = await service.user('twins');
  const text = textOf('twin', 5);
  emulator.reset();
  emulator.setDelay(500);
  const files = await uploadAll(user, [text, text, text], { chunk_size: 200 });
  expect(files.map((file) => file.file_statistics?.num_embeddings)).toEqual([1, 1, 1]);
  expect(emulator.requests.flatMap(({ texts }) => texts)).toEqual([text]);
});

test('restricts a run to its user', async () => {
  const user = await service.user('owner');
  const { body } = await reembed(user, {});
  await waitForEnd(user, body.id);
  const other = await service.user('stranger');
  expect((await other.get(`/files/reembed/${body.id}`)).status).toBe(404);
  expect((await other.post(`/files/reembed/${body.id}/cancel`, {})).status).toBe(404);
  const key = apiClient(service.url, { authorization: `Bearer ${service.apiKey}` });
  expect((await key.get(`/files/reembed/${body.id}`)).status).toBe(422);
});
