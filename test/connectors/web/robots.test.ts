import { afterEach, describe, expect, test } from '@jest/globals';

import { createRobots } from '../../../connectors/web/robots.js';
import type { Egress, EgressResponse } from '../../../egress/types.js';
import { type Loopback, serve } from '../../egress/loopback.js';
import { faultOf } from '../../support/faultOf.js';
import { NEVER } from '../account.js';
import { closeSources, fetchOne, source, text, webSettings, type SourceOptions } from './webSource.js';

afterEach(closeSources);

interface Robots {
  status?: number;
  headers?: Record<string, string>;
  body?: string;
}

/** Starts a site that serves the current value of `robots` as its robots.txt. */
function site(robots: Robots): Promise<Loopback> {
  return serve((request, response) => {
    if (request.url === '/robots.txt')
      response.writeHead(robots.status ?? 200, robots.headers ?? {}).end(robots.body ?? '');
    else if (request.url === '/to-closed') response.writeHead(302, { Location: '/closed' }).end();
    else response.writeHead(200, { 'Content-Type': 'text/plain' }).end(`page ${request.url ?? ''}`);
  });
}

const obeying = (options: SourceOptions = {}) =>
  source({ ...options, settings: { obeyRobots: true, ...options.settings } });
const CLOSED = { body: 'User-agent: allotrope\nDisallow: /closed' };
const robotsRequests = (server: Loopback) => server.requests.filter(({ url }) => url === '/robots.txt').length;

test('requests an allowed page, but not a forbidden one', async () => {
  const server = await site(CLOSED);
  const web = obeying();
  expect(text(await fetchOne(web, `${server.origin}/open`))).toBe('page /open');
  const fault = await faultOf(fetchOne(web, `${server.origin}/closed`), 'robots_disallowed');
  expect(fault.message).toContain(`${server.origin}/closed`);
  expect(server.requests.map(({ url }) => url)).toEqual(['/robots.txt', '/open']);
});

test('reads the first line after a byte order mark', async () => {
  const server = await site({ body: `\uFEFF${CLOSED.body}` });
  await faultOf(fetchOne(obeying(), `${server.origin}/closed`), 'robots_disallowed');
});

test('does not follow a redirect to a forbidden page', async () => {
  const server = await site(CLOSED);
  await faultOf(fetchOne(obeying(), `${server.origin}/to-closed`), 'robots_disallowed');
  expect(server.requests.map(({ url }) => url)).toEqual(['/robots.txt', '/to-closed']);
});

test('ignores robots.txt if the setting is off', async () => {
  const server = await site(CLOSED);
  expect(text(await fetchOne(obeying({ settings: { obeyRobots: false } }), `${server.origin}/closed`))).toBe(
    'page /closed',
  );
  expect(robotsRequests(server)).toBe(0);
});

test.each([400, 401, 403, 404, 410, 429])('allows everything after status %i', async (status) => {
  const server = await site({ ...CLOSED, status });
  expect(text(await fetchOne(obeying(), `${server.origin}/closed`))).toBe('page /closed');
});

test.each([
  [500, {}, 'server_error'],
  [503, { 'Retry-After': '7' }, 'rate_limited'],
] as const)('forbids everything after status %i until robots.txt is requested again', async (status, headers, kind) => {
  const robots: Robots = { status, headers };
  const server = await site(robots);
  let time = 0;
  const web = obeying({ now: () => time });
  const fault = await faultOf(fetchOne(web, `${server.origin}/open`), kind);
  expect(fault).toMatchObject({ retryable: true, retryAfterMs: status === 503 ? 7000 : null });
  expect(fault.message).toContain('/robots.txt');
  robots.status = 200;
  await faultOf(fetchOne(web, `${server.origin}/open`), kind);
  expect(robotsRequests(server)).toBe(1);
  time += 61_000;
  expect(text(await fetchOne(web, `${server.origin}/open`))).toBe('page /open');
});

test('forbids everything temporarily if the server does not answer', async () => {
  const server = await serve((request) => {
    if (request.url === '/robots.txt') request.socket.destroy();
  });
  expect((await faultOf(fetchOne(obeying(), `${server.origin}/x`), 'unreachable')).retryable).toBe(true);
});

describe('redirects of robots.txt', () => {
  const hops = (count: number) =>
    serve((request, response) => {
      const remainingHops = request.url === '/robots.txt' ? count : Number((request.url ?? '').replace('/hop', ''));
      if (request.url === '/closed') response.writeHead(200, { 'Content-Type': 'text/plain' }).end('page');
      else if (remainingHops > 0) response.writeHead(301, { Location: `/hop${String(remainingHops - 1)}` }).end();
      else response.end(CLOSED.body);
    });

  test('are followed up to five times', async () => {
    await faultOf(fetchOne(obeying(), `${(await hops(5)).origin}/closed`), 'robots_disallowed');
  });

  test('count as a missing file after five', async () => {
    expect(text(await fetchOne(obeying(), `${(await hops(6)).origin}/closed`))).toBe('page');
  });

  test('to a private address forbid everything', async () => {
    const server = await site({ status: 302, headers: { Location: 'http://10.0.0.1/' } });
    await faultOf(fetchOne(obeying(), `${server.origin}/x`), 'address_refused');
  });
});

test('requests robots.txt once a day, also for concurrent pages', async () => {
  const server = await site(CLOSED);
  let time = 0;
  const web = obeying({ now: () => time });
  await Promise.all(Array.from({ length: 10 }, (_, n) => fetchOne(web, `${server.origin}/${String(n)}`)));
  time += 86_300_000;
  await fetchOne(web, `${server.origin}/late`);
  expect(robotsRequests(server)).toBe(1);
  time += 200_000;
  await fetchOne(web, `${server.origin}/later`);
  expect(robotsRequests(server)).toBe(2);
});

