/**
 * Tests with stores in memory: pages and tenants of lists of chunks, the order of uploaded chunks, the state that event
 * streams share (topics), and the deletion of many users.
 */
import { expect, test } from '@jest/globals';

import { textChunks } from '../../api/chunks/textChunks.js';
import { listChunks } from '../../api/chunks/listChunks.js';
import { uploadChunks } from '../../api/chunks/uploadChunks.js';
import type { ListAnswer } from '../../api/http/operation.js';
import { createTopics } from '../../api/http/streams/topics.js';
import { deleteUsers } from '../../api/users/deleteUsers.js';
import { everyRow } from '../support/everyRow.js';

const CALLER = { organizationId: 1, userId: 2 };

/** A store with one file of `numChunks` chunks, and the tenants for which it was read. */
function storeOf(numChunks: number) {
  const tenants = new Set<string>();
  const seen = (tenant: object) => void tenants.add(JSON.stringify(tenant));
  const row = (chunkIndex: number) => ({
    ...{ key: `k${chunkIndex}`, fileId: 5, chunkIndex, text: `t${chunkIndex}`, metadata: {} },
    vectorSpace: chunkIndex % 2 === 0 ? 'even' : 'odd',
  });
  const file = { _id: 5, numChunks, options: { embeddingModel: 'OPENAI' } };
  async function* page(tenant: object, files: AsyncIterable<typeof file>, offset: number, limit: number) {
    seen(tenant);
    for await (const { numChunks: count } of files) {
      const rows = Array.from({ length: count }, (_, nth) => row(nth)).slice(offset, offset + limit);
      // Parts of 100 rows, as a cursor returns them.
      for (let from = 0; from < rows.length; from += 100) yield rows.slice(from, from + 100);
    }
  }
  const store = {
    files: {
      byIds: (tenant: object, [id]: number[]) => (seen(tenant), Promise.resolve(id === 5 ? [file] : [])),
      countChunks: (tenant: object) => (seen(tenant), Promise.resolve(numChunks)),
      async *contents(tenant: object) {
        seen(tenant);
        yield await Promise.resolve(file);
      },
    },
    chunks: { page },
    vectors: {
      retrieve(tenant: object, space: string, rows: { key: string }[]) {
        seen(tenant);
        return Promise.resolve(new Map(rows.map(({ key }) => [key, [space === 'even' ? 0 : 1]])));
      },
    },
  };
  return { store, tenants };
}

interface Row {
  readonly chunk_index: number;
  readonly embedding: number[] | null;
}
async function rowsOf(answer: unknown) {
  const { results, count } = answer as ListAnswer;
  const rows: Row[] = [];
  for await (const part of results) rows.push(...(part as Row[]));
  return { rows, count: await count };
}
/** Lists chunks of the file. offset and starting_id are 0, unless `pagination` sets them. */
async function list(numChunks: number, direction: string, pagination: object, filters: object = {}, include = false) {
  const { store, tenants } = storeOf(numChunks);
  const body = {
    filters: { user_file_id: 5, ...filters },
    ...{ order_dir: direction, pagination: { offset: 0, starting_id: 0, ...pagination }, include_vectors: include },
  };
  const { rows, count } = await rowsOf(await textChunks.handle({ caller: CALLER, body, deps: { store } } as never));
  return { count, tenants, rows, numbers: rows.map(({ chunk_index: chunkIndex }) => chunkIndex) };
}
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, nth) => from + nth);

/** Page, and the numbers of its chunks from the end of a file of 600 chunks. */
const PAGES: readonly (readonly [page: { limit: number; offset: number }, numbers: number[]])[] = [
  [{ limit: 3, offset: 0 }, [599, 598, 597]],
  [{ limit: 250, offset: 0 }, range(350, 600).toReversed()],
  [{ limit: 251, offset: 0 }, range(349, 600).toReversed()],
  [{ limit: 560, offset: 20 }, range(20, 580).toReversed()],
  [{ limit: 5, offset: 598 }, [1, 0]],
  [{ limit: 5, offset: 600 }, []],
  [{ limit: 5, offset: 700 }, []],
];

test('chunks of a file can be listed from the last one, each once, in pages of any size', () =>
  everyRow(PAGES, JSON.stringify, async ([page, numbers]) => {
    const listed = await list(600, 'desc', page);
    expect([listed.count, listed.numbers]).toEqual([600, numbers]);
  }));

test('lists the chunks of a file only if it has the requested model and its id is above starting_id', async () => {
  const { numbers, rows, tenants } = await list(3, 'asc', { limit: 2, offset: 1 }, {}, true);
  expect([numbers, rows.map(({ embedding }) => embedding)]).toEqual([
    [1, 2],
    [[1], [0]],
  ]);
  expect(tenants).toEqual(new Set([JSON.stringify(CALLER)]));
  expect((await list(3, 'asc', { limit: 9 })).rows[0]).toMatchObject({ embedding: null });
  expect(await list(3, 'asc', { limit: 9 }, { embedding_model: 'OPENAI' })).toMatchObject({ count: 3 });
  const ofOtherModel = await list(3, 'desc', { limit: 9 }, { embedding_model: 'COHERE' });
  expect([ofOtherModel.count, ofOtherModel.numbers]).toEqual([0, []]);
  expect((await list(3, 'asc', { limit: 9, starting_id: 4 })).count).toBe(3);
  expect((await list(3, 'asc', { limit: 9, starting_id: 5 })).count).toBe(0);
  await expect(list(3, 'asc', { limit: 9 }, { user_file_id: 6 })).rejects.toMatchObject({ status: 404 });
});

