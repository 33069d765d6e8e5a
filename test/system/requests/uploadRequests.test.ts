import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { FileRecord } from '../../../contract/files/records.js';
import { type Site, startSite } from '../../emulators/site.js';
import { readStoredState } from '../../support/storedState.js';
import { type ApiClient, apiClient, type TestUser } from '../../support/client.js';
import { startService, type TestService } from '../../support/service.js';
import { waitFor } from '../../support/waitFor.js';

const MAX_UPLOAD_BYTES = 300_000;
let service: TestService;
let site: Site;
let user: TestUser;
let organization: ApiClient;

beforeAll(async () => {
  site = await startSite();
  service = await startService({
    ALLOWED_PRIVATE_HOSTS: site.host,
    MAX_UPLOAD_BYTES: String(MAX_UPLOAD_BYTES),
    CONTENT_ROW_BYTES: '1000',
  });
  user = await service.user('rio');
  organization = apiClient(service.url, { authorization: `Bearer ${service.apiKey}` });
});
afterAll(async () => {
  await service.close();
  await site.close();
});

const BOUNDARY = 'a-boundary';
const HEAD = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="big.txt"\r\n\r\n`;

/** Opens a request with a form whose body the test writes piece by piece. */
function openRequest(headers: Record<string, string> = {}) {
  const call = httpRequest(`${service.url}/uploadfile?skip_embedding_generation=true`, {
    method: 'POST',
    headers: {
      authorization: `Token ${user.token}`,
      'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
      ...headers,
    },
  });
  call.on('error', () => undefined);
  const answer = once(call, 'response').then(async ([response]) => {
    let text = '';
    for await (const part of response) text += String(part);
    return { status: response.statusCode as number, body: JSON.parse(text) as { detail: unknown } };
  });
  answer.catch(() => undefined);
  return { call, answer };
}

/** Returns the names of the uploaded contents in file storage. */
const storedNames = async (): Promise<string[]> =>
  readdir(path.join(service.env['DATA_DIR'] ?? '', 'files', '1', 'originals')).catch(() => []);
const files = async (): Promise<number> =>
  (await user.post<{ count: number }>('/user_files_v2', { pagination: { limit: 1 } })).body.count;
const expectConsistent = async (): Promise<void> =>
  expect((await readStoredState(service.env)).findInconsistencies()).toEqual([]);

describe('an uploaded file', () => {
  test('above MAX_UPLOAD_BYTES is refused with 413 before it is sent when its length is declared', async () => {
    const { call, answer } = openRequest({ 'content-length': '5000000000' });
    call.write(HEAD);
    expect(await answer).toMatchObject({ status: 413, body: { detail: expect.stringContaining('MAX_UPLOAD_BYTES') } });
    call.destroy();
  });

  test('above MAX_UPLOAD_BYTES is refused with 413 as soon as it is too long, and not stored', async () => {
    const before = [await files(), await storedNames()];
    const { call, answer } = openRequest();
    call.write(HEAD);
    for (let sent = 0; sent <= MAX_UPLOAD_BYTES + 100_000; sent += 50_000) call.write('x'.repeat(50_000));
    expect(await answer).toMatchObject({ status: 413 });
    call.destroy();
    expect([await files(), await storedNames()]).toEqual(before);
  });

  test('of exactly MAX_UPLOAD_BYTES is accepted', async () => {
    const file = await user.send(
      { name: 'full.txt', content: 'x'.repeat(MAX_UPLOAD_BYTES) },
      { store_file_only: true },
    );
    expect(await user.settled(file.id)).toMatchObject({
      sync_status: 'READY',
      file_statistics: { file_size: MAX_UPLOAD_BYTES },
    });
  });
});

test('deletes the stored part of an interrupted upload', async () => {
  const [filesBefore, storedBefore] = [await files(), await storedNames()];
  const { call } = openRequest();
  call.write(HEAD + 'x'.repeat(100_000));
  await waitFor(storedNames, (names) => names.length > storedBefore.length);
  call.destroy();
  await waitFor(storedNames, (names) => names.length === storedBefore.length);
  expect([await files(), await storedNames()]).toEqual([filesBefore, storedBefore]);
  await expectConsistent();
});

test('deletes the partial upload of a killed receiver, but not an upload in progress', async () => {
  const account = await service.store.users.ensure(1, 'rio');
  const before = await storedNames();
  async function* endless(): AsyncIterable<Uint8Array> {
    yield Buffer.alloc(5_000, 1);
    await new Promise(() => undefined);
  }
  // This upload never ends, like an upload that a killed process was receiving.
  void service.store.originals.receive(account, endless());
  await waitFor(storedNames, (names) => names.length === before.length + 1);
  expect(await service.store.originals.sweep()).toBe(0);
  expect(await service.store.originals.sweep(Date.now() + 10 * 60_000)).toBe(1);
  expect(await storedNames()).toEqual(before);
});

describe('an invalid request', () => {
  test.each([
    ['JSON', { 'content-type': 'application/json' }, '{}', 422],
    ['no boundary', { 'content-type': 'multipart/form-data' }, HEAD, 422],
    [
      'a form without the file',
      {},
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="x"\r\n\r\n1\r\n--${BOUNDARY}--\r\n`,
      422,
    ],
    ['a truncated form', {}, `${HEAD}some text`, 400],
    ['a body that is not a form', {}, 'just some text', 400],
    ['a compressed form', { 'content-encoding': 'gzip' }, 'x', 415],
  ])('is refused: %s', async (_what, headers, sent, status) => {
    const before = await files();
    const { call, answer } = openRequest(headers);
    call.end(sent);
    const response = await answer;
    expect(response).toMatchObject({ status });
    if (status === 422) expect(response.body.detail).toMatchObject([{ loc: ['body', 'file'], type: 'missing' }]);
    expect(await files()).toBe(before);
  });

  test.each([
    ['chunk_size', '0'],
    ['chunk_overlap', '1500'],
    ['embedding_model', 'NONE'],
    ['max_items_per_chunk', '0'],
    ['max_items_per_chunk', '-1'],
    ['transcription_service', 'whisper'],
    ['media_type', 'SMELL'],
    ['hot_storage_time_to_live', '0'],
    ['use_ocr', 'perhaps'],
  ])('is refused with 422, and no file is kept: ?%s=%s', async (name, value) => {
    const before = [await files(), await storedNames()];
    const { status, body } = await user.upload({ name: 'a.txt', content: 'x'.repeat(5_000) }, { [name]: value });
    expect({ status, body }).toMatchObject({ status: 422, body: { detail: [{ loc: ['query', name] }] } });
    expect([await files(), await storedNames()]).toEqual(before);
  });

  test('is refused with 401 without credentials', async () => {
    const form = new FormData();
    form.set('file', new Blob(['some text']), 'a.txt');
    expect((await fetch(`${service.url}/uploadfile`, { method: 'POST', body: form })).status).toBe(401);
  });
});

