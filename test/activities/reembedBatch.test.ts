/** Tests of how a batch of a re-embedding run ends its files. Stores and models are fakes. */
import { expect, test } from '@jest/globals';
import { asyncLocalStorage } from '@temporalio/activity';

import { createReembedBatch } from '../../activities/reembed/reembedBatch.js';
import { byTarget, targetOf } from '../../activities/reembed/target.js';
import { writeVectors } from '../../activities/reembed/writeVectors.js';
import { Fault } from '../../contract/failures.js';
import { recorder } from '../support/recorder.js';

const fileOf = (_id: number, fields: object = {}) => ({
  ...{ _id, organizationId: 1, userId: 2, generation: 1, lastGeneration: 1, syncStatus: 'READY', numChunks: 1 },
  ...{ vectorSpace: 'old', dimensions: 2, hasText: true, hasContent: false, isContainer: false, cleanupPending: false },
  ...{ options: { embeddingModel: 'OPENAI', chunkOverlap: 0 }, embeddingStorageStatus: 'HOT_STORAGE', original: null },
  ...{ statistics: { fileFormat: 'TXT', numTokens: 3 }, tagPairs: [], tagsRevision: 0, parentId: null, source: 'TEXT' },
  ...{ fileMetadata: {}, sourceOptions: {}, processedAs: null, deletedAt: null },
  ...fields,
});
type File = ReturnType<typeof fileOf>;

interface Trial {
  readonly ids?: readonly number[];
  readonly files?: readonly File[];
  /** Ids of files that have changed when an attempt begins. Each entry prevents one attempt of its file. */
  readonly changed?: readonly number[];
  /** Ids of files of which a chunk is missing. */
  readonly incomplete?: readonly number[];
  readonly endedBefore?: readonly number[];
  readonly open?: readonly object[];
  readonly attempt?: number;
  readonly abort?: AbortController;
  readonly delaysMs?: readonly number[];
  /** Called with the ids of the files whose texts are embedded together. */
  readonly embed?: (ids: readonly number[]) => void;
}

async function reembed({
  ids = [1, 2, 3],
  files = ids.map((id) => fileOf(id)),
  changed = [],
  incomplete = [],
  endedBefore = [],
  open = [],
  attempt = 1,
  abort = new AbortController(),
  delaysMs = [],
  embed = () => undefined,
}: Trial) {
  const changes = [...changed];
  const rows = new Map(endedBefore.map((fileId) => [fileId, { fileId, outcome: 'reembedded' } as object]));
  const recorded = recorder({
    'runs.find': {
      ...{ _id: 7, kind: 'reembedFiles', organizationId: 1, userId: 2, requestId: 'r' },
      request: { model: 'OPENAI', space: null, filters: {}, maxTokens: null },
    },
    'reembeds.listOpen': open,
    'reembeds.listEnded': (_run: number, wanted: readonly number[]) => wanted.flatMap((id) => rows.get(id) ?? []),
    'reembeds.end': (_run: unknown, ends: readonly { fileId: number }[]) => {
      for (const end of ends) rows.set(end.fileId, end);
    },
    'files.byIds': (_tenant: unknown, wanted: readonly number[]) => files.filter(({ _id }) => wanted.includes(_id)),
    'files.beginVectors'(file: File) {
      if (!changes.includes(file._id)) return { file, generation: 2 };
      changes.splice(changes.indexOf(file._id), 1);
      return null;
    },
    'files.ancestorsOf': new Map(),
    'files.findTags': files,
    'files.publishVectors': (some: readonly { file: File }[]) => some.map(({ file }) => file._id),
  });
  const page = async function* (_tenant: unknown, contents: AsyncIterable<File>) {
    for await (const { _id: fileId, generation } of contents)
      if (!incomplete.includes(fileId))
        yield [{ fileId, generation, chunkIndex: 0, text: `text ${fileId}`, tokens: 3 }];
  };
  const store = {
    ...(recorded.stores as object),
    chunks: { copyGeneration: async () => undefined, page, deleteGenerations: async () => undefined },
    embeddingUsage: { count: () => undefined },
    vectorCache: {
      async resolve(_organization: number, _space: unknown, texts: readonly string[]) {
        embed(texts.map((text) => Number(text.split(' ')[1])));
        return texts.map(() => new Float32Array(2));
      },
    },
  };
  const deps = {
    ...{ store, metrics: { embedded: () => undefined }, log: { info: () => undefined } },
    settings: { retryDelaysMs: delaysMs, ocr: {} },
    embeddings: { spaceOf: () => ({ name: 'new', dimensions: 2 }), prepare: () => undefined },
  } as never;
  const context = { info: { attempt }, cancellationSignal: abort.signal } as never;
  const counts = await asyncLocalStorage
    .run(context, () => createReembedBatch(deps).reembedBatch({ runId: 7, fileIds: ids }))
    .catch((error: unknown) => error);
  const ends = ids.map((id) => rows.get(id) as { outcome?: string; reason?: string; message?: string } | undefined);
  const outcomes = ends.map((end) => end && [end.outcome, end.reason ?? end.message].filter(Boolean).join(' '));
  return { ...recorded, counts, outcomes };
}
const discardedIds = (of: (name: string) => readonly (readonly unknown[])[]): number[] =>
  of('files.discardVectors').flatMap(([, attempts]) => (attempts as { fileId: number }[]).map(({ fileId }) => fileId));

