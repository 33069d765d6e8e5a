/** Tests of searches (queries and answers by request field), of the estimates of dry runs, and of GET /ready. */
import { describe, expect, test } from '@jest/globals';

import { embeddings } from '../../api/chunks/embeddings.js';
import type { FoundChunk } from '../../api/chunks/findCurrent.js';
import { rerankFound } from '../../api/chunks/rerankFound.js';
import type { ApiDeps } from '../../api/http/deps.js';
import { createSearchMemory } from '../../api/chunks/searchMemory.js';
import { createDryRunLimiter, readSample, sampleEvenly, withDeadline } from '../../api/dryRuns/deadline.js';
import { estimateOf, type DryRunFindings } from '../../api/dryRuns/estimate.js';
import { ready } from '../../api/health/health.js';
import { validate } from '../../api/http/validate.js';
import { upstream } from '../../api/upstream.js';
import { DEFAULT_INGEST_OPTIONS } from '../../contract/files/ingestOptions.js';
import { Fault, type FaultKind } from '../../contract/failures.js';
import { chunkKey } from '../../store/models/chunks.js';
import type { ChunkKey, VectorQuery } from '../../store/vectors/search.js';
import { everyRow } from '../support/everyRow.js';

const RULES = { mayCall: () => true, redirectUriSchemes: [] };
const thrownBy = async (act: () => unknown): Promise<unknown> => {
  try {
    await act();
  } catch (error) {
    return error;
  }
  return null;
};