test('stores all options of an upload on its record, and applies them to its chunks', async () => {
  const file = await user.send(
    { name: 'all.txt', content: 'Some text of a few words, repeated many times. '.repeat(20) },
    {
      chunk_size: 60,
      chunk_overlap: 5,
      skip_embedding_generation: true,
      set_page_as_boundary: true,
      embedding_model: 'COHERE_MULTILINGUAL_V3',
      use_ocr: true,
      parse_pdf_tables_with_ocr: true,
      generate_sparse_vectors: true,
      prepend_filename_to_chunks: true,
      max_items_per_chunk: 3,
      detect_audio_language: true,
      transcription_service: 'assemblyai',
      include_speaker_labels: true,
      media_type: 'TEXT',
      split_rows: true,
      enable_cold_storage: true,
      hot_storage_time_to_live: 7,
    },
  );
  const settled = await user.settled(file.id);
  for (const record of [file, settled])
    expect(record).toMatchObject({
      chunk_size: 60,
      chunk_overlap: 5,
      skip_embedding_generation: true,
      generate_sparse_vectors: true,
      supports_cold_storage: true,
      hot_storage_time_to_live: 7,
      embedding_storage_status: 'HOT_STORAGE',
      ocr_properties: { use_ocr: true, parse_pdf_tables_with_ocr: true },
      chunk_properties: { set_page_as_boundary: true, prepend_filename_to_chunks: true, max_items_per_chunk: 3 },
      embedding_properties: { COHERE_MULTILINGUAL_V3: { chunk_size: 60, chunk_overlap: 5 } },
    });
  const { results } = await user.chunks({ ids: [file.id] });
  expect(results.length).toBeGreaterThan(1);
  for (const chunk of results) expect(chunk.source_content).toMatch(/^all\.txt/);
  const account = await service.store.users.ensure(1, 'rio');
  const [doc] = await service.store.files.byIds(account, [file.id]);
  expect(doc?.options).toMatchObject({
    useOcr: true,
    parsePdfTablesWithOcr: true,
    detectAudioLanguage: true,
    transcriptionService: 'assemblyai',
    includeSpeakerLabels: true,
    mediaType: 'TEXT',
    splitRows: true,
  });
  const plain = await user.send({ name: 'b.txt', content: 'Some text.' }, { hot_storage_time_to_live: 7 });
  expect(plain).toMatchObject({ supports_cold_storage: false, hot_storage_time_to_live: null, ocr_properties: {} });
  await user.settled(plain.id);
});

