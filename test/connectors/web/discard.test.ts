/** Bodies that are not read are discarded. Otherwise each would keep its connection open. */
import { expect, test } from '@jest/globals';

import { readFeed } from '../../../connectors/rssFeed/readFeed.js';
import { downloadFile } from '../../../connectors/web/downloadFile.js';
import { fetchPage } from '../../../connectors/web/fetchPage.js';
import { readSitemapFile } from '../../../connectors/web/sitemapFile.js';
import type { Egress, EgressResponse } from '../../../egress/types.js';
import { everyRow } from '../../support/everyRow.js';
import { NEVER } from '../account.js';
import { webSettings } from './webSource.js';

const URL_OF = 'https://a.example/x';
const known = { etag: '"1"', lastModified: null };
const robots = { admit: () => Promise.resolve(0) };
const settings = webSettings();
const now = () => 0;
const READERS: Readonly<Record<string, (egress: Egress) => Promise<unknown>>> = {
  'a page': (egress) => fetchPage({ egress, robots, settings, now }, URL_OF, known, NEVER),
  'a sitemap': (egress) => readSitemapFile(egress, settings, now, URL_OF, NEVER),
  'a feed': (egress) => readFeed(egress, settings, now, { url: URL_OF, credentials: null, known, signal: NEVER }),
  'a file': (egress) => downloadFile({ egress, settings, now }, URL_OF, NEVER, () => Promise.reject(new Error('full'))),
};

test('of pages, sitemaps, feeds and files that are refused, unchanged or not stored', () =>
  everyRow(
    Object.keys(READERS).flatMap((name) => [304, 404, 429, 500, 200].map((status) => ({ name, status }))),
    ({ name, status }) => `${name} ${status}`,
    async ({ name, status }) => {
      // A body that is read needs no discarding.
      if (status === 200 && (name === 'a sitemap' || name === 'a feed')) return;
      let discarded = 0;
      const request = async () =>
        ({
          ...{ status, url: URL_OF, headers: { 'content-type': 'image/png' } },
          discard: async () => void (discarded += 1),
        }) as unknown as EgressResponse;
      await READERS[name]!({ request } as unknown as Egress).catch(() => undefined);
      expect(discarded).toBe(1);
    },
  ));