test('files of a batch are embedded together, published, and counted by their outcome', async () => {
  const embedded: (readonly number[])[] = [];
  const { counts, outcomes, of } = await reembed({ embed: (ids) => void embedded.push(ids) });
  expect([counts, outcomes]).toEqual([
    { reembedded: 3, skipped: 0, failed: 0 },
    ['reembedded', 'reembedded', 'reembedded'],
  ]);
  expect(embedded).toEqual([[1, 2, 3]]);
  const points = of('vectors.upsert').flatMap(([written]) => written as { generation: number; vectors: unknown[] }[]);
  expect(points.map(({ generation, vectors }) => [generation, vectors.length])).toEqual(Array(3).fill([2, 1]));
  expect(discardedIds(of)).toEqual([]);
});

test('a text that cannot be embedded fails its own file only, and the data of its attempt is deleted', async () => {
  const embed = (ids: readonly number[]): void => {
    if (ids.includes(2)) throw new Fault('bad_response', 'The provider rejects this text.');
  };
  const { counts, outcomes, of } = await reembed({ embed });
  expect(outcomes).toEqual(['reembedded', 'failed The provider rejects this text.', 'reembedded']);
  expect([counts, discardedIds(of)]).toEqual([{ reembedded: 2, skipped: 0, failed: 1 }, [2]]);
  const ofTwo = await reembed({ ids: [1, 2], embed });
  expect(ofTwo.outcomes).toEqual(['reembedded', 'failed The provider rejects this text.']);
});

test('a file is embedded once more for each configured delay, after a fault that a retry can fix', async () => {
  for (const [kind, tries, outcome] of [
    ['embedding_failed', 3, 'failed It failed.'],
    ['bad_response', 1, 'failed It failed.'],
  ] as const) {
    let calls = 0;
    const embed = (): void => {
      calls += 1;
      throw new Fault(kind, 'It failed.');
    };
    const { outcomes } = await reembed({ ids: [1], delaysMs: [0, 0], embed });
    expect([kind, calls, outcomes]).toEqual([kind, tries, [outcome]]);
  }
  let calls = 0;
  const embed = (): void => {
    calls += 1;
    if (calls === 1) throw new Fault('embedding_failed', 'It failed.');
  };
  expect((await reembed({ ids: [1], delaysMs: [0], embed })).outcomes).toEqual(['reembedded']);
});