describe('an Idempotency-Key', () => {
  const key = (name: string) => ({ 'idempotency-key': name });
  const send = (name: string, content: string, file = 'same.txt') =>
    user.upload({ name: file, content }, { skip_embedding_generation: true }, key(name));
  const LONG = 'A text in file storage. '.repeat(100);

  test('creates one file from two uploads with different multipart boundaries, and keeps one copy of the content', async () => {
    const first = await send('twice', LONG);
    const before = [await files(), await storedNames()] as const;
    const second = await send('twice', LONG);
    expect(second).toMatchObject({ status: 200, body: first.body });
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    // When the API answers the second upload, it may not have deleted its content yet.
    await waitFor(
      async () => (await storedNames()).length,
      (count) => count === before[1].length,
    );
    expect([await files(), await storedNames()]).toEqual(before);
    await user.settled(first.body.id);
  });

  test('is refused with 422 for another content, name or option', async () => {
    const { body } = await send('other', LONG);
    const before = [await files(), await storedNames()];
    expect((await send('other', `${LONG}!`)).status).toBe(422);
    expect((await send('other', LONG, 'other.txt')).status).toBe(422);
    expect((await user.upload({ name: 'same.txt', content: LONG }, {}, key('other'))).status).toBe(422);
    expect([await files(), await storedNames()]).toEqual(before);
    await user.settled(body.id);
  });

  test('creates one file from ten concurrent uploads', async () => {
    const before = await files();
    const answers = await Promise.all(Array.from({ length: 10 }, () => send('ten', LONG)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(
      new Set(answers.some(({ status }) => status === 409) ? [200, 409] : [200]),
    );
    expect(await files()).toBe(before + 1);
    await user.settled(answers.find(({ status }) => status === 200)!.body.id);
    await expectConsistent();
  });

  test('also applies to /upload_text and /upload_file_from_url', async () => {
    site.pages.set('/once.txt', { type: 'text/plain', body: 'Some text.' });
    const calls = [
      ['/upload_text', { contents: 'Some text.', skip_embedding_generation: true }],
      ['/upload_file_from_url', { url: site.url('/once.txt'), skip_embedding_generation: true }],
    ] as const;
    for (const [address, body] of calls) {
      const first = await user.post<FileRecord>(address, body, key('kinds'));
      const second = await user.post<FileRecord>(address, body, key('kinds'));
      expect(second).toMatchObject({ status: 200, body: first.body });
      await user.settled(first.body.id);
    }
  });
});

describe('a limit of the user', () => {
  const limit = (limits: Record<string, number>) =>
    organization.post('/update_users', { customer_ids: ['lim'], ...limits });
  let limitedUser: TestUser;
  const send = (content = 'Some text of thirty letters.') =>
    limitedUser.upload({ name: 'a.txt', content }, { skip_embedding_generation: true });
  beforeAll(async () => {
    limitedUser = await service.user('lim');
  });

  test('on files delays an upload above it, which can be cancelled', async () => {
    await limit({ max_files: 1 });
    const first = (await send()).body;
    await limitedUser.settled(first.id);
    const second = (await send()).body;
    await waitFor(
      () => limitedUser.file(second.id),
      (file) => file.sync_status === 'DELAYED',
    );
    expect((await limitedUser.post('/cancel_sync', { file_id: second.id })).status).toBe(200);
    expect(await limitedUser.settled(second.id)).toMatchObject({ sync_status: 'SYNC_ABORTED' });
    await limit({ max_files: -1 });
  });

  test('on characters fails a file that is too long', async () => {
    await limit({ max_characters_per_file: 10 });
    const { body } = await send();
    expect(await limitedUser.settled(body.id)).toMatchObject({
      sync_status: 'SYNC_ERROR',
      sync_error_message: expect.stringContaining('max_characters_per_file'),
    });
    await limit({ max_characters_per_file: -1 });
  });

  test('on files per upload refuses an upload when it is zero', async () => {
    await limit({ max_files_per_upload: 0 });
    expect(await send()).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('max_files_per_upload') },
    });
    await limit({ max_files_per_upload: -1 });
  });
});

