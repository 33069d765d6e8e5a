/** Emulates, on one loopback address, the services that /search_urls and /fetch_youtube_transcript call. */
import { type Call, type Emulator, type Refused, sendJson, startEmulator } from './emulator.js';

export const KEY = 'lookup-key';
export type LookupName = 'brave' | 'searxng' | 'supadata' | 'invidious';

/** A line of a transcript. Times are in seconds, as in the public contract. */
export interface SpokenLine {
  readonly text: string;
  readonly start: number;
  readonly duration: number;
}

/**
 * A video of the emulated services. `slow`: Supadata answers with a job. `blocked`: Invidious returns captions without
 * text.
 */
export interface Video {
  readonly lines: readonly SpokenLine[] | null;
  readonly hidden?: boolean;
  readonly slow?: boolean;
  readonly blocked?: boolean;
}

/** A refusal. `body` is sent verbatim; with status 200 it is a malformed answer. */
export interface LookupRefusal extends Refused {
  readonly body?: string;
}

export interface LookupEmulator extends Emulator<LookupRefusal> {
  /** Returns the settings that configure these services. */
  settings(...names: LookupName[]): Record<string, string>;
  /** Searchable texts by address. A query finds the pages that contain any of its words. */
  readonly pages: Map<string, string>;
  readonly videos: Map<string, Video>;
  /** Engines that SearXNG reports as unresponsive, each with the reason. */
  readonly unresponsive: [string, string][];
  /** Whether SearXNG's settings.yml allows the json format. */
  allowsJson: boolean;
}

const stamp = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(11, 23);
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** Returns captions in the format of Invidious. */
const webVtt = (lines: readonly SpokenLine[]): string =>
  `WEBVTT\nKind: captions\nLanguage: en\n\n${lines
    .map(
      ({ text, start, duration }) =>
        `${stamp(start)} --> ${stamp(start + duration)}\n<v Ada>${escaped(text.replace(' ', '\n'))}</v>\n\n`,
    )
    .join('')}`;

const supadataError = (error: string) => ({
  ...{ error, message: error.replaceAll('-', ' '), details: `Details of ${error}` },
  documentationUrl: `https://docs.supadata.ai/errors/${error}`,
});

