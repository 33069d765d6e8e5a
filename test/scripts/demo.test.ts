import { expect, test } from '@jest/globals';

import { detailOf } from '../../cli/api.js';
import type { Client } from '../../scripts/demo/client.js';
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

test('writes no line per poll without a terminal', async () => {
  const written: string[] = [];
  const { api, polls } = growingScrape();
  await followScrape(api, 1, { isInteractive: false, err: (text) => void written.push(text) }, 1);
  expect(polls()).toBe(7);
  expect(written).toEqual([]);
});

test('shows the bar on a terminal once the number of pages is known', async () => {
  const written: string[] = [];
  await followScrape(growingScrape().api, 1, { isInteractive: true, err: (text) => void written.push(text) }, 1);
  expect(written[0]).toContain('finding pages');
  expect(written.join('')).not.toContain('/0');
  expect(written.at(-1)).toContain('4/4 pages · 4 ready, 0 failed');
});

test('reports a failed request as text, without JSON', () => {
  expect(detailOf({ detail: 'No such file.' })).toBe('No such file.');
  expect(detailOf({ detail: [{ loc: ['body', 'url'], msg: 'Must be a URL', type: 'value_error' }] })).toBe(
    'body.url: Must be a URL',
  );
  expect(detailOf('busy')).toBe('the response has no message. See the log of the service.');
});