test('without a file filter, only chunks of the caller are read, each with its vector from its own space', async () => {
  const { store, tenants } = storeOf(4);
  const body = listChunks.body!.validate({ filters: {}, pagination: { limit: 3, offset: 1 }, include_vectors: true });
  const { rows, count } = await rowsOf(
    await listChunks.handle({ caller: CALLER, body: body.value as object, deps: { store } } as never),
  );
  expect([count, rows.map(({ chunk_index: nth, embedding }) => [nth, embedding])]).toEqual([
    4,
    [
      [1, [1]],
      [2, [0]],
      [3, [1]],
    ],
  ]);
  expect(tenants).toEqual(new Set([JSON.stringify(CALLER)]));
});

test('of two reads of a topic, the result of the one that began later is kept, even if it ends first', async () => {
  const topics = createTopics<number>({ tickMs: 60_000, isSame: (a, b) => a === b }, { warn: () => undefined });
  const answers: ((state: number) => void)[] = [];
  const read = () => new Promise<number>((resolve) => answers.push(resolve));
  const [slow, fast] = [topics.join('a', read), topics.join('a', read)];
  answers[1]!(2);
  const second = await fast;
  answers[0]!(1);
  const first = await slow;
  expect([first.latest(), second.latest()]).toEqual([2, 2]);
  // Another topic has its own state.
  const other = topics.join('b', () => Promise.resolve(7));
  expect([(await other).latest(), first.latest()]).toEqual([7, 2]);
  for (const topic of [first, second, await other]) topic.leave();
  await topics.idle();
});

test('the deletion of many users accepts a run for each, and starts only the first ten itself', async () => {
  const started: number[] = [];
  const accepted: Map<number, { owner: object; workflowId: string; kind: string }>[] = [];
  const users = range(1, 26).map((id) => ({ _id: id, customerId: `c${id}` }));
  const asked: unknown[] = [];
  const store = {
    users: {
      markDeleted: (organizationId: number, ids: string[]) => (asked.push(organizationId, ids), Promise.resolve(users)),
    },
    runs: {
      nextId: (count: number) => Promise.resolve(1_000 + count),
      acceptMany: (runs: (typeof accepted)[number]) => (accepted.push(runs), Promise.resolve()),
    },
  };
  const unit = {
    transaction: (work: (session: null) => unknown) => work(null),
    start: (id: number) => started.push(id),
  };
  const body = { customer_ids: ['c1'] };
  await deleteUsers.handle({ caller: { organizationId: 1 }, body, deps: { store, unit } } as never);
  expect(asked).toEqual([1, ['c1']]);
  expect([...accepted[0]!.keys()]).toEqual(range(1_025, 1_050));
  expect(accepted[0]!.get(1_049)).toMatchObject({ kind: 'deleteUser', owner: { organizationId: 1, userId: 25 } });
  expect(started).toEqual(range(1_025, 1_035));
});

/** Uploads chunks of one file. @returns the stored JSON */
async function uploaded(count: number, embedded: boolean, fields: object = {}) {
  const STORED = new Error('stored');
  const parts: Buffer[] = [];
  const chunks = range(0, count).map((nth) => ({
    ...{ chunk_number: nth % 2 === 0 ? count - nth : null, chunk: `t${nth}` },
    ...(embedded && { embedding: [nth + 1, ...Array<number>(1_023).fill(0)] }),
  }));
  const body = {
    ...{ embedding_model: 'COHERE_MULTILINGUAL_V3', overwrite_existing: false, chunks_only: false, ...fields },
    chunks_and_embeddings: [{ file_id: 5, chunks_and_embeddings: chunks }],
  };
  const receive = async (content: AsyncIterable<Buffer>) => {
    for await (const part of content) parts.push(part);
    throw STORED;
  };
  await expect(uploadChunks.handle({ caller: CALLER, body, receive, deps: {} } as never)).rejects.toBe(STORED);
  return JSON.parse(Buffer.concat(parts).toString()) as { texts: string[]; vectors: string[] | null };
}

test('uploaded chunks are stored in the order of their numbers, then of the request, whatever their count', () =>
  everyRow([1, 2, 199, 200, 201, 400, 401], String, async (count) => {
    const numbered = range(0, count).filter((nth) => nth % 2 === 0);
    const order = [...numbered.toReversed(), ...range(0, count).filter((nth) => nth % 2 === 1)];
    const { texts, vectors } = await uploaded(count, true);
    expect(texts).toEqual(order.map((nth) => `t${nth}`));
    expect(vectors!.map((text) => Buffer.from(text, 'base64').readFloatLE(0))).toEqual(order.map((nth) => nth + 1));
    expect((await uploaded(count, false)).vectors).toBeNull();
    expect((await uploaded(count, true, { chunks_only: true })).vectors).toBeNull();
  }));