describe('search', () => {
  const HITS = [
    { fileId: 1, generation: 3, chunkIndex: 4, score: 0.9 },
    { fileId: 2, generation: 3, chunkIndex: 0, score: 0.5 },
  ];
  const file = (_id: number) => ({
    ...{ _id, generation: 3, parentId: 8, name: `n${_id}`, externalUrl: 'u', source: 'BOX', organizationId: 1 },
    ...{ tags: [{ key: 'a', value: 1 }], fileMetadata: { of: 'file', page: 'file' }, hasContent: _id === 1 },
    embeddingStorageStatus: 'HOT_STORAGE',
  });
  interface Deployment {
    readonly cold?: readonly number[];
    readonly enabled?: boolean;
    readonly spaces?: readonly string[];
  }
  let users = 100;

  /** Runs a search. @returns its queries, the embedded texts, and its answer */
  async function search(fields: object, { cold = [], enabled, spaces = ['here'] }: Deployment = {}) {
    const queries: VectorQuery[] = [];
    const embedded: unknown[] = [];
    const used: unknown[] = [];
    const coldQueries: unknown[] = [];
    const filesOf = (ids: readonly number[]) => ids.map(file);
    const store = {
      files: {
        spacesOf: () => Promise.resolve(spaces),
        dimensionsIn: () => Promise.resolve(null),
        findHits: (_: unknown, ids: readonly number[]) => Promise.resolve(filesOf(ids)),
        findWithOtherSpaces: (_: unknown, ids: readonly number[]) =>
          Promise.resolve({ files: filesOf(ids), hasUnsearched: cold.length > 0 }),
      },
      chunks: {
        cache: () => undefined,
        byKeys: (_: unknown, keys: readonly ChunkKey[]) =>
          Promise.resolve(
            keys.map((key) => ({
              ...{ ...key, key: chunkKey(key.fileId, key.generation, key.chunkIndex), text: `text ${key.fileId}` },
              metadata: { page: 7 },
            })),
          ),
      },
      vectors: {
        search(query: VectorQuery) {
          queries.push(query);
          return Promise.resolve({ dense: query.dense ? HITS.slice(0, query.limit) : [], sparse: [] });
        },
        searchIds(query: VectorQuery) {
          queries.push(query);
          const points = HITS.map(({ fileId, score }) => ({ id: `point ${fileId}`, score }));
          return Promise.resolve({ dense: query.dense ? points.slice(0, query.limit) : [], sparse: [] });
        },
        chunksOf: (_: unknown, _space: string, ids: readonly string[]) =>
          Promise.resolve(
            new Map(HITS.map((hit) => [`point ${hit.fileId}`, hit] as const).filter(([id]) => ids.includes(id))),
          ),
        retrieve: (_: unknown, space: string, keys: readonly ChunkKey[]) =>
          Promise.resolve(
            new Map(keys.map((key) => [chunkKey(key.fileId, key.generation, key.chunkIndex), [space.length]])),
          ),
      },
      coldFiles: {
        findForSearch: (...requests: unknown[]) => {
          coldQueries.push(requests);
          return Promise.resolve(cold);
        },
      },
      users: {
        findRecord: () =>
          Promise.resolve(enabled === undefined ? {} : { enabledFeatures: { sparse_vectors: { enabled } } }),
      },
      lastUse: { record: (files: readonly { _id: number }[]) => void used.push(...files.map(({ _id }) => _id)) },
    };
    const space = { name: 'here', dimensions: 3 };
    const deps = {
      store,
      settings: { maxQueryCharacters: 10 },
      metrics: { embedded: () => undefined },
      embedder: {
        models: () => [
          { model: 'OPENAI', provider: null, space },
          { model: 'VERTEX_MULTIMODAL', provider: 'vertex', space: { name: 'pictures', dimensions: 5 } },
        ],
        spaceOf: () => space,
        embed: (...[name, texts, purpose]: unknown[]) => {
          embedded.push([name, texts, purpose]);
          return Promise.resolve([[1, 0, 0]]);
        },
      },
      encodeQuery: () => ({ indices: [1], values: [1] }),
      searchMemory: createSearchMemory(),
      rerankers: { choose: () => ({ rerank: () => Promise.resolve([{ index: 1, score: 0.7 }]) }) },
      signedUrls: { sign: ({ kind }: { kind: string }, life: number) => `/${kind}?${life}` },
      publicUrl: () => 'http://here',
    } as unknown as ApiDeps;
    const body = validate(embeddings.body!, { query: 'q', k: 2, ...fields }, 'body', RULES);
    const caller = { organizationId: 1, userId: (users += 1) };
    const call = { caller, body, deps, signal: new AbortController().signal };
    const { documents } = (await embeddings.handle(call as never)) as { documents: Record<string, unknown>[] };
    return { documents, queries, embedded, used, coldQueries };
  }

  test('maps each field of the request to its queries', () =>
    everyRow(
      [
        [{}, {}],
        [{ file_ids: [5] }, { filter: { fileIds: [5] } }],
        [{ parent_file_ids: [6] }, { filter: { parentFileIds: [6] } }],
        [{ include_all_children: true }, { filter: { includeAllChildren: true } }],
        [{ file_types_at_source: ['TICKET'] }, { filter: { fileTypesAtSource: ['TICKET'] } }],
        [
          { tags: { a: 1, b: 2 } },
          {
            filter: {
              tagTree: {
                AND: [
                  { key: 'a', value: 1 },
                  { key: 'b', value: 2 },
                ],
              },
            },
          },
        ],
        [{ tags: {} }, {}],
        [
          { tags: { a: 1 }, tags_v2: { OR: [{ key: 'c', value: 3 }] } },
          { filter: { tagTree: { OR: [{ key: 'c', value: 3 }] } } },
        ],
        [{ tags: { a: 1 }, tags_v2: { OR: [] } }, { filter: { tagTree: { AND: [{ key: 'a', value: 1 }] } } }],
        [{ media_type: 'AUDIO' }, { filter: { media: 'AUDIO' } }],
        // Pictures use one model, regardless of the requested one.
        [{ media_type: 'IMAGE' }, { filter: { media: 'IMAGE' }, model: 'VERTEX_MULTIMODAL' }],
        [{ high_accuracy: true }, { exact: true }],
        [{ k: 1 }, { limit: 1 }],
        [{ query_vector: [0, 1, 0] }, { dense: [0, 1, 0] }],
        [{ hybrid_search: true }, { sparse: { indices: [1], values: [1] }, limit: 400 }],
        [{ rerank: { model: 'COHERE_RERANK_MULTILINGUAL_V3' } }, { limit: 50 }],
      ] as [object, Partial<VectorQuery>][],
      ([fields]) => JSON.stringify(fields),
      async ([fields, expected]) => {
        const [query] = (await search(fields)).queries;
        const usual = {
          fileIds: [],
          parentFileIds: [],
          includeAllChildren: false,
          fileTypesAtSource: [],
          media: 'TEXT',
        };
        expect(query).toEqual({
          ...{ organizationId: 1, userId: expect.any(Number), space: 'here', model: 'OPENAI', dense: [1, 0, 0] },
          ...{ sparse: null, limit: 2, exact: false, signal: expect.anything(), ...expected },
          filter: { ...usual, ...expected.filter },
        });
      },
    ));

  test('returns the best hits first, with the requested extra fields', async () => {
    const { documents, embedded, used } = await search({});
    expect(documents[0]).toEqual({
      ...{ content: 'text 1', file_id: 1, parent_file_id: 8, source: 'n1', source_url: 'u', source_type: 'BOX' },
      ...{ presigned_url: null, tags: null, vector: null, score: 0.9, rank: 1, chunk_index: 4 },
      content_metadata: { page: 7 },
    });
    expect(documents.map(({ file_id: id, rank }) => [id, rank])).toEqual([
      [1, 1],
      [2, 2],
    ]);
    expect([embedded, used]).toEqual([[['here', ['q'], 'query']], [1, 2]]);
    const requests = {
      include_tags: true,
      include_vectors: true,
      include_raw_file: true,
      include_file_level_metadata: true,
    };
    const [first, second] = (await search(requests)).documents;
    expect(first).toMatchObject({
      ...{
        tags: { a: 1 },
        vector: [4],
        presigned_url: 'http://here/raw?3600',
        content_metadata: { of: 'file', page: 7 },
      },
    });
    expect(second!['presigned_url']).toBeNull();
  });

  test('weights semantic and keyword scores equally, or by the given weights', async () => {
    const scores = async (weights?: object) => {
      const { documents, queries } = await search({ hybrid_search: true, hybrid_search_tuning_parameters: weights });
      return [documents.map(({ score }) => score), queries[0]?.sparse !== null, queries[0]?.dense !== null];
    };
    expect(await scores()).toEqual([[0.5, expect.closeTo(0.278)], true, true]);
    expect(await scores({ weight_a: 0.2, weight_b: 0.8 })).toEqual([[0.2, expect.closeTo(0.111)], true, true]);
    expect(await scores({ weight_a: 1, weight_b: 0 })).toEqual([[1, expect.closeTo(0.556)], false, true]);
    expect((await scores({ weight_a: 0, weight_b: 1 })).slice(1)).toEqual([true, false]);
  });

  test('is refused if it is invalid or disabled, or if its result would omit cold files', async () => {
    const refused = async (fields: object, deployment: Deployment = {}) =>
      ((await thrownBy(() => search(fields, deployment))) as { status?: number } | null)?.status ?? 'answered';
    expect(await refused({ query: 'x'.repeat(10) })).toBe('answered');
    expect(await refused({ query: 'x'.repeat(11) })).toBe(422);
    expect(await refused({}, { cold: [5, 6] })).toBe(409);
    expect(await refused({ exclude_cold_storage_files: true }, { cold: [5, 6] })).toBe('answered');
    expect(await refused({ hybrid_search: true }, { enabled: false })).toBe(400);
    expect(await refused({ hybrid_search: true }, { enabled: true })).toBe('answered');
    expect(await refused({}, { enabled: false })).toBe('answered');
    expect(await refused({ query_vector: [1, 2] })).toBe(422);
    expect(await refused({ query_vector: [1, 2, 3] }, { spaces: [] })).toBe('answered');
    const ids = Array.from({ length: 101 }, (_, index) => 1_000 + index);
    const error = await thrownBy(() => search({ file_ids: [5] }, { cold: ids }));
    expect((error as { detail: string }).detail).toMatch(/: 1000, .*, 1099 and more\. /);
  });

  test('reranks texts, followed by pictures in their order', async () => {
    const hitOf = (text: string, fileId: number) =>
      ({ hit: { fileId, score: fileId }, chunk: { text } }) as unknown as FoundChunk;
    const hits = [hitOf(' ', 1), hitOf('a', 2), hitOf('b', 3), hitOf('c', 4)];
    const requests: unknown[] = [];
    const reranker = {
      rerank: (...[query, texts, limit]: unknown[]) => {
        requests.push([query, texts, limit]);
        return Promise.resolve([
          { index: 2, score: 0.9 },
          { index: 0, score: 0.4 },
          { index: 7, score: 0.1 },
        ]);
      },
    };
    const rank = async (k: number) =>
      (await rerankFound(hits, { query: 'q', k }, reranker as never, new AbortController().signal)).map(({ hit }) => [
        hit.fileId,
        hit.score,
      ]);
    expect(await rank(5)).toEqual([
      [4, 0.9],
      [2, 0.4],
      [1, 1],
    ]);
    expect(await rank(1)).toEqual([[4, 0.9]]);
    expect(requests).toEqual([
      ['q', ['a', 'b', 'c'], 3],
      ['q', ['a', 'b', 'c'], 1],
    ]);
  });
});

