import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { QuestionSet } from './questionSet.js';

export interface PassageSite {
  readonly host: string;
  /** Returns the address of the sitemap of a set, by the index of the set. */
  sitemap(set: number): string;
  /** Returns the id of the passage at the address of a page. @throws Error for any other address */
  passageAt(url: string): number;
  stop(): void;
}

const PAGE = /^\/(\d+)\/(\d+)\.txt$/;
const SITEMAP = /^\/(\d+)\/sitemap\.xml$/;

/** Serves every passage of the sets as a separate page on loopback. */
export async function servePassages(sets: readonly QuestionSet[]): Promise<PassageSite> {
  const server = createServer((request, response) => {
    const [url, host] = [request.url ?? '', request.headers.host ?? ''];
    const [, setIndex = '', id = ''] = PAGE.exec(url) ?? [];
    const passage = sets[Number(setIndex)]?.passages[Number(id)];
    const listedSet = sets[Number(SITEMAP.exec(url)?.[1])];
    if (id !== '' && passage) {
      response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' }).end(passage.text);
    } else if (listedSet) {
      const rows = listedSet.passages.map(
        ({ id: passageId }) => `<url><loc>http://${host}/${sets.indexOf(listedSet)}/${passageId}.txt</loc></url>`,
      );
      response.writeHead(200, { 'content-type': 'application/xml' });
      response.end(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${rows.join('\n')}</urlset>`);
    } else response.writeHead(404).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    host,
    sitemap: (set) => `http://${host}/${set}/sitemap.xml`,
    passageAt(url) {
      const id = PAGE.exec(new URL(url).pathname)?.[2];
      if (id === undefined) throw new Error(`${url} is not a page of a passage`);
      return Number(id);
    },
    stop: () => server.close(),
  };
}
