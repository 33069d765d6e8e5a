/** Scrapes a site and searches it for a question; by default the site is this project's documentation. */
import { setTimeout as sleep } from 'node:timers/promises';

import { bar, createProgressDisplay } from '../../cli/bars.js';
import type { Terminal } from '../../cli/command.js';
import type { FileRecord } from '../../contract/files/records.js';
import { searchAsText, type Client, countFiles, type Demo } from './client.js';
import { serveDocs } from './docsSite.js';

const DOCS_PORT = 8001;
const DOCS_QUESTION = 'What happens when a worker is killed in the middle of an ingest?';
const POLL_MS = 250;

/** The output to which the demo writes its progress. */
export type Screen = Pick<Terminal, 'isInteractive' | 'err'>;

/**
 * Waits until a scrape ends and shows its progress: a bar in a terminal, elsewhere a line every ten seconds at most.
 */
export async function followScrape(
  api: Client,
  parentId: number,
  screen: Screen,
  pollMs = POLL_MS,
): Promise<FileRecord> {
  const progressDisplay = createProgressDisplay(screen);
  for (;;) {
    const { results } = await api.post<{ results: FileRecord[] }>('/user_files_v2', { filters: { ids: [parentId] } });
    const [parent] = results;
    if (!parent) throw new Error('The scrape was deleted. Run the demo again.');
    const { ready, failed } = await countFiles(api, { parent_file_ids: [parentId] });
    const total = Number(parent.file_metadata?.['pages_total'] ?? 0);
    progressDisplay.paint([
      total === 0 ? '  finding pages' : `  ${bar(ready + failed, total)} pages · ${ready} ready, ${failed} failed`,
    ]);
    if (['READY', 'SYNC_ERROR', 'SYNC_ABORTED'].includes(parent.sync_status)) {
      progressDisplay.end();
      return parent;
    }
    await sleep(pollMs);
  }
}

/** Prepares the demo of a scrape. @param printLine receives progress, one line at a time */
export async function scrapeDemo(
  sitemap: string | undefined,
  question: string | undefined,
  printLine: (line: string) => void,
  screen: Screen,
): Promise<Demo> {
  const docs = sitemap === undefined ? await serveDocs(DOCS_PORT) : null;
  const url = sitemap ?? docs?.sitemapUrl ?? '';
  return {
    env: docs ? { ALLOWED_PRIVATE_HOSTS: docs.host } : {},
    async run(api) {
      printLine(`POST /scrape_sitemap ${url}`);
      const startedAt = performance.now();
      const accepted = await api.post<FileRecord>('/scrape_sitemap', { url, chunk_size: 300 });
      const parent = await followScrape(api, accepted.id, screen);
      if (parent.sync_status !== 'READY')
        throw new Error(`The scrape ended in ${parent.sync_status}: ${parent.sync_error_message}`);
      const { count } = await api.post<{ count: number }>('/list_chunks_and_embeddings', {
        filters: { parent_file_ids: [parent.id] },
        pagination: { limit: 1 },
      });
      printLine(`${count} chunks are searchable after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
      const query = question ?? (docs ? DOCS_QUESTION : 'What is this site about?');
      console.log(await searchAsText(api, query, { parent_file_ids: [parent.id] }));
    },
    async close() {
      docs?.close();
    },
  };
}