test('a file that changes is read again, and counts as syncing if it changes each time', async () => {
  const once = await reembed({ changed: [2] });
  expect(once.outcomes).toEqual(['reembedded', 'reembedded', 'reembedded']);
  const twice = await reembed({ ids: [2], changed: [2, 2] });
  expect(twice.outcomes).toEqual(['reembedded']);
  const always = await reembed({ changed: [2, 2, 2, 2] });
  expect(always.outcomes).toEqual(['reembedded', 'skipped syncing', 'reembedded']);
  expect(always.of('files.beginVectors').filter(([file]) => (file as File)._id === 2)).toHaveLength(3);
});

test('a file fails if chunks of it are missing each time it is read, and keeps its vectors', async () => {
  const { outcomes, of } = await reembed({ incomplete: [2] });
  expect(outcomes).toEqual([
    ...['reembedded', expect.stringMatching(/^failed Some of its stored chunks are missing/), 'reembedded'],
  ]);
  const published = of('files.publishVectors').flatMap(([some]) =>
    (some as { file: File }[]).map(({ file }) => file._id),
  );
  expect([published, discardedIds(of)]).toEqual([
    [1, 3],
    [2, 2, 2],
  ]);
});

test('a repeated batch checks the vector store, discards unfinished attempts, and embeds files without an outcome', async () => {
  const embedded: (readonly number[])[] = [];
  const { counts, names, of } = await reembed({
    ...{ attempt: 2, endedBefore: [1], open: [{ fileId: 2, from: 1, generation: 2 }] },
    embed: (ids) => void embedded.push(ids),
  });
  expect([counts, embedded]).toEqual([{ reembedded: 3, skipped: 0, failed: 0 }, [[2, 3]]]);
  expect(names().indexOf('vectors.ping')).toBeLessThan(names().indexOf('reembeds.listOpen'));
  expect([of('vectors.ping').length, of('reembeds.listOpen'), discardedIds(of)]).toEqual([1, [[7, [1, 2, 3]]], [2]]);
  expect((await reembed({})).of('vectors.ping')).toEqual([]);
});

test('a cancelled batch discards its open attempts; after an outage they stay for the repeated batch', async () => {
  const abort = new AbortController();
  const reason = new Error('CANCELLED');
  const cancelled = await reembed({
    abort,
    embed() {
      abort.abort(reason);
      throw new Fault('timed_out', 'It was aborted.');
    },
  });
  expect([cancelled.counts, cancelled.outcomes]).toEqual([expect.any(Fault), [undefined, undefined, undefined]]);
  expect(discardedIds(cancelled.of)).toEqual([1, 2, 3]);
  const outage = new Error('MongoDB does not answer');
  const failed = await reembed({
    embed() {
      throw outage;
    },
  });
  expect([failed.counts, discardedIds(failed.of)]).toEqual([expect.any(Error), []]);
});

test('files are embedded together only with the same model, space and input', () => {
  const target = (model: string, name: string, from: string) => ({ model, space: { name, dimensions: 1 }, from });
  const targets = [
    ...[
      target('a', 's', 'chunks'),
      target('b', 's', 'chunks'),
      target('a', 't', 'chunks'),
      target('a', 's', 'picture'),
    ],
    target('a', 's', 'chunks'),
  ];
  const groups = byTarget([0, 1, 2, 3, 4], (nth) => targets[nth] as never);
  expect(groups.map(({ items }) => items)).toEqual([[0, 4], [1], [2], [3]]);
});

