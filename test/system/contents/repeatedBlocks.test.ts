/** Tests, through the API, of the removal of text blocks that many pages of a scraped site repeat. */
import type { Client } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import type { FileRecord } from '../../../contract/files/records.js';
import { scheduleIds } from '../../../contract/runs/workflowIds.js';
import { createTemporalClient } from '../../../dispatch/client.js';
import { type Site, sitemapOf, startSite } from '../../emulators/site.js';
import { type ApiClient, apiClient, type TestUser } from '../../support/client.js';
import { testEngines } from '../../support/engines.js';
import { runScheduledSync } from '../../support/scheduledSyncs.js';
import { startService, type TestService } from '../../support/service.js';
import { waitFor } from '../../support/waitFor.js';

const COOKIES = 'We use cookies to count visits. Read in our policy what we store and for how long.';
const MENU = ['Piers', 'Tides', 'Ferries', 'Pilots', 'Museum'].map((name) => `<li>${name} of the harbour`).join('');
/** Texts that the service removes from every page except the first. */
const NOTICES = [COOKIES, 'Pilots of the harbour', 'Questions? Write to the harbour office, pier 4.'];
const proseOf = (number: number): string =>
  `Pier ${number} was built of stone in ${1800 + number}. It was ${number * 7} metres long, and ships of ` +
  `${number * 30} tons could land there at every tide of the year, which brought wool and coal to quay ${number}.`;
/** Returns a page with menu, notice and footer inside its main element. */
const pageOf = (number: number): string =>
  `<title>Pier ${number}</title><main><div><ul>${MENU}</ul></div><h1>Pier ${number}</h1><p>${proseOf(number)}</p>` +
  `<div><p>${COOKIES}</p></div><p>${proseOf(number + 100)}</p><p>${NOTICES[2]}</p></main>`;

let service: TestService;
let client: Client;
let organization: ApiClient;
let site: Site;
let user: TestUser;
let users = 0;

beforeAll(async () => {
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' });
  client = createTemporalClient({ address: testEngines().temporalAddress, namespace: 'default' });
  organization = apiClient(service.url, { authorization: `Bearer ${service.apiKey}` });
});
afterAll(async () => {
  await service.close();
  await client.connection.close();
});
beforeEach(async () => {
  site = await startSite();
  users += 1;
  user = await service.user(`reader ${users}`);
});
afterEach(() => site.close());

/** Publishes pages 1 to `count`, and a sitemap that lists them. */
function publish(count: number): void {
  const paths = Array.from({ length: count }, (_, i) => `/pier${String(i + 1).padStart(2, '0')}.html`);
  for (const [i, path] of paths.entries()) if (!site.pages.has(path)) site.pages.set(path, pageOf(i + 1));
  site.pages.set('/sitemap.xml', sitemapOf(site.origin, paths));
}

/** Scrapes the site without embeddings: they take CPU time, and the removal of blocks does not depend on them. */
async function scrape(owner = user, body: Record<string, unknown> = {}): Promise<FileRecord> {
  const request = { url: site.url('/sitemap.xml'), skip_embedding_generation: true, ...body };
  const parent = await owner.settled((await owner.scrape(request)).id);
  expect(parent).toMatchObject({ sync_status: 'READY' });
  return parent;
}

/** Returns the key under which the learned blocks of a scrape are stored. */
const rowOf = ({ organization_id: organizationId, organization_user_id: userId, id: fileId }: FileRecord) => ({
  organizationId,
  userId: userId!,
  fileId,
});

interface ReadPage {
  readonly id: number;
  readonly number: number;
  readonly text: string;
  readonly removed: unknown;
}

