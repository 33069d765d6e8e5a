import { expect, test } from '@jest/globals';

import { detailOf } from '../../cli/api.js';
import type { DataSourceRecord } from '../../contract/files/records.js';
import type { Client } from '../../scripts/demo/client.js';
import { waitForSync } from '../../scripts/demo/connect.js';
import { serveDocs } from '../../scripts/demo/docsSite.js';
import { followScrape } from '../../scripts/demo/scrape.js';

/** Returns a fake API with a scrape of four pages; from the fourth poll on, each poll makes one more page ready. */
function growingScrape(): { readonly api: Client; readonly polls: () => number } {
  let polls = 0;
  const parent = () => ({
    id: 1,
    sync_status: polls > 6 ? 'READY' : 'SYNCING',
    file_metadata: polls > 2 ? { pages_total: 4 } : {},
  });
  const answers = (body: { filters: { ids?: number[]; sync_statuses?: string[] } }): unknown => {
    if (body.filters.ids) {
      polls++;
      return { results: [parent()] };
    }
    return { count: body.filters.sync_statuses?.includes('READY') ? Math.max(0, polls - 3) : 0 };
  };
  return {
    api: {
      get: async () => Promise.reject(new Error('the demo sends no GET here')),
      post: async <T>(_path: string, body: unknown) => answers(body as Parameters<typeof answers>[0]) as T,
    },
    polls: () => polls,
  };
}

test('writes nothing while it polls a scrape, if there is no terminal', async () => {
  const written: string[] = [];
  const { api, polls } = growingScrape();
  await followScrape(api, 1, { isInteractive: false, err: (text) => void written.push(text) }, 1);
  expect(polls()).toBe(7);
  expect(written).toEqual([]);
});

test('waits for the listing of the synced data source, not of another one of its type', async () => {
  let polls = 0;
  const sourcesNow = () => [
    { id: 2, files_synced_at: 'an earlier day' },
    { id: 1, files_synced_at: (polls += 1) > 1 ? 'now' : null },
  ];
  const api: Client = {
    get: async () => Promise.reject(new Error('the demo sends no GET here')),
    post: async <T>(path: string, body: unknown) => {
      if (path === '/user_data_sources') return { results: sourcesNow() } as T;
      return { count: JSON.stringify(body).includes('SYNC_ERROR') ? 0 : 3 } as T;
    },
  };
  const source = { id: 1, data_source_type: 'SLACK', files_synced_at: null } as DataSourceRecord;
  await waitForSync(source, { api, screen: { isInteractive: false, err: () => undefined } });
  expect(polls).toBe(2);
});

test('shows the bar on a terminal once the number of pages is known', async () => {
  const written: string[] = [];
  await followScrape(growingScrape().api, 1, { isInteractive: true, err: (text) => void written.push(text) }, 1);
  expect(written[0]).toContain('finding pages');
  expect(written.join('')).not.toContain('/0');
  expect(written.at(-1)).toContain('4/4 pages · 4 ready, 0 failed');
});

test('serves the documentation on another port if its own is in use', async () => {
  const first = await serveDocs(0);
  const second = await serveDocs(Number(first.host.split(':')[1]));
  expect(second.host).not.toBe(first.host);
  const sitemap = await fetch(second.sitemapUrl);
  expect(await sitemap.text()).toContain(`<loc>http://${second.host}/README.html</loc>`);
  first.close();
  second.close();
});

test('reports a failed request as text, without JSON', () => {
  expect(detailOf({ detail: 'No such file.' })).toBe('No such file.');
  expect(detailOf({ detail: [{ loc: ['body', 'url'], msg: 'Must be a URL', type: 'value_error' }] })).toBe(
    'body.url: Must be a URL',
  );
  expect(detailOf('busy')).toBe('the response has no message. See the log of the service.');
});