describe('/upload_text', () => {
  const post = (body: Record<string, unknown>) =>
    user.post<FileRecord>('/upload_text', { skip_embedding_generation: true, ...body });

  test('stores plain text as text, even when it looks like HTML', async () => {
    const contents = '<html><body>Not a page, just text.</body></html>';
    const { body } = await post({
      contents,
      name: 'note',
      cold_storage_params: { enable_cold_storage: true, hot_storage_time_to_live: 3 },
    });
    expect(body).toMatchObject({
      source: 'RAW_TEXT',
      name: 'note',
      supports_cold_storage: true,
      hot_storage_time_to_live: 3,
    });
    expect(await user.settled(body.id)).toMatchObject({
      sync_status: 'READY',
      source: 'RAW_TEXT',
      file_statistics: { file_format: 'TXT', mime_type: 'text/plain', num_characters: contents.length },
    });
    expect((await user.chunks({ ids: [body.id] })).results[0]?.source_content).toBe(contents);
  });

  test('accepts five characters and no fewer', async () => {
    expect(await post({ contents: '1234' })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'contents'] }] },
    });
    const { status, body } = await post({ contents: '12345' });
    expect(status).toBe(200);
    expect(body.name).toBeNull();
    await user.settled(body.id);
  });

  test('overwrites another text: the record is kept, and the old text is deleted', async () => {
    const { body: first } = await post({ contents: `The first text. ${'It is long. '.repeat(200)}`, name: 'one' });
    await user.settled(first.id);
    await user.post('/create_user_file_tags', { organization_user_file_id: first.id, tags: { kept: 'yes' } });
    const before = await storedNames();
    const { status, body } = await post({ contents: 'The second text.', overwrite_file_id: first.id });
    expect({ status, id: body.id }).toEqual({ status: 200, id: first.id });
    expect(await user.settled(first.id)).toMatchObject({ sync_status: 'READY', name: 'one', tags: { kept: 'yes' } });
    const { results, count } = await user.chunks({ ids: [first.id] });
    expect({ count, text: results[0]?.source_content }).toEqual({ count: 1, text: 'The second text.' });
    // The service's own periodic sweep may be the one that deletes it, so the count of this sweep may be 0.
    await service.store.originals.sweep();
    await waitFor(storedNames, (names) => names.length === before.length - 1);
    await expectConsistent();
  });

  test('does not overwrite a file of another kind', async () => {
    const other = await user.send({ name: 'a.txt', content: 'Some text.' }, { store_file_only: true });
    await user.settled(other.id);
    expect((await post({ contents: 'Another text.', overwrite_file_id: other.id })).status).toBe(400);
    expect((await post({ contents: 'Another text.', overwrite_file_id: 2 ** 40 })).status).toBe(404);
  });
});