/** Returns the pages of a scrape with their texts, in order of id. */
async function pagesOf(parent: FileRecord, owner = user): Promise<ReadPage[]> {
  const children = (await owner.children(parent.id)).toSorted((a, b) => a.id - b.id);
  return Promise.all(
    children.map(async ({ id, external_url: url, file_metadata: metadata }) => {
      const chunks = await owner.chunks({ ids: [id] });
      const text = chunks.results.map((chunk) => chunk.source_content).join('\n');
      const number = Number(/pier(\d+)/.exec(url ?? '')?.[1]);
      return { id, number, text, removed: (metadata ?? {})['repeated_blocks_removed'] };
    }),
  );
}

const noticesIn = ({ text }: ReadPage): string[] => NOTICES.filter((notice) => text.includes(notice));
const hasProse = ({ text, number }: ReadPage): boolean =>
  text.includes(proseOf(number)) && text.includes(proseOf(number + 100));

describe('a scrape', () => {
  test('keeps repeated blocks on the first page only, stores how many it removed, and requests each page once, also a missing one', async () => {
    // More than the twelve pages that the service compares (SITE_SAMPLE_PAGES).
    publish(15);
    site.pages.delete('/pier02.html');
    const [first, missing, ...others] = await pagesOf(await scrape());
    expect(noticesIn(first!)).toEqual(NOTICES);
    expect([first!, ...others].every(hasProse)).toBe(true);
    expect(first!.removed).toBeUndefined();
    expect(missing).toMatchObject({ number: 2, text: '' });
    expect(others).toHaveLength(13);
    expect(others.map(noticesIn)).toEqual(others.map(() => []));
    for (const { removed } of others) expect(removed).toEqual({ blocks: 3, characters: expect.any(Number) });
    const fetched = site.requests.filter((path) => path.startsWith('/pier'));
    expect(fetched.toSorted()).toEqual([...new Set(fetched)].toSorted());
    expect(fetched).toContain('/pier02.html');
  });

  test('with remove_repeated_blocks: false keeps repeated blocks, even if another user removes them; a delete also deletes stored blocks', async () => {
    publish(6);
    const otherUser = await service.user(`other ${users}`);
    const ownScrape = await scrape();
    const scrapeWithBlocks = await scrape(otherUser, { remove_repeated_blocks: false });
    expect((await pagesOf(scrapeWithBlocks, otherUser)).map(noticesIn)).toEqual(
      Array.from({ length: 6 }, () => NOTICES),
    );
    const [ownKey, otherKey] = [rowOf(ownScrape), rowOf(scrapeWithBlocks)];
    const { siteBlocks } = service.store;
    expect((await siteBlocks.find(ownKey))?.blocks).not.toHaveLength(0);
    expect(await siteBlocks.find(otherKey)).toBeNull();
    // Neither another user nor another organization can read the stored blocks.
    expect(await siteBlocks.find({ ...otherKey, fileId: ownScrape.id })).toBeNull();
    expect(await siteBlocks.find({ ...ownKey, organizationId: ownKey.organizationId + 1 })).toBeNull();
    await user.post('/delete_files_v2', { filters: { ids: [ownScrape.id] } });
    await waitFor(
      () => siteBlocks.find(ownKey),
      (stored) => stored === null,
    );
  });

  test('with a slow page makes the other pages searchable before the slow page is received', async () => {
    publish(6);
    const slow = site.pages.get('/pier06.html')!;
    let release: () => void = () => undefined;
    site.pages.set('/pier06.html', (_request, response) => {
      release = () => void response.writeHead(200, { 'content-type': 'text/html' }).end(slow as string);
    });
    const parent = await user.scrape({ url: site.url('/sitemap.xml') });
    await waitFor(
      () => user.children(parent.id),
      (pages) => pages.filter(({ sync_status: status }) => status === 'READY').length === 5,
    );
    release();
    await user.settled(parent.id);
    const pages = await pagesOf(parent);
    expect(pages.map(noticesIn)).toEqual([NOTICES, [], [], [], [], []]);
    expect(pages.every(hasProse)).toBe(true);
    expect(site.requests.filter((path) => path === '/pier06.html')).toHaveLength(1);
  });

  test('by links learns the repeated blocks from the pages that the start page links to', async () => {
    publish(6);
    const links = Array.from(site.pages.keys(), (path) => `<li><a href="${path}">${path}</a>`).join('');
    site.pages.set('/', `<title>Piers</title><main><h1>All piers</h1><p>${proseOf(99)}</p><ul>${links}</ul></main>`);
    const body = [{ url: site.url('/'), recursion_depth: 1, max_pages_to_scrape: 20, skip_embedding_generation: true }];
    const { body: answer } = await user.post<{ id: number }[]>('/web_scrape', body);
    const parent = await user.settled(answer[0]!.id);
    const pages = (await pagesOf(parent)).filter(({ number }) => number > 0);
    expect(pages.map(noticesIn).filter((notices) => notices.length > 0)).toEqual([NOTICES]);
    expect(pages.every(hasProse)).toBe(true);
  });
});

