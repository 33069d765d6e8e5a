/** `npm run trace`: ingests a small site with its own service and traces enabled, then prints the trace. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { startOtlpReceiver } from '../test/emulators/otlpReceiver.js';
import { startSite } from '../test/emulators/site.js';
import { type Service, startService, stopOnSignal } from './service.js';
import { drawTrace } from './traceTree.js';
import { withoutSettings } from './withoutSettings.js';

const TIME_LIMIT_MS = 60_000;
const printLine = (line: string): void => console.error(`· ${line}`);
const dataDir = await mkdtemp(path.join(tmpdir(), 'allotrope-trace-'));
const receiver = await startOtlpReceiver();
const site = await startSite();
const pages = ['lighthouse', 'keeper'];
for (const name of pages)
  site.pages.set(
    `/${name}.html`,
    `<html><head><title>${name}</title></head><body><main><p>The ${name} of the bay.</p></main></body></html>`,
  );
const urls = pages.map((name) => `<url><loc>${site.url(`/${name}.html`)}</loc></url>`).join('');
site.pages.set('/sitemap.xml', `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls}</urlset>`);

const starting = startService({
  env: {
    ...withoutSettings(process.env),
    ...{ DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'error', COMPUTE_NICENESS: '0', ALLOWED_PRIVATE_HOSTS: '127.0.0.1' },
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint,
  },
  printLine,
});
let stopped: Promise<void> | undefined;
const stop = (): Promise<void> =>
  (stopped ??= (async () => {
    // A service that is still starting can be stopped only once it has started.
    await starting.then(
      (service) => service.stop(),
      () => undefined,
    );
    await Promise.all([receiver.close(), site.close()]);
    await rm(dataDir, { recursive: true, force: true });
  })());
stopOnSignal(stop, printLine);
try {
  const service = await starting;
  if (stopped === undefined) await ingest(service);
} finally {
  await stop();
}
process.exit(process.exitCode ?? 0);

/** Ingests the site and prints the trace. */
async function ingest(service: Service): Promise<void> {
  const headers = {
    authorization: `Bearer ${service.apiKey}`,
    'customer-id': 'traced',
    'content-type': 'application/json',
  };
  const body = JSON.stringify({ url: site.url('/sitemap.xml') });
  const answer = await fetch(`${service.url}/scrape_sitemap`, { method: 'POST', headers, body });
  if (!answer.ok) throw new Error(await answer.text());
  const deadline = Date.now() + TIME_LIMIT_MS;
  const findWorkflowSpan = () => receiver.spans.find(({ name }) => name === 'workflow scrapeSitemap');
  while (!findWorkflowSpan() && Date.now() < deadline) await sleep(200);
  const traceId = findWorkflowSpan()?.traceId;
  if (traceId === undefined) throw new Error('No trace was received.');
  // The API and the worker export their spans separately: wait for spans that have not arrived yet.
  await sleep(2_000);
  console.log(`trace ${traceId}`);
  for (const line of drawTrace(receiver.spans.filter((span) => span.traceId === traceId))) console.log(line);
}
