import { readdir, readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { marked } from 'marked';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Returns the project's Markdown files by the path under which they are served. */
async function documents(): Promise<Map<string, string>> {
  const docs = (await readdir(path.join(ROOT, 'docs'), { recursive: true }))
    // The guide repeats much of the other pages for other readers.
    .filter((name) => name.endsWith('.md') && !name.startsWith('guide'))
    .map((name) => `docs/${name}`);
  const files = ['README.md', 'CONTRIBUTING.md', ...docs];
  return new Map(
    await Promise.all(
      files.map(
        async (name) => [`/${name.replace(/\.md$/, '.html')}`, await readFile(path.join(ROOT, name), 'utf8')] as const,
      ),
    ),
  );
}

/** Returns whether the port was free. */
const listen = (server: Server, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
  });

export interface DocsSite {
  readonly host: string;
  readonly sitemapUrl: string;
  close(): void;
}

/**
 * Serves the project's documentation on loopback as a small web site with a sitemap. Uses `port` if it is free, so that
 * a second run finds the same pages; otherwise any free port.
 */
export async function serveDocs(port: number): Promise<DocsSite> {
  const pages = await documents();
  const make = (): Server =>
    createServer((request, response) => {
      const url = request.url ?? '/';
      const origin = `http://${request.headers.host ?? ''}`;
      if (url === '/sitemap.xml') {
        const entries = [...pages.keys()].map((page) => `<url><loc>${origin}${page}</loc></url>`).join('');
        response.setHeader('content-type', 'application/xml');
        return void response.end(
          `<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${entries}</urlset>`,
        );
      }
      const markdown = pages.get(url);
      if (markdown === undefined) return void response.writeHead(404).end();
      const title = /^#\s+(.+)$/m.exec(markdown)?.[1] ?? 'Allotrope';
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.end(
        `<!doctype html><html lang="en"><head><title>${title}</title></head><body><main>${marked.parse(markdown, { async: false })}</main></body></html>`,
      );
    });
  let server = make();
  if (!(await listen(server, port))) {
    server = make();
    await listen(server, 0);
  }
  const address = server.address();
  const host = `127.0.0.1:${typeof address === 'object' && address ? address.port : port}`;
  return { host, sitemapUrl: `http://${host}/sitemap.xml`, close: () => server.close() };
}
