import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';

import { loadConfig } from '../../../config/config.js';
import { createEgress } from '../../../egress/createEgress.js';
import { createLookups } from '../../../providers/lookups/registry.js';
import { createServiceClient } from '../../../providers/lookups/serviceClient.js';
import type { Lookups } from '../../../providers/lookups/types.js';
import {
  KEY,
  type LookupEmulator,
  type LookupName,
  type LookupRefusal,
  startLookups,
} from '../../emulators/lookups.js';
import { everyRow } from '../../support/everyRow.js';
import { faultOf } from '../../support/faultOf.js';
import { waitFor } from '../../support/waitFor.js';

const TIMEOUT_MS = 60_000;
const VIDEO = 'dQw4w9WgXcQ';
const LINES = [
  { text: 'Boats & ropes', start: 1.36, duration: 1.68 },
  { text: 'lie in the harbour.', start: 3661.25, duration: 3 },
];

let emulator: LookupEmulator;
let egress: ReturnType<typeof createEgress>;

const configured = (settings: Record<string, string>) =>
  loadConfig({ SECRET_KEY: `k1:${Buffer.alloc(32).toString('base64')}`, DATA_DIR: '/nowhere', ...settings });
const lookups = (settings: Record<string, string>, timeoutMs = TIMEOUT_MS): Lookups =>
  createLookups(configured({ ...settings, LOOKUP_TIMEOUT_MS: String(timeoutMs) }).lookups, egress);