test('answers a provider failure with 503 if it is retryable, 400 if a setting is missing, and otherwise 502', () =>
  everyRow(
    [
      ['rate_limited', { retryAfterMs: 1_500 }, 503, 2],
      ['embedding_failed', {}, 503, null],
      ['not_configured', {}, 400, null],
      ['access_denied', {}, 502, null],
    ] as [FaultKind, object, number, number | null][],
    ([kind]) => kind,
    async ([kind, options, status, retryAfterSeconds]) => {
      const fault = new Fault(kind, 'It failed.', options);
      expect(await thrownBy(() => upstream(() => Promise.reject(fault)))).toMatchObject({
        ...{ status, retryAfterSeconds, detail: 'It failed.' },
      });
      const defect = new TypeError('ours');
      expect(await thrownBy(() => upstream(() => Promise.reject(defect)))).toBe(defect);
      expect(await upstream(() => Promise.resolve(5))).toBe(5);
    },
  ));

describe('dry run', () => {
  test('reads an evenly spread sample', () => {
    const indexes = Array.from({ length: 10 }, (_, index) => index);
    expect(sampleEvenly(indexes, 10)).toEqual(indexes);
    expect(sampleEvenly(indexes, 20)).toEqual(indexes);
    expect(sampleEvenly(indexes, 5)).toEqual([1, 3, 5, 7, 9]);
    expect(sampleEvenly(indexes, 1)).toEqual([5]);
  });

  test('counts unreadable files, and omits files not read in time', async () => {
    const stop = new AbortController();
    const read = (index: number) => {
      if (index === 2) return Promise.reject(new Fault('not_found', 'gone'));
      if (index === 3) {
        stop.abort();
        return Promise.reject(new Fault('timed_out', 'late'));
      }
      return Promise.resolve({ bytes: index, tokens: 0, texts: [] });
    };
    expect(await readSample([1, 2, 3, 4], 1, read, stop.signal)).toEqual({
      ...{ read: [{ bytes: 1, tokens: 0, texts: [] }], failed: 1 },
    });
    const defect = new TypeError('ours');
    expect(await thrownBy(() => readSample([1], 1, () => Promise.reject(defect), new AbortController().signal))).toBe(
      defect,
    );
  });

  test('is limited to two per user at once', async () => {
    const dryRunDeps = { settings: { dryRun: { timeoutMs: 60_000 } }, dryRuns: createDryRunLimiter() };
    const run = <T>(work: () => Promise<T>, userId = 1) => withDeadline({ userId } as never, dryRunDeps as never, work);
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const runs = [run(() => released), run(() => released)];
    expect(await thrownBy(() => run(() => released))).toMatchObject({ status: 429, retryAfterSeconds: 5 });
    expect(await run(() => Promise.resolve(5), 2)).toBe(5);
    release();
    await Promise.all(runs);
    expect(await run(() => Promise.resolve(5))).toBe(5);
    expect(await thrownBy(() => run(() => Promise.reject(new Error('x'))))).toMatchObject({ message: 'x' });
    expect(await Promise.all([run(() => Promise.resolve(1)), run(() => Promise.resolve(2))])).toEqual([1, 2]);
  });

  const seen = (fields: Partial<DryRunFindings>): DryRunFindings => ({
    ...{ files: 3, complete: true, failed: 0, skipped: { not_found: 1 } },
    read: [10, 20, 30].map((tokens) => ({ bytes: tokens * 2, tokens, texts: ['a', 'b'] })),
    ...fields,
  });
  const deps = {
    store: {
      vectorCache: {
        countCached: (_organization: number, _space: string, texts: readonly string[]) =>
          Promise.resolve(texts.length - 1),
      },
      runRates: { rateOf: () => Promise.resolve({ files: 10, seconds: 25, runs: 2 }) },
    },
    embedder: { spaceOf: () => ({ name: 'here' }) },
    settings: { embeddingPrices: { OPENAI: 500_000 } },
  } as unknown as ApiDeps;
  const estimate = (fields: Partial<DryRunFindings>, options: object = {}, usedDeps = deps) =>
    estimateOf({} as never, 'scrapeSitemap', { ...DEFAULT_INGEST_OPTIONS, ...options }, seen(fields), usedDeps);

  test('is exact if it reads all files', async () => {
    expect(await estimate({})).toEqual({
      ...{ id: null, dry_run: true, embedding_model: 'OPENAI', files: 3, bytes: 120, chunks: 6, tokens: 60 },
      ...{ tokens_low: 60, tokens_high: 60, price: 30, seconds: 7.5, seconds_by: { runs: 2, files: 10 } },
      ...{ complete: true, estimated: false, skipped: { not_found: 1 } },
      sample: { files: 3, failed: 0, bytes: 120, chunks: 6, known_chunks: 5, tokens: 60 },
    });
    expect(await estimate({ files: 4, failed: 1 })).toMatchObject({ tokens: 60, tokens_high: 60, estimated: false });
  });

  test('estimates an interval from a sample; an incomplete listing or a single file gives no upper bound', async () => {
    // The bounds are 1.96 standard errors for 12 files of 20 ± 10 tokens, estimated from 3 files.
    expect(await estimate({ files: 12 })).toMatchObject({
      ...{ tokens: 240, tokens_low: 122, tokens_high: 358, chunks: 24, bytes: 480, estimated: true },
    });
    // A quarter of the files cannot be read.
    expect(await estimate({ files: 16, failed: 1 })).toMatchObject({ tokens: 240 });
    expect(await estimate({ files: 12, complete: false })).toMatchObject({
      tokens: 240,
      tokens_high: null,
      estimated: true,
    });
    const [readFile] = seen({}).read;
    expect(await estimate({ files: 12, read: [readFile!] })).toMatchObject({
      tokens: 120,
      tokens_low: 120,
      tokens_high: null,
    });
    expect(await estimate({ read: [] })).toMatchObject({ tokens: null, tokens_low: null, price: null, bytes: null });
    expect(await estimate({ files: 0, read: [] })).toMatchObject({ tokens: 0, tokens_high: 0, estimated: false });
  });

  test('counts no tokens without embedding, and no chunks without chunking', () =>
    everyRow(
      [
        [{ skipEmbeddingGeneration: true }, { tokens: 0, chunks: 6, price: 0 }],
        [{ generateChunksOnly: true }, { tokens: 0, chunks: 6 }],
        [{ storeFileOnly: true }, { tokens: 0, chunks: 0 }],
        [{ skipFileProcessing: true }, { tokens: 0, chunks: 0 }],
        [{ embeddingModel: 'SOLAR_1_MINI' }, { tokens: 60, chunks: 6, price: null }],
      ] as [object, object][],
      ([options]) => JSON.stringify(options),
      async ([options, expected]) => expect(await estimate({}, options)).toMatchObject(expected),
    ));

  test('has no duration without earlier runs, and looks up at most 5,000 chunks', async () => {
    const unrated = { ...deps, store: { ...deps.store, runRates: { rateOf: () => Promise.resolve(null) } } } as never;
    expect(await estimate({}, {}, unrated)).toMatchObject({ seconds: null, seconds_by: null });
    const texts = (length: number) => [{ bytes: 1, tokens: 1, texts: Array.from({ length }, String) }];
    expect((await estimate({ read: texts(5_000) })).sample.known_chunks).toBe(4_999);
    expect((await estimate({ read: texts(5_001) })).sample.known_chunks).toBeNull();
  });
});

