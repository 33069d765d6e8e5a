/** A site is scraped, and answers a question: a given one, else this project's documentation. */
import { setTimeout as sleep } from 'node:timers/promises';
import { SingleBar } from 'cli-progress';

import type { FileRecord } from '../../contract/records.js';
import { ask, type Client, countFiles, type Demo } from './client.js';
import { serveDocs } from './docsSite.js';

const DOCS_PORT = 8001;
const DOCS_QUESTION = 'What happens when a worker is killed in the middle of an ingest?';

/** Follows a scrape to its end with a progress bar. */
async function follow(api: Client, parentId: number): Promise<FileRecord> {
  const bar = new SingleBar({
    format: '  {bar} {value}/{total} pages · {ready} ready, {failed} failed',
    barsize: 30,
    hideCursor: true,
    noTTYOutput: true,
    notTTYSchedule: 2000,
  });
  bar.start(0, 0, { ready: 0, failed: 0 });
  try {
    for (;;) {
      const { results } = await api.post<{ results: FileRecord[] }>('/user_files_v2', { filters: { ids: [parentId] } });
      const [parent] = results;
      if (!parent) throw new Error('the scrape has vanished');
      const { ready, failed } = await countFiles(api, { parent_file_ids: [parentId] });
      bar.setTotal(Number(parent.file_metadata?.['pages_total'] ?? 0));
      bar.update(ready + failed, { ready, failed });
      if (['READY', 'SYNC_ERROR', 'SYNC_ABORTED'].includes(parent.sync_status)) return parent;
      await sleep(250);
    }
  } finally {
    bar.stop();
  }
}

export async function scrapeDemo(
  sitemap: string | undefined,
  question: string | undefined,
  say: (line: string) => void,
): Promise<Demo> {
  const docs = sitemap === undefined ? await serveDocs(DOCS_PORT) : null;
  const url = sitemap ?? docs?.sitemapUrl ?? '';
  return {
    env: docs ? { ALLOWED_PRIVATE_HOSTS: docs.host } : {},
    async run(api) {
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
      const asked = question ?? (docs ? DOCS_QUESTION : 'What is this site about?');
      console.log(await ask(api, asked, { parent_file_ids: [parent.id] }));
    },
    async close() {
      docs?.close();
    },
  };
}