beforeAll(async () => {
  emulator = await startLookups();
  egress = createEgress(configured({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' }).embedding.egress);
});
/** Resets the emulated services to their default content without faults. */
function resetEmulator(): void {
  emulator.reset();
  emulator.pages.clear();
  emulator.videos.clear();
  emulator.unresponsive.length = 0;
  emulator.allowsJson = true;
  emulator.pages.set('https://example.org/fern', 'The red fern').set('https://example.org/moss', 'Moss and fern');
  emulator.videos.set(VIDEO, { lines: LINES });
}
beforeEach(resetEmulator);
afterAll(() => Promise.all([egress.close(), emulator.close()]));

const lookUp = (name: LookupName, query?: string, timeoutMs?: number, signal?: AbortSignal): Promise<unknown> => {
  const services = lookups(emulator.settings(name), timeoutMs);
  return name === 'brave' || name === 'searxng'
    ? services.webSearch().search(query ?? 'fern', signal)
    : services.videoTranscripts().transcript(query ?? VIDEO, signal);
};

/** Checks a rule for each service, or for each service and row of a table, with the default content. */
const eachOf = <Name extends LookupName>(names: readonly Name[], rule: (name: Name) => unknown) =>
  everyRow(names, String, (name) => {
    resetEmulator();
    return rule(name);
  });
const eachRowOf = <Name extends LookupName, R extends readonly [string, ...unknown[]]>(
  names: readonly Name[],
  rows: readonly R[],
  rule: (name: Name, row: R) => unknown,
) =>
  everyRow(
    names.flatMap((name) => rows.map((row) => ({ name, row }))),
    ({ name, row: [title] }) => `${name}: ${title}`,
    ({ name, row }) => {
      resetEmulator();
      return rule(name, row);
    },
  );
const SEARCHES = ['brave', 'searxng'] as const;
const TRANSCRIPTS = ['supadata', 'invidious'] as const;
const ALL = [...SEARCHES, ...TRANSCRIPTS];

describe('a web search', () => {
  test('returns the URLs of pages, each once', () =>
    eachOf(SEARCHES, async (name) => {
      emulator.pages.set('HTTPS://EXAMPLE.org/fern#top', 'fern').set('javascript:alert(1)', 'fern');
      emulator.pages.set('https://a:b@example.org/', 'fern').set('ftp://example.org/', 'fern');
      expect(await lookUp(name)).toEqual(['https://example.org/fern', 'https://example.org/moss']);
      expect(emulator.requests).toHaveLength(1);
    }));
  test('returns an empty list if no page matches', () =>
    eachOf(SEARCHES, async (name) => {
      expect(await lookUp(name, 'zeppelin')).toEqual([]);
    }));
  test('encodes reserved characters of the query', () =>
    eachOf(SEARCHES, async (name) => {
      emulator.pages.set('https://example.org/odd', 'a&b=c#d');
      expect(await lookUp(name, 'a&b=c#d')).toEqual(['https://example.org/odd']);
    }));
  const WRONG_RESULTS: readonly (readonly [string, string])[] = [
    ['an unrelated object', '{"a":1}'],
    ['a list', '[]'],
    ['null', 'null'],
    ['results that are not a list', '{"type":"search","web":{"results":{}},"results":5}'],
  ];
  test('rejects an invalid response', () =>
    eachRowOf(SEARCHES, WRONG_RESULTS, async (name, [, body]) => {
      emulator.injectFault(() => ({ status: 200, body }));
      expect((await faultOf(lookUp(name))).message).toMatch(/invalid response.*_BASE_URL/);
    }));
  test('returns at most 100 URLs, the best first, even if the service returns more', () =>
    eachOf(SEARCHES, async (name) => {
      const urls = Array.from({ length: 101 }, (_, at) => `https://example.org/fern/${at}`);
      const results = JSON.stringify(urls.map((url) => ({ url })));
      const body = `{"type":"search","web":{"results":${results}},"results":${results}}`;
      emulator.injectFault(() => ({ status: 200, body }));
      expect(await lookUp(name)).toEqual(urls.slice(0, 100));
      emulator.reset();
      for (const url of urls) emulator.pages.set(url, 'zeppelin');
      // Brave returns at most 20 results, and SearXNG as many as its engines find.
      expect(await lookUp(name, 'zeppelin')).toEqual(urls.slice(0, name === 'brave' ? 20 : 100));
    }));
  test('omits invalid results', () =>
    eachOf(SEARCHES, async (name) => {
      const results = '[null,5,{"url":7},{"url":"https://example.org/fern"}]';
      emulator.injectFault(() => ({
        status: 200,
        body: `{"type":"search","web":{"results":${results}},"results":${results}}`,
      }));
      expect(await lookUp(name)).toEqual(['https://example.org/fern']);
    }));
});

describe('a video transcript', () => {
  test('returns the lines with their times in seconds', () =>
    eachOf(TRANSCRIPTS, async (name) => expect(await lookUp(name)).toEqual(LINES)));
  test('is null for a video without a transcript', () =>
    eachOf(TRANSCRIPTS, async (name) => {
      emulator.videos.set(VIDEO, { lines: null });
      expect(await lookUp(name)).toBeNull();
    }));
  const UNAVAILABLE = [
    ['is unknown', undefined],
    ['is hidden', { lines: LINES, hidden: true }],
  ] as const;
  test('fails with not_found for an unknown or hidden video', () =>
    eachRowOf(TRANSCRIPTS, UNAVAILABLE, async (name, [, video]) => {
      if (video) emulator.videos.set(VIDEO, video);
      else emulator.videos.delete(VIDEO);
      expect(await faultOf(lookUp(name))).toMatchObject({ kind: 'not_found', retryable: false });
    }));
  const WRONG_LINES: readonly (readonly [string, string])[] = [
    ['an unrelated object', '{"a":1}'],
    ['invalid lines', '{"captions":5,"content":[{"text":"a"}]}'],
    ['an unknown error', '{"error":"sunspots"}'],
  ];
  test('reports an unknown video, a hidden video and a job without an id with different messages', () =>
    eachOf(['supadata'], async (name) => {
      for (const [error, message] of [
        ['not-found', 'has no such video'],
        ['forbidden', 'has no access to this video'],
      ] as const) {
        emulator.injectFault(() => ({ status: 200, body: JSON.stringify({ error }) }));
        const fault = await faultOf(lookUp(name));
        expect([fault.kind, fault.message]).toEqual(['not_found', expect.stringContaining(message)]);
      }
      emulator.injectFault(() => ({ status: 202, body: '{}' }));
      expect((await faultOf(lookUp(name))).message).toContain('a job without an id');
    }));
  test('rejects an invalid response', () =>
    eachRowOf(TRANSCRIPTS, WRONG_LINES, async (name, [, body]) => {
      emulator.injectFault(() => ({ status: 200, body }));
      expect(await faultOf(lookUp(name))).toMatchObject({ kind: 'server_error', retryable: true });
    }));
});

describe('every service', () => {
  const FAILURES: readonly (readonly [string, LookupRefusal | 'brokenConnection' | 'hang', string, boolean])[] = [
    ['429 with Retry-After', { status: 429, headers: { 'retry-after': '7' } }, 'rate_limited', true],
    ['429 without Retry-After', { status: 429 }, 'rate_limited', true],
    ['500', { status: 500 }, 'server_error', true],
    ['408', { status: 408 }, 'server_error', true],
    ['503', { status: 503 }, 'server_error', true],
    ['503 with Retry-After', { status: 503, headers: { 'retry-after': '7' } }, 'rate_limited', true],
    ['401', { status: 401 }, 'access_denied', false],
    ['402', { status: 402 }, 'access_denied', false],
    ['403', { status: 403 }, 'access_denied', false],
    ['400', { status: 400 }, 'bad_response', false],
    ['a redirect', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }, 'bad_response', false],
    ['truncated JSON', { status: 200, body: '{"results":[{"url":' }, 'server_error', true],
    ['an HTML page', { status: 200, body: '<!doctype html><p>Sign in' }, 'server_error', true],
    ['an oversized response', { status: 200, body: `{"a":"${'x'.repeat(21_000_000)}"}` }, 'too_large', false],
    ['a broken connection', 'brokenConnection', 'unreachable', true],
    ['no response', 'hang', 'timed_out', true],
  ];
  test('reports each failure as the matching kind, without the key', () =>
    eachRowOf(ALL, FAILURES, async (name, [, injectedFault, kind, retryable]) => {
      emulator.injectFault(() => injectedFault);
      const fault = await faultOf(lookUp(name, undefined, injectedFault === 'hang' ? 300 : TIMEOUT_MS));
      expect(fault).toMatchObject({ kind, retryable });
      expect(fault.message).not.toContain(KEY);
      if (typeof injectedFault === 'object')
        expect(fault.retryAfterMs).toBe(injectedFault.headers?.['retry-after'] ? 7000 : null);
      expect(emulator.requests).toHaveLength(1);
    }));

  test('ends its request when the caller aborts, and rejects with the reason of the abort', () =>
    eachOf(ALL, async (name) => {
      emulator.injectFault(() => 'hang');
      const abort = new AbortController();
      const ended = lookUp(name, undefined, undefined, abort.signal).catch(String);
      await waitFor(
        () => emulator.load.current,
        (requests) => requests === 1,
      );
      abort.abort('the caller has left');
      expect(await ended).toBe('the caller has left');
      await waitFor(
        () => emulator.load.current,
        (requests) => requests === 0,
      );
    }));

  test('is called at a private address only if the operator allows it', () =>
    eachOf(ALL, async (name) => {
      const strict = createEgress(configured({}).embedding.egress);
      const services = createLookups(configured(emulator.settings(name)).lookups, strict);
      const work =
        name === 'brave' || name === 'searxng'
          ? services.webSearch().search('fern')
          : services.videoTranscripts().transcript(VIDEO);
      expect((await faultOf(work)).message).toContain('ALLOWED_PRIVATE_HOSTS');
      expect(emulator.requests).toEqual([]);
      await strict.close();
    }));
});

describe('a single service', () => {
  test.each(['brave', 'supadata'] as const)('names the setting of a key that %s rejects', async (name) => {
    const wrong = Object.fromEntries(
      Object.entries(emulator.settings(name)).map(([key, value]) => [key, value === KEY ? 'other' : value]),
    );
    const services = lookups(wrong);
    const fault = await faultOf(
      name === 'brave' ? services.webSearch().search('a') : services.videoTranscripts().transcript(VIDEO),
    );
    expect(fault).toMatchObject({ kind: 'access_denied', message: expect.stringMatching(/_API_KEY/) });
  });
  test('Brave: retryAfterMs after a 429 is the longest time until an exhausted limit is reset', async () => {
    const headers = { 'x-ratelimit-remaining': '0, 1000', 'x-ratelimit-reset': '1, 1419704' };
    emulator.injectFault(() => ({ status: 429, headers }));
    expect((await faultOf(lookUp('brave'))).retryAfterMs).toBe(1000);
    emulator.injectFault(() => ({ status: 429, headers: { ...headers, 'x-ratelimit-reset': '0, 1419704' } }));
    expect((await faultOf(lookUp('brave'))).retryAfterMs).toBe(0);
    emulator.injectFault(() => ({ status: 429, headers: { ...headers, 'x-ratelimit-remaining': '0, 0' } }));
    expect((await faultOf(lookUp('brave'))).retryAfterMs).toBe(1_419_704_000);
    // Recorded from a plan without a monthly limit: its limit is 0, of which always 0 remain, so its reset is ignored.
    const unlimited = {
      'x-ratelimit-limit': '50, 0',
      'x-ratelimit-remaining': '0, 0',
      'x-ratelimit-reset': '1, 2466201',
    };
    emulator.injectFault(() => ({ status: 429, headers: unlimited }));
    expect((await faultOf(lookUp('brave'))).retryAfterMs).toBe(1000);
  });
  test('SearXNG: names the missing setting if JSON is disabled', async () => {
    emulator.allowsJson = false;
    expect((await faultOf(lookUp('searxng'))).message).toContain('search.formats');
  });
  test('SearXNG: fails instead of returning no results if an engine does not respond', async () => {
    // One failed engine is enough, because only that engine might have had results.
    for (const engine of ['brave', 'google']) {
      emulator.unresponsive.push([engine, 'access denied']);
      expect(await faultOf(lookUp('searxng'))).toMatchObject({
        kind: 'server_error',
        message: expect.stringMatching(
          new RegExp(`nothing, and these engines did not answer:.* ${engine}: access denied`),
        ),
      });
    }
  });
  test('SearXNG: returns the results of the other engines if one does not respond', async () => {
    const body = '{"results":[{"url":"https://example.org/fern"}],"unresponsive_engines":[["google","timeout"]]}';
    emulator.injectFault(() => ({ status: 200, body }));
    expect(await lookUp('searxng')).toEqual(['https://example.org/fern']);
  });
  test('SearXNG: rejects a query that would redirect to another engine', async () => {
    expect((await faultOf(lookUp('searxng', '!!g fern'))).kind).toBe('bad_response');
  });
  test('Supadata: polls a job until it is done', async () => {
    emulator.videos.set(VIDEO, { lines: LINES, slow: true });
    expect(await lookUp('supadata')).toEqual(LINES);
    emulator.videos.set(VIDEO, { lines: null, slow: true });
    expect(await lookUp('supadata')).toBeNull();
    expect((await faultOf(lookUp('supadata', undefined, 800))).kind).toBe('timed_out');
  });
  test('Supadata: reads the lines of a job from its result', async () => {
    const body = '{"status":"completed","result":{"content":[{"text":"Boats","offset":1360,"duration":1680}]}}';
    emulator.injectFault(() => ({ status: 200, body }));
    expect(await lookUp('supadata')).toEqual([{ text: 'Boats', start: 1.36, duration: 1.68 }]);
  });
  test('Supadata: returns at most 200,000 lines', async () => {
    const line = '{"text":"a","offset":0,"duration":0}';
    emulator.injectFault(() => ({ status: 200, body: `{"content":[${Array(200_001).fill(line).join(',')}]}` }));
    expect(await lookUp('supadata')).toHaveLength(200_000);
  });
  test('Invidious: prefers manual captions to generated ones, and reports invalid captions', async () => {
    await lookUp('invidious');
    expect(emulator.requests.at(-1)).toContain('label=English');
    expect(emulator.requests.at(-1)).not.toContain('auto-generated');
    emulator.videos.set(VIDEO, { lines: LINES, blocked: true });
    expect((await faultOf(lookUp('invidious'))).message).toMatch(/not WebVTT/);
  });
});

test('uses the first configured service, and names the settings if none is configured', async () => {
  await lookups(emulator.settings('searxng', 'brave')).webSearch().search('fern');
  expect(emulator.requests).toEqual([expect.stringContaining('/brave/')]);
  expect(() => lookups({}).webSearch()).toThrow(/BRAVE_SEARCH_API_KEY or SEARXNG_BASE_URL/);
  expect(() => lookups({}).videoTranscripts()).toThrow(/SUPADATA_API_KEY or INVIDIOUS_BASE_URL/);
});

describe('the time limit of a lookup', () => {
  const service = { name: 'Service', urlSetting: 'URL', keySetting: null };
  const settings = { baseUrl: 'http://service.example', apiKey: null };
  afterEach(() => void jest.restoreAllMocks());

  test('covers all of its requests and pauses together', async () => {
    let now = 1000;
    jest.spyOn(Date, 'now').mockImplementation(() => now);
    const limits: number[] = [];
    const recording = {
      request: async ({ totalTimeoutMs }: { totalTimeoutMs: number }) => {
        limits.push(totalTimeoutMs);
        return { status: 200, headers: {}, bytes: async () => Buffer.from('') } as never;
      },
    };
    const client = createServiceClient({ service, settings, egress: recording, timeoutMs: 500, signal: undefined });
    for (now of [1000, 1400, 1500, 9000]) await client.get('/path');
    expect(limits).toEqual([500, 100, 1, 1]);
    now = 1400;
    expect((await faultOf(client.pause(100), 'timed_out')).message).toContain('0.5 s');
    await client.pause(1);
  });

  test('does not delay the end of a pause that its caller aborts', async () => {
    const abort = new AbortController();
    const client = createServiceClient({ service, settings, egress, timeoutMs: 60_000, signal: abort.signal });
    const paused = client.pause(20_000);
    abort.abort();
    await expect(paused).rejects.toMatchObject({ name: 'AbortError' });
  });
});