test('continues the request of robots.txt for other pages if one page is aborted', async () => {
  let answer: () => void = () => undefined;
  const server = await serve((request, response) => {
    if (request.url === '/robots.txt') answer = () => response.end(CLOSED.body);
    else response.writeHead(200, { 'Content-Type': 'text/plain' }).end('page');
  });
  const web = obeying();
  const stop = new AbortController();
  const first = fetchOne(web, `${server.origin}/1`, { signal: stop.signal });
  const second = fetchOne(web, `${server.origin}/2`);
  while (server.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  stop.abort(new RangeError('enough'));
  await expect(first).rejects.toThrow('enough');
  answer();
  expect(text(await second)).toBe('page');
});

test('parses the first 500 KiB and does not wait for the rest', async () => {
  const filler = `# ${'x'.repeat(98)}\n`;
  const near = await site({ body: `${filler.repeat(5069)}User-agent: *\nDisallow: /closed\n` });
  await faultOf(fetchOne(obeying(), `${near.origin}/closed`), 'robots_disallowed');
  const body = `User-agent: *\nDisallow: /closed\n${filler.repeat(12_000)}`;
  const long = await site({ body, headers: { 'Content-Length': String(body.length) } });
  expect(text(await fetchOne(obeying(), `${long.origin}/open`))).toBe('page /open');
  const endless = await serve((request, response) => {
    if (request.url !== '/robots.txt') {
      response.writeHead(200, { 'Content-Type': 'text/plain' }).end('page');
      return;
    }
    response.write('User-agent: *\nDisallow: /closed\n');
    const more = () => {
      while (response.write(filler));
    };
    response.on('drain', more).on('error', () => undefined);
    more();
  });
  const web = obeying();
  expect(text(await fetchOne(web, `${endless.origin}/open`))).toBe('page');
  await faultOf(fetchOne(web, `${endless.origin}/closed`), 'robots_disallowed');
});

test('spaces requests by Crawl-delay and rejects pages with too long a delay', async () => {
  const robots: Robots = { body: 'User-agent: *\nCrawl-delay: 2' };
  const server = await site(robots);
  let time = 1_000_000;
  const waits: number[] = [];
  const web = obeying({
    now: () => time,
    sleep: (ms) => {
      waits.push(ms);
      return Promise.resolve();
    },
  });
  for (const path of ['/1', '/2', '/3']) await fetchOne(web, server.origin + path);
  expect(waits).toEqual([2000, 4000]);
  for (const tooLong of ['86400', '301']) {
    time += 100_000_000;
    robots.body = `User-agent: *\nCrawl-delay: ${tooLong}`;
    await faultOf(fetchOne(web, `${server.origin}/4`), 'robots_disallowed');
  }
  time += 100_000_000;
  robots.body = 'User-agent: *\nCrawl-delay: 300';
  await fetchOne(web, `${server.origin}/5`);
});

test('mayFetch() returns whether robots.txt permits a page; a robots.txt that cannot be read permits all pages', async () => {
  const server = await site(CLOSED);
  const web = obeying();
  expect(await web.mayFetch(`${server.origin}/closed`, NEVER)).toBe(false);
  expect(await web.mayFetch(`${server.origin}/open`, NEVER)).toBe(true);
  expect(await web.mayFetch(`${(await site({ status: 500 })).origin}/closed`, NEVER)).toBe(true);
});

describe('robots.txt of fake sites', () => {
  /** Returns a Robots that receives the given answers for robots.txt files, and a log of its requests and discards. */
  function robotsWith(answerOf: (url: string) => { readonly status: number; readonly text?: string }) {
    const log: string[] = [];
    const request = async ({ url }: { readonly url: string }): Promise<EgressResponse> => {
      log.push(url);
      const { status, text: words = '' } = answerOf(url);
      const body = (async function* parts() {
        yield Buffer.from(words);
      })();
      const discard = async () => void log.push('discarded');
      return { url, status, headers: {}, body, discard } as unknown as EgressResponse;
    };
    const settings = webSettings({ obeyRobots: true });
    return { log, robots: createRobots({ request } as unknown as Egress, settings, () => 0) };
  }

  test('applies to one scheme, host and port only', async () => {
    const rules = 'User-agent: *\nDisallow: /closed';
    const { robots, log } = robotsWith((url) => ({
      status: 200,
      text: url.startsWith('http://a.example/') ? rules : '',
    }));
    await faultOf(robots.admit('http://a.example/closed', NEVER), 'robots_disallowed');
    for (const origin of ['https://a.example', 'http://a.example:8080', 'http://b.example'])
      expect(await robots.admit(`${origin}/closed`, NEVER)).toBe(0);
    expect(new Set(log).size).toBe(4);
  });

  test('applies to the query of an address', async () => {
    const { robots } = robotsWith(() => ({ status: 200, text: 'User-agent: *\nDisallow: /*?session=' }));
    await faultOf(robots.admit('https://a.example/page?session=1', NEVER), 'robots_disallowed');
    expect(await robots.admit('https://a.example/page?topic=1', NEVER)).toBe(0);
  });

  test('is requested again after an internal error, and its body is discarded after an error status', async () => {
    let isBroken = true;
    const { robots, log } = robotsWith(() => {
      if (isBroken) throw new TypeError('broken');
      return { status: 404 };
    });
    await expect(robots.admit('https://a.example/', NEVER)).rejects.toThrow('broken');
    isBroken = false;
    expect(await robots.admit('https://a.example/', NEVER)).toBe(0);
    expect(log).toEqual(['https://a.example/robots.txt', 'https://a.example/robots.txt', 'discarded']);
  });
});
