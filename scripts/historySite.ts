/** Emulated external services, and a picture, for the runs whose histories recordHistory.ts records. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createCanvas } from '@napi-rs/canvas';

const page = (name: string) =>
  `<html><head><title>${name}</title></head><body><main><h1>${name}</h1><p>Some words.</p></main></body></html>`;

/** Returns a PNG picture that shows a few words. */
export function pictureOfWords(): Uint8Array<ArrayBuffer> {
  const canvas = createCanvas(400, 100);
  const context = canvas.getContext('2d');
  context.fillStyle = '#fff';
  context.fillRect(0, 0, 400, 100);
  context.fillStyle = '#000';
  context.font = '32px sans-serif';
  context.fillText('Some words.', 40, 60);
  return Uint8Array.from(canvas.toBuffer('image/png'));
}

/**
 * Serves a site with two good pages, a missing page and a page that fails once; a feed; and a webhook receiver and a
 * transcription service that each fail once.
 */
export async function serveSite() {
  let failures = 0;
  let refusals = 0;
  let refusedRecordings = 0;
  const server = createServer((request, response) => {
    const url = request.url ?? '/';
    const origin = `http://${request.headers.host ?? ''}`;
    if (url === '/sitemap.xml') {
      return void response.end(
        `<urlset>${['/a', '/b', '/missing', '/flaky'].map((path) => `<url><loc>${origin}${path}</loc></url>`).join('')}</urlset>`,
      );
    }
    if (url === '/hook') return void response.writeHead(refusals++ === 0 ? 500 : 200).end();
    if (url.startsWith('/v1/listen')) {
      request.resume();
      // Simulate a rate limit for the first request.
      if (refusedRecordings++ === 0) return void response.writeHead(429).end();
      const words = [{ word: 'words', punctuated_word: 'Words.', start: 0, end: 1 }];
      const channels = [{ alternatives: [{ transcript: 'Words.', words }] }];
      return void response.end(JSON.stringify({ metadata: { duration: 1 }, results: { channels } }));
    }
    if (url === '/start') {
      response.setHeader('content-type', 'text/html');
      return void response.end(`<a href="/a">a</a> <a href="/b">b</a> <a href="/flaky">flaky</a>`);
    }
    if (url === '/feed.xml') {
      const item = `<item><guid>1</guid><title>One</title><link>${origin}/a</link><description>Words.</description></item>`;
      return void response.end(`<rss><channel><title>Feed</title>${item}</channel></rss>`);
    }
    if (url === '/flaky' && failures++ === 0) return void response.writeHead(500).end();
    if (!['/a', '/b', '/flaky'].includes(url)) return void response.writeHead(404).end();
    response.setHeader('content-type', 'text/html');
    setTimeout(() => response.end(page(url)), url === '/b' ? 300 : 0);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}
