import { describe, expect, test } from '@jest/globals';

import { NO_TALLY } from '../../../contract/runs/ledger.js';
import type { FileRecord } from '../../../contract/files/records.js';
import type { Listed } from '../../support/client.js';
import { everyRow } from '../../support/everyRow.js';
import {
  database,
  key,
  ok,
  secondOrganization,
  otherKey,
  refusal,
  createUser,
  type StoredUser,
  reserveIds,
} from './idleService.js';

const DAY = 24 * 3_600_000;
const daysAgo = (days: number) => new Date(Date.now() - days * DAY);

/** Writes runs of a user, each a day later than the previous one. @returns their ids */
async function seedRuns({ owner }: StoredUser, rows: readonly object[]): Promise<number[]> {
  const firstId = reserveIds(rows.length);
  const defaults = {
    kind: 'resyncFile',
    fileId: null,
    startedAt: null,
    finishedAt: null,
    outcome: null,
    counts: {},
    cause: 'request',
  };
  await database.collection('runs').insertMany(
    rows.map((row, index) => ({
      ...{
        _id: firstId + index,
        ...owner,
        ...defaults,
        workflowId: `resync:${firstId + index}`,
        requestId: `r${index}`,
      },
      ...{ acceptedAt: daysAgo(rows.length - index), nextTryAt: new Date(Date.now() + DAY), ...row },
    })) as never[],
  );
  return rows.map((_, index) => firstId + index);
}
const ENDED = { startedAt: daysAgo(1), finishedAt: new Date(), tally: NO_TALLY };
const STARTED = { startedAt: daysAgo(1) };
const pausedAt = { reason: 'max_tokens', at: new Date(), wanted: 7, resumedAt: null };

/**
 * Defines the tests of requests about runs, vectors, chunks and links to contents, of the deletion of users, and of the
 * sign-in to the operators page.
 */