const embeddings = {
  spaceOf: (model: string) => ({ name: model === 'OPENAI' ? 'old' : 'new', dimensions: 2 }),
  models: () => [{ model: 'VERTEX_MULTIMODAL', takesImages: true, space: { name: 'pictures', dimensions: 3 } }],
} as never;
const PICTURE = { hasText: false, vectorSpace: 'pictures', statistics: { fileFormat: 'JPG' } };
test('without a requested model, a file keeps its model and space, and fails if no provider serves the space', () => {
  const target = (fields: object, model: 'COHERE_MULTILINGUAL_V3' | null = null) => {
    const { space, from, ...rest } = targetOf(fileOf(1, fields) as never, { model }, { embeddings });
    return [rest.model, space, from];
  };
  expect(target({})).toEqual(['OPENAI', { name: 'old', dimensions: 2 }, 'chunks']);
  expect(target({ vectorSpace: 'given-openai-5', dimensions: 5 })).toEqual([
    ...['OPENAI', { name: 'given-openai-5', dimensions: 5 }, 'given vectors'],
  ]);
  expect(target(PICTURE)).toEqual(['OPENAI', { name: 'pictures', dimensions: 3 }, 'picture']);
  for (const unserved of [{ vectorSpace: 'other' }, { ...PICTURE, vectorSpace: 'other' }])
    expect(() => target(unserved)).toThrow('which no configured provider serves');
  const model = 'COHERE_MULTILINGUAL_V3';
  expect(target({ vectorSpace: 'other' }, model)).toEqual([model, { name: 'new', dimensions: 2 }, 'chunks']);
});

test('chunks of the new generation get a vector, and a sparse one if requested; newer chunks get none', async () => {
  const { stores, of } = recorder({ 'files.ancestorsOf': new Map([[1, [9]]]) });
  const row = (fileId: number, chunkIndex: number, generation = 2) => ({
    ...{ fileId, chunkIndex, generation, text: `${fileId} ${chunkIndex}`, tokens: 1 },
  });
  const pages = [
    Array.from({ length: 1_000 }, (_, nth) => row(1, nth)),
    [row(1, 1_000), row(1, 1_001), row(2, 0), row(3, 0, 5)],
  ];
  const store = {
    ...(stores as object),
    chunks: { copyGeneration: async () => undefined, page: () => pages },
    embeddingUsage: { count: () => undefined },
    vectorCache: {
      resolve: async (_organization: number, _space: unknown, texts: readonly string[]) =>
        texts.map((text) => Float32Array.from(text.split(' ').map(Number))),
    },
  };
  const deps = { store, metrics: { embedded: () => undefined }, encodeSparse: (text: string) => text } as never;
  const sparse = { options: { embeddingModel: 'OPENAI', generateSparseVectors: true } };
  const attempts = [
    { file: fileOf(1, { numChunks: 1_002, ...sparse, hasContent: true }), generation: 2 },
    ...[2, 3].map((id) => ({ file: fileOf(id), generation: 2 })),
  ];
  const target = { model: 'OPENAI', space: { name: 'new', dimensions: 2 }, from: 'chunks' };
  const run = { _id: 7, organizationId: 1, userId: 2 };
  const { signal } = new AbortController();
  const complete = await writeVectors(run as never, attempts as never, target as never, deps, signal);
  expect([...complete]).toEqual([1, 2]);
  expect(of('contents.copyGeneration')).toEqual([[{ organizationId: 1, userId: 2, fileId: 1, generation: 1 }, 2]]);
  interface Points {
    readonly fileId: number;
    readonly firstChunk: number;
    readonly vectors: readonly Float32Array[];
    readonly sparseOf?: (chunkIndex: number) => unknown;
  }
  const points = of('vectors.upsert').flatMap(([some]) => some as Points[]);
  const summary = points.map(({ fileId, firstChunk, vectors }) => [fileId, firstChunk, vectors.length]);
  expect(summary).toEqual([
    [1, 0, 1_000],
    [1, 1_000, 2],
    [2, 0, 1],
  ]);
  expect(points[1]).toMatchObject({ ...{ generation: 2, ancestors: [9], model: 'OPENAI', space: target.space } });
  expect([...points[1]!.vectors, ...points[2]!.vectors].map((vector) => [...vector])).toEqual([
    [1, 1_000],
    [1, 1_001],
    [2, 0],
  ]);
  expect([points[1]!.sparseOf?.(1_001), points[2]!.sparseOf]).toEqual(['1 1001', undefined]);
});