export async function startLookups(): Promise<LookupEmulator> {
  const pages = new Map<string, string>();
  const videos = new Map<string, Video>();
  const unresponsive: [string, string][] = [];
  const jobs = new Map<string, { video: Video; polls: number }>();

  const found = (query: string): string[] => {
    const words = query.toLowerCase().split(/\s+/);
    return [...pages].flatMap(([url, text]) => (words.some((word) => text.toLowerCase().includes(word)) ? [url] : []));
  };

  function brave({ request, response, query }: Call): void {
    if (request.headers['x-subscription-token'] !== KEY) {
      const error = {
        id: '1',
        status: 422,
        code: 'SUBSCRIPTION_TOKEN_INVALID',
        detail: 'The provided subscription token is invalid.',
      };
      return sendJson(response, 422, { type: 'ErrorResponse', error, time: 1 });
    }
    const q = query.get('q') ?? '';
    if (q === '' || q.length > 400 || q.split(/\s+/).length > 50 || Number(query.get('count')) > 20) {
      const error = { id: '1', status: 422, code: 'VALIDATION', detail: 'Unable to validate request parameter(s)' };
      return sendJson(response, 422, { type: 'ErrorResponse', error, time: 1 });
    }
    const results = found(q).slice(0, Number(query.get('count') ?? 20));
    const web = { type: 'search', results: results.map((url) => ({ type: 'search_result', title: 'A', url })) };
    const searchPart = { type: 'search', query: { original: q, more_results_available: false } };
    return sendJson(response, 200, results.length === 0 ? searchPart : { ...searchPart, web });
  }

  function searxng({ response, query }: Call): void {
    if (query.get('format') !== 'json' || !started.allowsJson)
      return void response.writeHead(403, { 'content-type': 'text/html' }).end('<!doctype html><title>403</title>');
    const q = query.get('q') ?? '';
    if (q === '') return sendJson(response, 400, { error: 'No query' });
    // SearXNG redirects queries with this prefix to the engine itself.
    if (q.startsWith('!!')) return void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
    const results = unresponsive.length > 0 ? [] : found(q).map((url) => ({ url, title: 'A', engine: 'a', score: 1 }));
    return sendJson(response, 200, { query: q, results, unresponsive_engines: unresponsive });
  }

  const supadataAnswer = ({ lines }: Video) => ({
    lang: 'en',
    availableLangs: ['en'],
    content: (lines ?? []).map(({ text, start, duration }) => ({
      ...{ text, lang: 'en' },
      offset: Math.round(start * 1000),
      duration: Math.round(duration * 1000),
    })),
  });

  function supadata({ request, response, query, path }: Call): void {
    if (request.headers['x-api-key'] !== KEY) return sendJson(response, 401, supadataError('unauthorized'));
    const job = jobs.get(path[2] ?? '');
    if (job) {
      job.polls += 1;
      if (job.polls < 2) return sendJson(response, 200, { status: 'active' });
      if (job.video.lines === null)
        return sendJson(response, 200, { status: 'failed', error: supadataError('transcript-unavailable') });
      return sendJson(response, 200, { status: 'completed', ...supadataAnswer(job.video) });
    }
    const id = /^https:\/\/www\.youtube\.com\/watch\?v=([\w-]{11})$/.exec(query.get('url') ?? '')?.[1];
    if (id === undefined || query.get('mode') !== 'native')
      return sendJson(response, 400, supadataError('invalid-request'));
    const video = videos.get(id);
    if (!video) return sendJson(response, 404, supadataError('not-found'));
    if (video.hidden) return sendJson(response, 403, { status: 'failed', ...supadataError('forbidden') });
    if (video.slow) {
      jobs.set(`job-${id}`, { video, polls: 0 });
      return sendJson(response, 202, { jobId: `job-${id}` });
    }
    if (video.lines === null) return sendJson(response, 206, supadataError('transcript-unavailable'));
    return sendJson(response, 200, supadataAnswer(video));
  }

  function invidious({ response, query, path }: Call): void {
    const id = path[4] ?? '';
    if (!/^[\w-]{11}$/.test(id)) return sendJson(response, 400, { error: 'Invalid video ID' });
    const video = videos.get(id);
    if (!video || video.hidden) return void response.writeHead(404).end();
    const captions = (video.lines === null ? [] : ['English (auto-generated)', 'English']).map((label) => ({
      ...{ label, languageCode: 'en' },
      url: `/api/v1/captions/${id}?label=${encodeURIComponent(label)}`,
    }));
    const label = query.get('label');
    if (label === null) return sendJson(response, 200, { captions });
    if (!captions.some((caption) => caption.label === label)) return void response.writeHead(404).end();
    const generated = (video.lines ?? []).map((line) => ({ ...line, text: `eh ${line.text}` }));
    response.writeHead(200, { 'content-type': 'text/vtt; charset=UTF-8' });
    response.end(video.blocked ? '' : webVtt(label === 'English' ? (video.lines ?? []) : generated));
  }

  const services: Record<LookupName, (call: Call) => void> = { brave, searxng, supadata, invidious };
  const emulator = await startEmulator<LookupRefusal>({
    refuse(response, { status, headers = {}, body = '{"error":"no"}' }) {
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
    },
    answer(call) {
      const servicePath = call.path.slice(1).join('/');
      const [name = ''] = call.path;
      const paths = {
        brave: /^res\/v1\/web\/search$/,
        searxng: /^search$/,
        supadata: /^v1\/transcript(\/|$)/,
        invidious: /^api\/v1\/captions\//,
      };
      const service = services[name as LookupName];
      if (!service || !paths[name as LookupName].test(servicePath))
        return sendJson(call.response, 404, { error: 'no' });
      return service(name === 'supadata' ? { ...call, path: call.path.slice(1) } : call);
    },
  });
  const settings: Record<LookupName, Record<string, string>> = {
    brave: { BRAVE_SEARCH_API_KEY: KEY, BRAVE_SEARCH_BASE_URL: `${emulator.origin}/brave/res/v1/` },
    searxng: { SEARXNG_BASE_URL: `${emulator.origin}/searxng` },
    supadata: { SUPADATA_API_KEY: KEY, SUPADATA_BASE_URL: `${emulator.origin}/supadata/v1` },
    invidious: { INVIDIOUS_BASE_URL: `${emulator.origin}/invidious` },
  };
  const started: LookupEmulator = {
    ...emulator,
    settings: (...names) => Object.assign({}, ...names.map((name) => settings[name])) as Record<string, string>,
    ...{ pages, videos, unresponsive },
    allowsJson: true,
  };
  return started;
}