describe('GET /ready', () => {
  const fail = () => Promise.reject(new Error('unreachable'));
  const healthy = {
    ...{ pingMongo: () => Promise.resolve(), schema: { check: () => Promise.resolve(null) } },
    vectors: { probe: () => Promise.resolve([]) },
    workers: {
      list: () =>
        Promise.resolve([
          {
            host: 'h',
            pid: 1,
            startedAt: new Date(),
            heartbeatAt: new Date(),
            ageMs: 0,
            lagMs: 0,
            waitShare: 0,
            waited: 0,
            othersShare: 0,
          },
        ]),
    },
    stalls: { groupByCause: () => Promise.resolve([]) },
  };
  const ask = (store: object = {}, otherDeps: object = {}) =>
    ready.handle({
      deps: {
        ...{ store: { ...healthy, ...store }, dispatcher: { ping: () => Promise.resolve() } },
        ...{ diskProblem: () => Promise.resolve(null), engineProblem: () => Promise.resolve(null), ...otherDeps },
      },
    } as never) as Promise<{ status: string; reasons: string[]; checks: Record<string, { ok: boolean }> }>;

  test('is ready if all checks pass', async () => {
    const { status, reasons, checks } = await ask();
    expect([status, reasons, Object.values(checks).every(({ ok }) => ok), Object.keys(checks).length]).toEqual([
      ...['ready', [], true, 7],
    ]);
  });

  test('is degraded if a check fails, and names it', () =>
    everyRow(
      [
        ['qdrant', { vectors: { probe: fail } }, {}, /^Qdrant does not answer/],
        [
          'qdrant',
          { vectors: { probe: () => Promise.resolve([{ name: 'c1' }, { name: 'c2' }]) } },
          {},
          /searches in c1, c2:/,
        ],
        ['qdrant', { vectors: { probe: fail } }, { engineProblem: () => Promise.resolve('It ended.') }, /^It ended/],
        ['temporal', {}, { dispatcher: { ping: fail } }, /^Temporal does not answer/],
        ['worker', { workers: { list: () => Promise.resolve([]) } }, {}, /worker/i],
        [
          'runs',
          { stalls: { groupByCause: () => Promise.resolve([{ runs: 2, cause: 'no_worker' }]) } },
          {},
          /^2 runs are stalled/,
        ],
        ['disk', {}, { diskProblem: () => Promise.resolve('The disk is low') }, /^The disk is low\.$/],
      ] as [string, object, object, RegExp][],
      ([part, , , reason]) => `${part} ${String(reason)}`,
      async ([part, store, otherDeps, reason]) => {
        const { status, reasons, checks } = await ask(store, otherDeps);
        expect([status, checks[part]?.ok, reasons]).toEqual(['degraded', false, [expect.stringMatching(reason)]]);
      },
    ));

  test('is 503 if MongoDB is unreachable or the schema cannot be checked', async () => {
    expect(await thrownBy(() => ask({ pingMongo: fail }))).toMatchObject({ status: 503, retryAfterSeconds: 5 });
    expect(await thrownBy(() => ask({ schema: { check: fail } }))).toMatchObject({ status: 503 });
  });
});
