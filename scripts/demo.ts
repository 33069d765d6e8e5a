import { setTimeout as sleep } from 'node:timers/promises';
import { SingleBar } from 'cli-progress';

import type { DocumentRecord, FileRecord } from '../contract/records.js';
import { serveDocs } from './docsSite.js';
import { type Service, startService, stopOnSignal } from './service.js';

const DOCS_PORT = 8001;
const DOCS_QUESTION = 'What happens when a worker is killed in the middle of an ingest?';
const say = (line: string): void => console.log(`· ${line}`);

/** The public API, called as any client would. */
function client(service: Service, headers: Record<string, string>) {
  const call = async <T>(path: string, init: RequestInit): Promise<T> => {
    const response = await fetch(`${service.url}${path}`, init);
    const body: unknown = await response.json();
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${JSON.stringify(body)}`);
    return body as T;
  };
  return {
    get: <T>(path: string) => call<T>(path, { headers }),
    post: <T>(path: string, body: unknown) =>
      call<T>(path, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
  };
}
type Client = ReturnType<typeof client>;

/** Follows a scrape to its end with a progress bar. */
async function follow(api: Client, parentId: number): Promise<FileRecord> {
  const bar = new SingleBar({
    format: '  {bar} {value}/{total} pages · {ready} ready, {failed} failed',
    barsize: 30,
    hideCursor: true,
    noTTYOutput: true,
    notTTYSchedule: 2000,
  });
  const counted = async (sync_statuses: string[]): Promise<number> =>
    (
      await api.post<{ count: number }>('/user_files_v2', {
        filters: { parent_file_ids: [parentId], sync_statuses },
        pagination: { limit: 1 },
      })
    ).count;
  bar.start(0, 0, { ready: 0, failed: 0 });
  try {
    for (;;) {
      const { results } = await api.post<{ results: FileRecord[] }>('/user_files_v2', { filters: { ids: [parentId] } });
      const [parent] = results;
      if (!parent) throw new Error('the scrape has vanished');
      const [ready, failed] = await Promise.all([counted(['READY']), counted(['SYNC_ERROR', 'SYNC_ABORTED'])]);
      bar.setTotal(Number(parent.file_metadata?.['pages_total'] ?? 0));
      bar.update(ready + failed, { ready, failed });
      if (['READY', 'SYNC_ERROR', 'SYNC_ABORTED'].includes(parent.sync_status)) return parent;
      await sleep(250);
    }
  } finally {
    bar.stop();
  }
}

function show(question: string, documents: readonly DocumentRecord[]): void {
  console.log(`\n  “${question}”\n`);
  for (const { rank, score, source_url, chunk_index, content } of documents) {
    console.log(`  ${rank}. score ${score?.toFixed(3)} · ${source_url} · chunk ${chunk_index}`);
    console.log(`     ${content.replaceAll(/\s+/g, ' ').slice(0, 160)}…`);
  }
}

const [sitemapArgument, questionArgument] = process.argv.slice(2);
try {
  const docs = sitemapArgument === undefined ? await serveDocs(DOCS_PORT) : null;
  const allowed = [process.env['ALLOWED_PRIVATE_HOSTS'], docs?.host].filter(Boolean).join(',');
  // Logs would tear the progress bar: only what is wrong is shown, unless asked otherwise.
  const service = await startService({
    env: { LOG_LEVEL: 'warn', ...process.env, ALLOWED_PRIVATE_HOSTS: allowed },
    say,
  });
  stopOnSignal(async () => {
    docs?.close();
    await service.stop();
  }, say);

  const url = sitemapArgument ?? docs?.sitemapUrl ?? '';
  const issued = await client(service, { authorization: `Bearer ${service.apiKey}`, 'customer-id': 'demo' }).get<{
    access_token: string;
  }>('/auth/v1/access_token');
  const api = client(service, { authorization: `Token ${issued.access_token}` });
  say(`POST /scrape_sitemap ${url}`);
  const begun = performance.now();
  const accepted = await api.post<FileRecord>('/scrape_sitemap', { url, chunk_size: 300 });
  const parent = await follow(api, accepted.id);
  if (parent.sync_status !== 'READY')
    throw new Error(`The scrape ended in ${parent.sync_status}: ${parent.sync_error_message}`);
  const { count } = await api.post<{ count: number }>('/list_chunks_and_embeddings', {
    filters: { parent_file_ids: [parent.id] },
    pagination: { limit: 1 },
  });
  say(`${count} chunks are searchable after ${((performance.now() - begun) / 1000).toFixed(1)} s`);

  const question = questionArgument ?? (docs ? DOCS_QUESTION : 'What is this site about?');
  const { documents } = await api.post<{ documents: DocumentRecord[] }>('/embeddings', {
    query: question,
    k: 3,
    parent_file_ids: [parent.id],
  });
  show(question, documents);

  console.log(`\nAPI:               ${service.url}   (docs: ${service.url}/docs)`);
  if (service.temporalUiUrl) console.log(`Temporal's Web UI: ${service.temporalUiUrl}`);
  if (service.apiKeyIsNew) console.log(`API key:           ${service.apiKey}   (shown only now)`);
  console.log('Still serving. Ctrl-C ends it.');
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
  process.kill(process.pid, 'SIGTERM');
}
