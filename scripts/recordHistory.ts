import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';

import type { FileRecord } from '../contract/records.js';
import { workflowIds } from '../contract/orchestration.js';
import { startService } from './service.js';

/** Records what today's workflows do, for the replay test. A history is never edited; a released workflow keeps its old ones. */
const FOLDER = fileURLToPath(new URL('../test/workflows/histories/', import.meta.url));

const page = (path: string) =>
  `<html><head><title>${path}</title></head><body><main><h1>${path}</h1><p>Some words.</p></main></body></html>`;

/** Two pages that are fine, one that is missing, one that fails once. */
async function serveSite() {
  let failures = 0;
  const server = createServer((request, response) => {
    const url = request.url ?? '/';
    const origin = `http://${request.headers.host ?? ''}`;
    if (url === '/sitemap.xml') {
      return void response.end(
        `<urlset>${['/a', '/b', '/missing', '/flaky'].map((one) => `<url><loc>${origin}${one}</loc></url>`).join('')}</urlset>`,
      );
    }
    if (url === '/flaky' && failures++ === 0) return void response.writeHead(500).end();
    if (!['/a', '/b', '/flaky'].includes(url)) return void response.writeHead(404).end();
    response.setHeader('content-type', 'text/html');
    setTimeout(() => response.end(page(url)), url === '/b' ? 300 : 0);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

const dataDir = await mkdtemp(path.join(tmpdir(), 'allotrope-histories-'));
const site = await serveSite();
const service = await startService({
  env: {
    ...process.env,
    DATA_DIR: dataDir,
    PORT: '0',
    LOG_LEVEL: 'warn',
    ALLOWED_PRIVATE_HOSTS: site.host,
    RETRY_DELAYS_S: '1',
    TEMPORAL_UI_URL: '',
  },
  say: (line) => console.log(`· ${line}`),
});
try {
  const engines = JSON.parse(
    await (await import('node:fs/promises')).readFile(path.join(dataDir, 'engines.json'), 'utf8'),
  ) as { temporalAddress: string };
  const connection = await Connection.connect({ address: engines.temporalAddress });
  const client = new Client({ connection });
  const headers = {
    authorization: `Bearer ${service.apiKey}`,
    'customer-id': 'histories',
    'content-type': 'application/json',
  };
  await mkdir(FOLDER, { recursive: true });

  const record = async (
    name: string,
    body: Record<string, unknown>,
    during?: (workflowId: string) => Promise<void>,
  ): Promise<void> => {
    const answer = await fetch(`${service.url}/scrape_sitemap`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    const workflowId = workflowIds.scrape(((await answer.json()) as FileRecord).id);
    await new Promise((resolve) => setTimeout(resolve, 250));
    await during?.(workflowId);
    const handle = client.workflow.getHandle(workflowId);
    await handle.result().catch(() => undefined);
    const history = await handle.fetchHistory();
    await writeFile(path.join(FOLDER, `scrapeSitemap.${name}.json`), `${historyToJSON(history)}\n`);
    console.log(`· recorded scrapeSitemap.${name}`);
  };
  await record('finished', { url: `http://${site.host}/sitemap.xml` });
  await record('noSitemap', { url: `http://${site.host}/nothing.xml` });
  await record('cancelled', { url: `http://${site.host}/sitemap.xml`, tags: { again: true } }, (workflowId) =>
    client.workflow
      .getHandle(workflowId)
      .cancel()
      .then(() => undefined),
  );
  await connection.close();
} finally {
  site.close();
  await service.stop();
  await rm(dataDir, { recursive: true, force: true });
}