describe('/upload_file_from_url', () => {
  const post = (body: Record<string, unknown>) =>
    user.post<FileRecord>('/upload_file_from_url', { skip_embedding_generation: true, ...body });

  test('answers immediately; the file is fetched once, and stored like an uploaded file', async () => {
    const content = '# Fetched\n\nOtters everywhere. '.repeat(100);
    site.pages.set('/files/paper', {
      type: 'application/octet-stream',
      headers: { 'content-disposition': `attachment; filename="../../paper one.md"` },
      body: content,
    });
    const { status, body } = await post({ url: site.url('/files/paper') });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { name: 'paper', external_url: site.url('/files/paper') },
    });
    const file = await user.settled(body.id);
    expect(file).toMatchObject({
      sync_status: 'READY',
      source: 'MD',
      name: 'paper one.md',
      file_statistics: { file_format: 'MD', file_size: content.length },
    });
    await user.post('/resync_file', { file_id: file.id, chunk_size: 50 });
    expect(await user.settled(file.id)).toMatchObject({ sync_status: 'READY', chunk_size: 50 });
    expect(site.requests.filter((one) => one === '/files/paper')).toHaveLength(1);
    const { body: raw } = await user.get<{ presigned_url: string }>(`/raw_file/${file.id}`);
    expect(await (await fetch(raw.presigned_url)).text()).toBe(content);
  });

  test('prefers file_name to the name in the address', async () => {
    site.pages.set('/x', { type: 'text/plain', body: 'a,b,c\n1,2,3\n4,5,6\n' });
    const { body } = await post({ url: site.url('/x'), file_name: 'numbers.csv', store_file_only: true });
    expect(await user.settled(body.id)).toMatchObject({ sync_status: 'READY', source: 'CSV', name: 'numbers.csv' });
  });

  test.each([
    ['a missing file', '/missing.pdf', /does not exist/],
    ['a file larger than the setting allows', '/big.txt', /larger than/],
    ['an unreadable file', '/things.zip', /ZIP/],
  ])('ends in SYNC_ERROR, without stored content, for %s', async (_what, address, sentence) => {
    site.pages.set('/big.txt', { type: 'text/plain', body: 'x'.repeat(MAX_UPLOAD_BYTES + 1) });
    site.pages.set('/things.zip', { type: 'application/zip', body: 'PK\u0003\u0004\u0000\u0000\u0000things.bin' });
    const { body } = await post({ url: site.url(address) });
    const file = await user.settled(body.id);
    expect(file).toMatchObject({ sync_status: 'SYNC_ERROR', sync_error_message: expect.stringMatching(sentence) });
    await expectConsistent();
  });

  test('refuses a private address with 422, and sends no request to a name that resolves to one', async () => {
    const privateSite = await startSite({ '/secret.txt': 'Secret.' });
    expect((await post({ url: privateSite.url('/secret.txt') })).status).toBe(422);
    const { body } = await post({ url: privateSite.url('/secret.txt').replace('127.0.0.1', 'localhost') });
    expect(await user.settled(body.id)).toMatchObject({
      sync_status: 'SYNC_ERROR',
      sync_error_message: expect.stringContaining('ALLOWED_PRIVATE_HOSTS'),
    });
    expect(privateSite.requests).toEqual([]);
    await privateSite.close();
  });

  test.each(['ftp://example.com/a.txt', 'http://me:secret@example.com/a.txt', 'not an address'])(
    'refuses the address %s with 422',
    async (url) => {
      expect(await post({ url })).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'url'] }] } });
    },
  );
});

test('emits the events of an upload from its creation to its end', async () => {
  const file = await user.send({ name: 'notes.txt', content: 'Some text.' }, { skip_embedding_generation: true });
  const broken = await user.send({ name: 'broken.txt', content: '' });
  await Promise.all([user.settled(file.id), user.settled(broken.id)]);
  const kinds = async (record: FileRecord): Promise<string[]> => {
    const { body } = await organization.get<{ results: { webhook_type: string }[] }>('/events?limit=1000');
    return body.results
      .filter((event) => {
        const text = JSON.stringify(event);
        return text.includes(`"${record.id}"`) || text.includes(record.upload_id ?? 'none');
      })
      .map((event) => event.webhook_type);
  };
  const ends = (kindsOfEvents: readonly string[]) => kindsOfEvents.includes('ALL_FILES_PROCESSED');
  expect((await waitFor(() => kinds(file), ends)).toSorted()).toEqual(
    ['FILES_CREATED', 'ALL_UPLOADED_FILES_QUEUED', 'FILE_SYNCING', 'FILE_READY', 'ALL_FILES_PROCESSED'].toSorted(),
  );
  expect(await waitFor(() => kinds(broken), ends)).toEqual(expect.arrayContaining(['FILES_CREATED', 'FILE_ERROR']));
});