export function testRuns(): void {
  describe('runs', () => {
    test('are listed newest first, by filters', async () => {
      const who = await createUser();
      const { customerId } = who.owner;
      const ids = await seedRuns(who, [
        { kind: 'syncFeed', dataSourceId: 71 },
        { ...STARTED, cause: 'retry', parentRunId: 81 },
        { ...STARTED, pause: pausedAt },
        { ...STARTED, stall: { cause: 'no_worker', message: 'm', since: new Date() } },
        { ...ENDED, outcome: 'finished' },
        { ...ENDED, outcome: 'failed', fileId: 91 },
        { ...ENDED, outcome: 'aborted' },
      ]);
      const list = async (query: string, client: Pick<typeof key, 'get'> = who.user): Promise<unknown[]> => {
        const { results, count } = ok(await client.get<Listed<{ id: number }>>(`/sync_runs${query}`));
        return [results.map(({ id }) => ids.indexOf(id)), count];
      };
      await everyRow(
        [
          ['', [6, 5, 4, 3, 2, 1, 0], 7],
          ['?limit=2&offset=1', [5, 4], 7],
          ['?kinds=syncFeed', [0], 1],
          ['?statuses=queued', [0], 1],
          ['?statuses=running', [1], 1],
          ['?statuses=paused', [2], 1],
          ['?statuses=stalled', [3], 1],
          ['?statuses=finished&statuses=failed', [5, 4], 2],
          ['?statuses=aborted', [6], 1],
          ['?causes=retry', [1], 1],
          ['?data_source_id=71', [0], 1],
          ['?parent_run_id=81', [1], 1],
          ['?file_id=91', [5], 1],
          ['?request_id=r3', [3], 1],
          [`?since=${daysAgo(2.5).toISOString()}`, [6, 5], 2],
          [`?until=${daysAgo(6.5).toISOString()}`, [0], 1],
          ['?customer_ids=unknown', [], 0],
        ] as [string, number[], number][],
        ([query]) => query,
        async ([query, expectedIndexes, count]) => expect(await list(query)).toEqual([expectedIndexes, count]),
      );
      expect(await list(`?customer_ids=${customerId}&limit=1`, key)).toEqual([[6], 7]);
      expect(await list(`?customer_ids=${customerId}`, otherKey)).toEqual([[], 0]);
      expect(ok(await who.user.get<{ status: string }>(`/sync_runs/${ids[2]}`)).status).toBe('paused');
      expect(await otherKey.get(`/sync_runs/${ids[2]}`)).toMatchObject(refusal(404));
      expect((await who.user.get('/sync_runs?limit=1001')).status).toBe(422);
    });

    test('return their items by filters, page by page', async () => {
      const who = await createUser();
      const [runId] = await seedRuns(who, [
        { ...ENDED, outcome: 'finished', tally: { ...NO_TALLY, discovered: 3, ok: 1, failed: 2 } },
      ]);
      const ledgerItem = (fileId: number, fields: object) => ({
        ...{
          _id: `${String(runId).padStart(16, '0')}:${String(fileId).padStart(16, '0')}`,
          ...who.owner,
          runId,
          fileId,
        },
        ...{
          externalId: `e${fileId}`,
          name: null,
          stage: null,
          cause: null,
          message: null,
          bytes: 0,
          tokens: 0,
          reused: 0,
        },
        ...{ at: new Date(), expiresAt: new Date(Date.now() + DAY), ...fields },
      });
      await database
        .collection('ledger_items')
        .insertMany([
          ledgerItem(1, { outcome: 'ok' }),
          ledgerItem(2, { outcome: 'failed', stage: 'fetch', cause: 'not_found' }),
          ledgerItem(3, { outcome: 'failed', stage: 'read', cause: 'no_text' }),
        ] as never[]);
      interface Page {
        readonly results: { readonly id: string; readonly file_id: number; readonly sync_run_id: number }[];
        readonly next_cursor: string | null;
      }
      const items = async (query: string): Promise<Page> =>
        ok(await who.user.get<Page>(`/sync_runs/${runId}/items${query}`));
      const fileIds = async (query: string) => (await items(query)).results.map((item) => item.file_id);
      expect([await fileIds(''), (await items('')).next_cursor]).toEqual([[1, 2, 3], null]);
      expect(await fileIds('?outcomes=failed')).toEqual([2, 3]);
      expect(await fileIds('?stages=read')).toEqual([3]);
      expect(await fileIds('?causes=not_found')).toEqual([2]);
      const firstPage = await items('?limit=2');
      expect(firstPage.results.map((one) => one.file_id)).toEqual([1, 2]);
      expect(firstPage.next_cursor).toBe(firstPage.results[1]!.id);
      const secondPage = await items(`?limit=2&after=${firstPage.next_cursor}`);
      expect([secondPage.results.map((one) => one.file_id), secondPage.next_cursor]).toEqual([[3], null]);
      expect((await items('?limit=3')).next_cursor).toBeNull();
      expect(secondPage.results[0]).toMatchObject({
        sync_run_id: runId,
        workflow_id: expect.stringContaining(`resync:${runId}`),
      });
    });

    test('that are paused resume with a higher limit, or without a limit', async () => {
      const who = await createUser();
      const bound = { ...STARTED, maxTokens: 50, tokensTaken: 40, pause: pausedAt };
      const [pausedRun, otherPausedRun, running, ended] = await seedRuns(who, [
        bound,
        bound,
        STARTED,
        { ...ENDED, outcome: 'finished', pause: pausedAt },
      ]);
      const resume = (id: number, max_tokens: number | null, { user } = who) =>
        user.post(`/sync_runs/${id}/resume`, { max_tokens });
      for (const id of [running!, ended!]) expect(await resume(id, null)).toMatchObject(refusal(409));
      expect(await resume(pausedRun!, 100, await createUser())).toMatchObject(refusal(404));
      expect(await resume(pausedRun!, 40)).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ['body', 'max_tokens'] }] },
      });
      const rowOf = async (id: number) => (await who.runs()).find(({ _id }) => _id === id);
      expect(await rowOf(pausedRun!)).toMatchObject({ maxTokens: 50, pause: { resumedAt: null } });
      expect(ok(await resume(pausedRun!, 41))).toEqual({ id: pausedRun, max_tokens: 41, tokens_taken: 40 });
      // The run is already resumed, so the second request changes nothing.
      expect(ok(await resume(pausedRun!, 99))).toEqual({ id: pausedRun, max_tokens: 41, tokens_taken: 40 });
      expect(await rowOf(pausedRun!)).toMatchObject({ maxTokens: 41, pause: { resumedAt: expect.anything() } });
      expect(ok(await resume(otherPausedRun!, null))).toEqual({
        id: otherPausedRun,
        max_tokens: null,
        tokens_taken: 40,
      });
      await database.collection('runs').deleteMany({ _id: { $in: [pausedRun, otherPausedRun, running] as never[] } });
    });

    test('are retried for failed files, or for the files in the request', async () => {
      const who = await createUser();
      const [runId] = await seedRuns(who, [{ ...ENDED, outcome: 'finished', dataSourceId: 5 }]);
      const states = ['SYNC_ERROR', 'SYNC_ERROR', 'READY', 'SYNC_ABORTED', 'SYNCING'] as const;
      const ids = await who.seed(...states.map((syncStatus) => ({ fields: { syncStatus } })));
      const outcomes = ['failed', 'failed', 'failed', 'aborted', 'failed'];
      const prefix = String(runId).padStart(16, '0');
      await database.collection('ledger_items').insertMany([
        ...ids.map((fileId, index) => ({
          ...{ _id: `${prefix}:${String(fileId).padStart(16, '0')}`, ...who.owner, runId, fileId, externalId: 'e' },
          ...{
            outcome: outcomes[index],
            bytes: 0,
            tokens: 0,
            reused: 0,
            stage: 'fetch',
            cause: index === 0 ? 'not_found' : 'timed_out',
            at: new Date(),
          },
          expiresAt: new Date(Date.now() + DAY),
        })),
        {
          ...{
            _id: `${prefix}:xabc`,
            ...who.owner,
            runId,
            fileId: null,
            externalId: 'x',
            outcome: 'failed',
            bytes: 0,
            tokens: 0,
            reused: 0,
            at: new Date(),
          },
          expiresAt: new Date(Date.now() + DAY),
        },
      ] as never[]);
      await database
        .collection('runs')
        .updateOne({ _id: runId as never }, { $set: { tally: { ...NO_TALLY, discovered: 6, failed: 5, aborted: 1 } } });
      const retry = (body: object, { user } = who) =>
        user.post<{ queued: number; sync_run_id: number; has_more: boolean }>(`/sync_runs/${runId}/retry`, body);
      const stateOf = async (index: number) => (await who.files()).find(({ _id }) => _id === ids[index])!.syncStatus;
      expect(await retry({}, await createUser())).toMatchObject(refusal(404));
      expect(await retry({ file_ids: [2 ** 40] })).toMatchObject(refusal(404));
      expect(await retry({ file_ids: [ids[0], 2 ** 40] })).toMatchObject(refusal(404));
      expect(await retry({ item_ids: [`${prefix}:xabc`] })).toMatchObject(refusal(409));
      expect(await retry({ file_ids: [ids[4]] })).toMatchObject(refusal(409));
      expect(await retry({ file_ids: [ids[0]], outcomes: ['failed'] })).toMatchObject(refusal(422));
      expect(ok(await retry({ causes: ['not_found'] }))).toMatchObject({ queued: 1, has_more: false });
      expect(await Promise.all(ids.map((_, index) => stateOf(index)))).toEqual([
        ...['QUEUED_FOR_SYNC', 'SYNC_ERROR', 'READY', 'SYNC_ABORTED', 'SYNCING'],
      ]);
      // Without a selection, a retry queues only the failed files that have not become READY or been queued since. It
      // queues aborted files if `outcomes` contains them, and a READY file if the request has its id.
      const { sync_run_id: retryRunId, queued } = ok(await retry({}));
      expect(queued).toBe(1);
      const [run] = (await who.runs()).filter(({ _id }) => _id === retryRunId);
      expect(run).toMatchObject({
        ...{
          kind: 'resyncFile',
          cause: 'retry',
          workflowId: `retry:${retryRunId}`,
          dataSourceId: 5,
          request: { retryOf: runId },
        },
      });
      expect(await stateOf(1)).toBe('QUEUED_FOR_SYNC');
      expect(await retry({})).toMatchObject(refusal(409));
      expect(ok(await retry({ outcomes: ['aborted'] })).queued).toBe(1);
      expect(
        ok(await retry({ item_ids: [`${prefix}:${String(ids[2]).padStart(16, '0')}`], file_ids: [ids[2]] })).queued,
      ).toBe(1);
      expect(await stateOf(2)).toBe('QUEUED_FOR_SYNC');
    });
  });

  describe('vectors', () => {
    test('are re-embedded by a run, except in a dry run or above the token limit', async () => {
      const who = await createUser();
      const text = { texts: ['one', 'two'], fields: { hasText: true, statistics: { numTokens: 7 } as never } };
      await who.seed(text, { ...text, model: 'SOLAR_1_MINI' }, {});
      const reembed = (body: object) =>
        who.user.post<{ id: number | null }>('/files/reembed', { embedding_model: 'SOLAR_1_MINI', ...body });
      // 7 tokens of the text, and 20 tokens of overlap.
      const estimate = { files: 1, chunks: 2, tokens: 27, skipped: { no_vectors: 1, already_embedded: 1 } };
      expect(ok(await reembed({ dry_run: true, max_tokens: 1 }))).toMatchObject({
        id: null,
        dry_run: true,
        ...estimate,
      });
      expect(await reembed({ max_tokens: 26 })).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ['body', 'max_tokens'] }] },
      });
      expect(await who.runs()).toEqual([]);
      const { id, ...answer } = ok(await reembed({ max_tokens: 27, filters: { source: 'WEB_SCRAPE' } }));
      expect(answer).toMatchObject({ dry_run: false, embedding_model: 'SOLAR_1_MINI', ...estimate });
      expect(await who.runs()).toMatchObject([
        {
          ...{ _id: id, kind: 'reembedFiles', workflowId: `reembed:${id}`, fileId: null },
          request: { model: 'SOLAR_1_MINI', maxTokens: 27, filters: { sources: ['WEB_SCRAPE'] } },
        },
      ]);
    });

    test('are re-embedded by runs whose status is returned by id; rebuilds by the operator are hidden', async () => {
      const who = await createUser();
      const request = { filters: {}, model: 'OPENAI', maxTokens: null };
      const of = (fields: object) => ({ kind: 'reembedFiles', request, ...fields });
      // The second last run is a rebuild by the operator: its `model` is null. The last one is of another kind.
      const ids = await seedRuns(who, [
        of({}),
        of(STARTED),
        of({ ...ENDED, outcome: 'finished' }),
        of({ ...ENDED, outcome: 'failed' }),
        of({ ...ENDED, outcome: 'aborted' }),
        of({ ...ENDED, outcome: 'finished', request: { ...request, model: null } }),
        { ...ENDED, outcome: 'finished' },
      ]);
      const states: unknown[] = [];
      for (const id of ids) {
        const { status, body } = await who.user.get<{ status: string }>(`/files/reembed/${id}`);
        states.push(status === 200 ? body.status : status);
      }
      expect(states).toEqual(['QUEUED', 'RUNNING', 'FINISHED', 'FAILED', 'CANCELLED', 404, 404]);
    });

    test('of a few files get new cold storage settings without a run; moves between storages are runs', async () => {
      const who = await createUser();
      const [id] = await who.seed({}, { fields: { source: 'PDF' } });
      const modify = (body: object) => who.user.post('/modify_cold_storage_parameters', body);
      expect(ok(await modify({ filters: { ids: [id] }, enable_cold_storage: true, hot_storage_time_to_live: 9 }))).toBe(
        true,
      );
      expect(await who.files()).toMatchObject([
        { supportsColdStorage: true, hotStorageTimeToLive: 9 },
        { supportsColdStorage: false, hotStorageTimeToLive: null },
      ]);
      expect(await who.events()).toEqual([`EMBEDDING_STORAGE_MODIFIED ${id}`]);
      expect(await who.runs()).toEqual([]);
      // Disabling cold storage needs a run, because files in cold storage must be moved back.
      ok(await modify({ filters: { ids: [id] }, enable_cold_storage: false }));
      expect((await who.files())[0]).toMatchObject({ supportsColdStorage: false });
      ok(await who.user.post('/move_to_hot_storage', { filters: { source: 'PDF' } }));
      const [first, second] = await who.runs();
      expect(first).toMatchObject({
        ...{ kind: 'moveStorage', workflowId: `modify-storage:${first!._id}` },
        request: { move: 'modify', filters: { ids: [id] }, change: { enabled: false, days: null } },
        progress: { modifiedTo: Number.MAX_SAFE_INTEGER },
      });
      expect(second).toMatchObject({
        ...{ kind: 'moveStorage', workflowId: `move-to-hot:${second!._id}` },
        request: { move: 'toHot', filters: { sources: ['PDF'] } },
      });
    });
  });

  describe('chunks', () => {
    test('of one file are listed in either order, page by page', async () => {
      const who = await createUser();
      const texts = Array.from({ length: 7 }, (_, index) => `text ${index}`);
      const [id] = await who.seed({ texts }, { texts: ['other'] });
      const chunks = async (body: object, filters: object = {}): Promise<unknown[]> => {
        const request = { filters: { user_file_id: id, ...filters }, ...body };
        const { results, count } = ok(await who.user.post<Listed<{ chunk_index: number }>>('/text_chunks', request));
        return [results.map((chunk) => chunk.chunk_index).join(''), count];
      };
      const page = (limit: number, offset: number) => ({ pagination: { limit, offset } });
      await everyRow(
        [
          [{}, '0123456', 7],
          [{ order_dir: 'desc' }, '6543210', 7],
          [page(3, 2), '234', 7],
          [{ ...page(3, 2), order_dir: 'desc' }, '432', 7],
          [{ ...page(3, 5), order_dir: 'desc' }, '10', 7],
          [{ ...page(3, 7), order_dir: 'desc' }, '', 7],
          [{ pagination: { starting_id: id } }, '', 0],
        ] as [object, string, number][],
        ([body]) => JSON.stringify(body),
        async ([body, expectedIndexes, count]) => expect(await chunks(body)).toEqual([expectedIndexes, count]),
      );
      expect(await chunks({}, { embedding_model: 'OPENAI' })).toEqual(['0123456', 7]);
      expect(await chunks({}, { embedding_model: 'SOLAR_1_MINI' })).toEqual(['', 0]);
      const listed = ok(
        await who.user.post<Listed<{ source_content: string; embedding: number[] | null }>>(
          '/list_chunks_and_embeddings',
          {
            ...{ filters: {}, include_vectors: true, order_by: 'id', pagination: { limit: 2, offset: 6 } },
          },
        ),
      );
      expect(listed.results.map((chunk) => [chunk.source_content, chunk.embedding?.length])).toEqual([
        ['text 6', 384],
        ['other', 384],
      ]);
      expect(listed.count).toBe(8);
    });

    test('that a caller provides start a resync of each file, or of none if one file is invalid', async () => {
      const who = await createUser();
      const ids = await who.seed(
        {},
        { texts: ['existing'] },
        { fields: { syncStatus: 'SYNCING' } },
        { fields: { isContainer: true } },
      );
      const uploadChunks = (files: readonly (number | undefined)[], fields: object = {}) =>
        who.user.post('/upload_chunks_and_embeddings', {
          ...{ embedding_model: 'SOLAR_1_MINI', ...fields },
          chunks_and_embeddings: files.map((file_id) => ({
            ...{
              file_id,
              chunk_size: 90,
              chunk_overlap: 200,
              chunks_and_embeddings: [{ chunk_number: null, chunk: 'given' }],
            },
          })),
        });
      expect(await uploadChunks([ids[0], ids[1]])).toMatchObject(refusal(409));
      expect(await uploadChunks([ids[0], ids[2]])).toMatchObject(refusal(409));
      expect(await uploadChunks([ids[0], ids[3]])).toMatchObject(refusal(404));
      expect(await who.runs()).toEqual([]);
      expect(ok(await uploadChunks([ids[0], ids[1]], { overwrite_existing: true, chunks_only: true }))).toEqual({
        success: true,
      });
      const options = { embeddingModel: 'SOLAR_1_MINI', chunkSize: 90, chunkOverlap: 89, generateChunksOnly: true };
      const queuedFile = { syncStatus: 'QUEUED_FOR_SYNC', callerChunks: { size: expect.any(Number) }, options };
      expect((await who.files()).slice(0, 2)).toMatchObject([queuedFile, queuedFile]);
      expect((await who.runs()).map(({ kind, fileId }) => [kind, fileId])).toEqual([
        ['resyncFile', ids[0]],
        ['resyncFile', ids[1]],
      ]);
    });
  });

  test('contents of a file have links with the requested lifetime', async () => {
    const who = await createUser();
    const original = { id: 5, size: 1, sha256: 'x' };
    const ids = await who.seed(
      { fields: { hasContent: true, hasText: true, generation: 3 } },
      { fields: { original, hasContent: true } },
      {},
    );
    const list = async (body: object, path = '/user_files_v2') => {
      const request = { ...body, order_by: 'id', filters: { ids } };
      const answer = ok(await who.user.post<Listed<FileRecord> | FileRecord[]>(path, request));
      return Array.isArray(answer) ? answer : answer.results;
    };
    const linked = (links: readonly (string | null | undefined)[]) =>
      links.map((link) => link && new URL(link).pathname);
    const withBothLinks = { include_raw_file: true, include_parsed_text_file: true };
    for (const path of ['/user_files_v2', '/user_files']) {
      const files = await list(withBothLinks, path);
      expect(linked(files.map((file) => file.presigned_url))).toEqual([
        `/content/1/${ids[0]}/3.raw`,
        `/content/1/${ids[1]}/5.original`,
        null,
      ]);
      expect(linked(files.map((file) => file.parsed_text_url))).toEqual([`/content/1/${ids[0]}/3.txt`, null, null]);
      expect(files.map((file) => file.additional_presigned_urls)).toEqual([null, null, null]);
    }
    const [none] = await list({ include_additional_files: true });
    expect([none!.presigned_url, none!.parsed_text_url, none!.additional_presigned_urls]).toEqual([null, null, {}]);
    const lifetimeS = async (body: object) => {
      const [file] = await list({ include_raw_file: true, ...body });
      return Math.round(Number(new URL(file!.presigned_url!).searchParams.get('expires')) - Date.now() / 1000);
    };
    expect(Math.abs((await lifetimeS({})) - 3_600)).toBeLessThan(60);
    expect(Math.abs((await lifetimeS({ presigned_url_expiry_time_seconds: 604_800 })) - 604_800)).toBeLessThan(60);
    expect((await who.user.post('/user_files_v2', { presigned_url_expiry_time_seconds: 604_801 })).status).toBe(422);
    const link = (kind: string, id?: number) => who.user.get<{ presigned_url: string }>(`/${kind}_file/${id}`);
    expect(
      linked([ok(await link('raw', ids[1])).presigned_url, ok(await link('parsed', ids[0])).presigned_url]),
    ).toEqual([...[`/content/1/${ids[1]}/5.original`, `/content/1/${ids[0]}/3.txt`]]);
    expect(await link('parsed', ids[1])).toMatchObject(refusal(404));
    expect(await link('raw', ids[2])).toMatchObject(refusal(404));
  });

  test('each deleted user gets a run that erases the data of the user; unknown customer ids are skipped', async () => {
    const [ada, ben] = [await createUser(), await createUser()];
    const names = [ada, ben].map(({ owner }) => owner.customerId);
    expect(ok(await otherKey.post('/delete_users', { customer_ids: names }))).toEqual({ success: true });
    expect(await ada.runs()).toEqual([]);
    expect(ok(await key.post('/delete_users', { customer_ids: [...names, 'unknown'] }))).toEqual({ success: true });
    for (const { owner, runs, user } of [ada, ben]) {
      expect(await runs()).toMatchObject([{ ...owner, kind: 'deleteUser', workflowId: `delete-user:${owner.userId}` }]);
      expect((await user.get('/whoami')).status).toBe(401);
    }
  });

  test('a browser stays signed in to the operators page of its organization until it signs out', async () => {
    const base = key.baseUrl;
    const form = (path: string, body: string, headers: Record<string, string> = {}) =>
      fetch(`${base}${path}`, {
        ...{ method: 'POST', body, redirect: 'manual' },
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      });
    const open = async (cookie: string, path = '/ops'): Promise<[number, string]> => {
      const answer = await fetch(`${base}${path}`, { headers: { cookie } });
      return [answer.status, await answer.text()];
    };
    expect((await form('/ops/sign_in', 'api_key=none')).status).toBe(401);
    expect((await form('/ops/sign_in', 'api_key=')).status).toBe(401);
    expect((await form('/ops/sign_in', 'api_key=none', { origin: 'https://evil.example' })).status).toBe(403);
    const signed = await form('/ops/sign_in', `api_key=+${encodeURIComponent(secondOrganization.apiKey)}+`);
    expect([signed.status, signed.headers.get('location')]).toEqual([303, '/ops']);
    const cookie = (signed.headers.get('set-cookie') ?? '').split(';')[0]!;
    const [status, page] = await open(cookie);
    expect([status, page.includes('other')]).toEqual([200, true]);
    expect((await open(cookie, '/ops/files?cause=not_found'))[0]).toBe(200);
    expect((await open('', '/ops/files'))[0]).toBe(401);
    expect((await form('/ops/sign_out', '', { cookie })).status).toBe(303);
    expect((await open(cookie))[0]).toBe(401);
  });
}
