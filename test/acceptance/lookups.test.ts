import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import { KEY, type LookupEmulator, startLookups } from '../emulators/lookups.js';
import type { TestUser } from '../support/client.js';
import { answerFault } from '../support/contract.js';
import { startService, type TestService } from '../support/service.js';
import { type SharedService, sharedService } from '../support/sharedService.js';

/** Id of a video with a transcript. */
const VIDEO = 'dQw4w9WgXcQ';
const LINES = [
  { text: 'Boats & ropes', start: 1.36, duration: 1.68 },
  { text: 'rest in the harbour.', start: 61, duration: 3 },
];
const NOTHING = { status: 'error', data: null, raw_transcript: null };

let service: TestService;
let unconfigured: SharedService;
let emulator: LookupEmulator;
let user: TestUser;
const logged: string[] = [];

beforeAll(async () => {
  emulator = await startLookups();
  const settings = {
    ...emulator.settings('brave', 'supadata'),
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    LOG_LEVEL: 'debug',
  };
  service = await startService(settings, { worker: false, logTo: { write: (line) => void logged.push(line) } });
  unconfigured = await sharedService({ worker: false });
  user = await service.user('una');
});
beforeEach(() => {
  emulator.reset();
  emulator.videos.clear();
  emulator.videos.set(VIDEO, { lines: LINES });
  emulator.pages.set('https://example.org/fern', 'The red fern');
});
afterAll(async () => {
  await Promise.all([service.close(), unconfigured.close()]);
  await emulator.close();
});

/** Sends a request, and expects an answer that matches our OpenAPI document and that of Carbon's hosted service. */
async function get(path: '/search_urls' | '/fetch_youtube_transcript', query: Record<string, string>, caller = user) {
  const { status, body, headers } = await caller.get(`${path}?${new URLSearchParams(query).toString()}`);
  const faults = (['ours', 'theirs'] as const).map((name) => answerFault(name, { method: 'get', path, status }, body));
  expect(faults).toEqual([null, null]);
  return { status, body, retryAfter: headers.get('retry-after') };
}

describe('GET /search_urls', () => {
  test('returns the found URLs', async () => {
    expect(await get('/search_urls', { query: '  red fern ' })).toMatchObject({
      status: 200,
      body: { urls: ['https://example.org/fern'], html_content: '', error_message: null },
    });
    expect(emulator.requests).toEqual([expect.stringContaining('q=red+fern&')]);
    expect((await get('/search_urls', { query: 'zeppelin' })).body).toMatchObject({ urls: [], error_message: null });
  });
  test.each<[string, Record<string, string>, string]>([
    ['missing', {}, 'missing'],
    ['empty', { query: ' ' }, 'string_too_short'],
    ['of 401 characters', { query: 'a'.repeat(401) }, 'string_too_long'],
    ['of 51 words', { query: 'a '.repeat(51) }, 'value_error'],
  ])('refuses a query: %s', async (_what, query, type) => {
    expect(await get('/search_urls', query)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['query', 'query'], type }] },
    });
    expect(emulator.requests).toEqual([]);
  });
  test('sends the longest accepted query to the search service', async () => {
    const query = `${'fern '.repeat(49)}${'f'.repeat(155)}`;
    expect([query.length, query.split(' ').length]).toEqual([400, 50]);
    expect((await get('/search_urls', { query })).status).toBe(200);
  });
});

describe('GET /fetch_youtube_transcript', () => {
  test('returns the transcript as text, and with raw also its lines', async () => {
    const data = 'Boats & ropes rest in the harbour.';
    expect(await get('/fetch_youtube_transcript', { id: VIDEO })).toMatchObject({
      status: 200,
      body: { status: 'success', error: null, data, raw_transcript: null },
    });
    const raw = { status: 200, body: { status: 'success', error: null, data, raw_transcript: LINES } };
    expect(await get('/fetch_youtube_transcript', { id: VIDEO, raw: 'true' })).toMatchObject(raw);
    // Existing front-ends send video_id.
    expect(await get('/fetch_youtube_transcript', { video_id: VIDEO, raw: 'true' })).toMatchObject(raw);
  });
  test('answers 200 with an error text if there is no transcript or no video', async () => {
    emulator.videos.set(VIDEO, { lines: null });
    const noTranscript = { status: 200, body: { ...NOTHING, error: 'The video has no transcript.' } };
    expect(await get('/fetch_youtube_transcript', { id: VIDEO })).toMatchObject(noTranscript);
    emulator.videos.clear();
    const unknown = { status: 200, body: { ...NOTHING, error: expect.stringContaining('no such video') } };
    expect(await get('/fetch_youtube_transcript', { id: VIDEO })).toMatchObject(unknown);
  });
  test.each<[string, Record<string, string>, string, string]>([
    ['without an id', {}, 'id', 'missing'],
    ['with a URL', { id: `https://youtu.be/${VIDEO}` }, 'id', 'value_error'],
    ['with a path', { id: '../../me/abc' }, 'id', 'value_error'],
    ['with one character too many', { video_id: `${VIDEO}x` }, 'id', 'value_error'],
    ['with an invalid raw', { id: VIDEO, raw: 'perhaps' }, 'raw', 'bool_type'],
  ])('refuses a request %s, and sends none to the transcript service', async (_what, query, field, type) => {
    expect(await get('/fetch_youtube_transcript', query)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['query', field], type }] },
    });
    expect(emulator.requests).toEqual([]);
  });
});

describe.each([
  ['/search_urls', { query: 'fern' }, 'BRAVE_SEARCH_API_KEY or SEARXNG_BASE_URL'],
  ['/fetch_youtube_transcript', { id: VIDEO }, 'SUPADATA_API_KEY or INVIDIOUS_BASE_URL'],
] as const)('%s', (path, query, settings) => {
  test('answers 400 with the settings if no service is configured', async () => {
    expect(await get(path, query, await unconfigured.user('una'))).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining(settings) },
    });
  });
  test('answers 503 with Retry-After for a busy service and 502 for a refusal, and never exposes or logs the key', async () => {
    emulator.injectFault(() => ({ status: 429, headers: { 'retry-after': '7' }, body: `{"error":"${KEY}"}` }));
    const busy = await get(path, query);
    expect(busy).toMatchObject({ status: 503, retryAfter: '7' });
    emulator.injectFault(() => ({ status: 401 }));
    const refused = await get(path, query);
    expect(refused.status).toBe(502);
    expect(JSON.stringify([busy.body, refused.body]) + logged.join('')).not.toContain(KEY);
  });
  test('requires an end user', async () => {
    const answer = await fetch(`${service.url}${path}?${new URLSearchParams(query).toString()}`);
    expect(answer.status).toBe(401);
  });
});