test('four pages keep all of their text; blocks learned later cause no event for them, and are removed from a page once it changes', async () => {
  publish(4);
  const parent = await scrape(user, { enable_auto_sync: true });
  const pagesBefore = await pagesOf(parent);
  expect(pagesBefore.map(noticesIn)).toEqual(Array.from({ length: 4 }, () => NOTICES));
  interface Listed {
    readonly results: {
      readonly cursor: number;
      readonly webhook_type: string;
      readonly obj: { readonly object_id: unknown };
    }[];
  }
  const { events } = service.store;
  const eventsAfter = async (cursor: number) =>
    (await organization.get<Listed>(`/events?limit=1000&after=${cursor}`)).body.results;
  /**
   * Waits until the pages with the given numbers have a FILE_READY event after a cursor. Returns the numbers of all
   * pages with an event after it, and the last cursor.
   */
  const readyEvents = async (pages: readonly ReadPage[], readyNumbers: readonly number[], after: number) => {
    const listed = await waitFor(
      async () => {
        await events.settle(pages.map(({ id }) => id));
        await events.number();
        return eventsAfter(after);
      },
      (foundEvents) => readyNumbers.every((number) => numbersIn(foundEvents, pages, 'FILE_READY').includes(number)),
    );
    return { numbers: numbersIn(listed, pages), cursor: listed.at(-1)?.cursor ?? after };
  };
  const numbersIn = (listed: Listed['results'], pages: readonly ReadPage[], type?: string): number[] => {
    const typed = listed.filter(({ webhook_type: eventType }) => type === undefined || eventType === type);
    const ids = new Set(typed.flatMap(({ obj }) => [obj.object_id].flat().map(String)));
    return pages.filter(({ id }) => ids.has(String(id))).map(({ number }) => number);
  };
  const syncNow = async (): Promise<void> => {
    const syncResult = await runScheduledSync(client, service.names, scheduleIds.container(parent.id));
    expect(syncResult).toMatchObject({ outcome: 'finished' });
  };

  const firstEvents = await readyEvents(pagesBefore, [1, 2, 3, 4], 0);
  publish(8);
  await syncNow();
  const grown = await pagesOf(parent);
  expect(grown.map(({ number }) => number)).toEqual(Array.from({ length: 8 }, (_, i) => i + 1));
  expect(grown.slice(0, 4)).toEqual(pagesBefore);
  expect(grown.slice(4).map(noticesIn)).toEqual(Array.from({ length: 4 }, () => []));
  const added = [5, 6, 7, 8];
  const secondEvents = await readyEvents(grown, added, firstEvents.cursor);
  expect(secondEvents.numbers).toEqual(added);

  site.pages.set('/pier03.html', pageOf(3).replace('coal', 'coal and salt'));
  await syncNow();
  const changed = await pagesOf(parent);
  expect(changed.map(noticesIn)).toEqual(grown.map((page, i) => (i === 2 ? [] : noticesIn(page))));
  expect((await readyEvents(changed, [3], secondEvents.cursor)).numbers).toEqual([3]);
});
