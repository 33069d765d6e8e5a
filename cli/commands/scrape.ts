import { setTimeout as sleep } from 'node:timers/promises';

import type { FileRecord } from '../../contract/files/records.js';
import { openApi } from '../api.js';
import { createProgressDisplay } from '../bars.js';
import { type Call, type Command, CommandError, CUSTOMER_OPTION, JSON_OPTION, URL_OPTION } from '../command.js';
import { progressLine, progressOf, findFiles, isSettled } from '../work.js';

const POLL_MS = 500;

async function postScrape(
  call: Call,
  api: ReturnType<typeof openApi>,
  customer: string,
): Promise<FileRecord | undefined> {
  const { args, has, number } = call;
  const [url, pages, depth, chunkSize] = [args[0], number('max-pages'), number('depth', 0), number('chunk-size')];
  const fields = {
    ...(pages === undefined ? {} : { max_pages_to_scrape: pages }),
    ...(chunkSize === undefined ? {} : { chunk_size: chunkSize }),
  };
  if (has('sitemap')) return api.post<FileRecord>('/scrape_sitemap', { url, ...fields }, customer);
  const crawl = { url, ...fields, ...(depth === undefined ? {} : { recursion_depth: depth }) };
  return (await api.post<FileRecord[]>('/web_scrape', [crawl], customer))[0];
}

export const scrape: Command = {
  usage: 'URL',
  about:
    'Scrapes a site by following its links as POST /web_scrape does, or with --sitemap the pages of a sitemap, and shows its\nprogress. An unknown customer id creates a user. Ctrl-C ends the display; the scrape continues.',
  options: {
    ...CUSTOMER_OPTION,
    sitemap: { about: 'URL is a sitemap: POST /scrape_sitemap.' },
    'max-pages': { value: 'NUMBER', about: 'Maximum number of pages. Default: 100; for a sitemap, all.' },
    depth: { value: 'NUMBER', about: 'Maximum number of links from the start page. Default: 3.' },
    'chunk-size': { value: 'TOKENS', about: 'Maximum number of tokens per chunk. Default: 1500.' },
    'no-wait': { about: 'Returns as soon as the scrape is accepted.' },
    ...URL_OPTION,
    ...JSON_OPTION,
  },
  async run(call) {
    const { has, text, terminal } = call;
    const customer = text('customer');
    if (customer === undefined) throw new CommandError('Name the user: --customer ID');
    const api = openApi(call);
    let file = await postScrape(call, api, customer);
    if (!file) throw new CommandError('The API accepted no file. Check the URL.');
    const { id } = file;
    if (!has('no-wait')) {
      const progressDisplay = createProgressDisplay(terminal);
      for (;;) {
        [file] = await findFiles(api, customer, String(id), 1);
        if (!file) throw new CommandError(`File ${id} was deleted while it was scraped.`);
        progressDisplay.paint([progressLine(await progressOf(api, customer, file))]);
        if (isSettled(file) || terminal.stopped.aborted) break;
        await sleep(POLL_MS, undefined, { signal: terminal.stopped }).catch(() => undefined);
      }
      progressDisplay.end();
    }
    if (has('json')) terminal.out(JSON.stringify(file));
    else {
      const { sync_status, sync_error_message } = file;
      terminal.out(`file ${id}: ${sync_status}${sync_error_message === null ? '' : `: ${sync_error_message}`}`);
      if (!isSettled(file)) terminal.out(`Watch its progress: npm run cli -- status --customer ${customer} --watch`);
    }
    return ['SYNC_ERROR', 'SYNC_ABORTED'].includes(file.sync_status) ? 1 : 0;
  },
};
