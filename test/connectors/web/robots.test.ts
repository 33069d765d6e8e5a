import { afterEach, describe, expect, test } from '@jest/globals';

import { faultOf, serve, type Loopback } from '../../egress/loopback.js';
import { closeSources, fetchOne, source, text, type SourceOptions } from './webSource.js';

afterEach(closeSources);

interface Robots {
  status?: number;
  headers?: Record<string, string>;
  body?: string;
}

/** A site whose robots.txt is what `robots` says at that moment. */
function site(robots: Robots): Promise<Loopback> {
  return serve((asked, response) => {
    if (asked.url === '/robots.txt')
      response.writeHead(robots.status ?? 200, robots.headers ?? {}).end(robots.body ?? '');
    else if (asked.url === '/to-closed') response.writeHead(302, { Location: '/closed' }).end();
    else response.writeHead(200, { 'Content-Type': 'text/plain' }).end(`page ${asked.url ?? ''}`);
  });
}

const obeying = (options: SourceOptions = {}) =>
  source({ ...options, settings: { obeyRobots: true, ...options.settings } });
const CLOSED = { body: 'User-agent: allotrope\nDisallow: /closed' };
const robotsAsked = (server: Loopback) => server.seen.filter(({ url }) => url === '/robots.txt').length;

test('a forbidden page is not asked for, an allowed one is', async () => {
  const server = await site(CLOSED);
  const web = obeying();
  expect(text(await fetchOne(web, `${server.origin}/open`))).toBe('page /open');
  const fault = await faultOf(fetchOne(web, `${server.origin}/closed`), 'robots_disallowed');
  expect(fault.message).toContain(`${server.origin}/closed`);
  expect(server.seen.map(({ url }) => url)).toEqual(['/robots.txt', '/open']);
});

test('a redirect to a forbidden page is not followed', async () => {
  const server = await site(CLOSED);
  await faultOf(fetchOne(obeying(), `${server.origin}/to-closed`), 'robots_disallowed');
  expect(server.seen.map(({ url }) => url)).toEqual(['/robots.txt', '/to-closed']);
});

test('the setting turns it off', async () => {
  const server = await site(CLOSED);
  expect(text(await fetchOne(obeying({ settings: { obeyRobots: false } }), `${server.origin}/closed`))).toBe(
    'page /closed',
  );
  expect(robotsAsked(server)).toBe(0);
});

test.each([400, 401, 403, 404, 410, 429])('status %i allows everything', async (status) => {
  const server = await site({ ...CLOSED, status });
  expect(text(await fetchOne(obeying(), `${server.origin}/closed`))).toBe('page /closed');
});

test.each([
  [500, {}, 'server_error'],
  [503, { 'Retry-After': '7' }, 'rate_limited'],
] as const)('status %i forbids everything for now, and a later try asks again', async (status, headers, kind) => {
  const robots: Robots = { status, headers };
  const server = await site(robots);
  let time = 0;
  const web = obeying({ now: () => time });
  const fault = await faultOf(fetchOne(web, `${server.origin}/open`), kind);
  expect(fault).toMatchObject({ retryable: true, retryAfterMs: status === 503 ? 7000 : null });
  expect(fault.message).toContain('/robots.txt');
  robots.status = 200;
  await faultOf(fetchOne(web, `${server.origin}/open`), kind);
  expect(robotsAsked(server)).toBe(1);
  time += 61_000;
  expect(text(await fetchOne(web, `${server.origin}/open`))).toBe('page /open');
});

test('a server that does not answer forbids everything for now', async () => {
  const server = await serve((asked) => {
    if (asked.url === '/robots.txt') asked.socket.destroy();
  });
  expect((await faultOf(fetchOne(obeying(), `${server.origin}/x`), 'unreachable')).retryable).toBe(true);
});

describe('redirects of robots.txt', () => {
  const hops = (count: number) =>
    serve((asked, response) => {
      const left = asked.url === '/robots.txt' ? count : Number((asked.url ?? '').replace('/hop', ''));
      if (asked.url === '/closed') response.writeHead(200, { 'Content-Type': 'text/plain' }).end('page');
      else if (left > 0) response.writeHead(301, { Location: `/hop${String(left - 1)}` }).end();
      else response.end(CLOSED.body);
    });

  test('five are followed', async () => {
    await faultOf(fetchOne(obeying(), `${(await hops(5)).origin}/closed`), 'robots_disallowed');
  });

  test('six mean that there is none', async () => {
    expect(text(await fetchOne(obeying(), `${(await hops(6)).origin}/closed`))).toBe('page');
  });

  test('to a private address forbid everything', async () => {
    const server = await site({ status: 302, headers: { Location: 'http://10.0.0.1/' } });
    await faultOf(fetchOne(obeying(), `${server.origin}/x`), 'address_refused');
  });
});

test('it is asked once a day, also by many pages at once', async () => {
  const server = await site(CLOSED);
  let time = 0;
  const web = obeying({ now: () => time });
  await Promise.all(Array.from({ length: 10 }, (_, n) => fetchOne(web, `${server.origin}/${String(n)}`)));
  time += 86_300_000;
  await fetchOne(web, `${server.origin}/late`);
  expect(robotsAsked(server)).toBe(1);
  time += 200_000;
  await fetchOne(web, `${server.origin}/later`);
  expect(robotsAsked(server)).toBe(2);
});

test('one page that is given up does not give up the robots.txt of the others', async () => {
  let answer: () => void = () => undefined;
  const server = await serve((asked, response) => {
    if (asked.url === '/robots.txt') answer = () => response.end(CLOSED.body);
    else response.writeHead(200, { 'Content-Type': 'text/plain' }).end('page');
  });
  const web = obeying();
  const stop = new AbortController();
  const first = fetchOne(web, `${server.origin}/1`, { signal: stop.signal });
  const second = fetchOne(web, `${server.origin}/2`);
  while (server.seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  stop.abort(new RangeError('enough'));
  await expect(first).rejects.toThrow('enough');
  answer();
  expect(text(await second)).toBe('page');
});

test('500 KiB are parsed, and what lies behind is not waited for', async () => {
  const filler = `# ${'x'.repeat(98)}\n`;
  const near = await site({ body: `${filler.repeat(5069)}User-agent: *\nDisallow: /closed\n` });
  await faultOf(fetchOne(obeying(), `${near.origin}/closed`), 'robots_disallowed');
  const endless = await serve((asked, response) => {
    if (asked.url !== '/robots.txt') {
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

test('Crawl-delay spaces the requests; one too long to keep is a refusal', async () => {
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
