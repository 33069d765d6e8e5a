import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { loadConfig, storeSettings } from '../../../config/config.js';
import type { FileRecord } from '../../../contract/files/records.js';
import { connectStore } from '../../../store/connect.js';
import { linkedPage } from '../../emulators/linkedSite.js';
import { startSite } from '../../emulators/site.js';
import { type StoredState, readStoredState } from '../../support/storedState.js';
import { findDifferences } from '../../support/differences.js';
import {
  CONTENT_ROW_BYTES,
  expectSameAsBaseline,
  type KillSite,
  runKillTrial,
  type Trial,
  randomKill,
  startKillSite,
} from '../../support/killTrial.js';
import { type OwnService, startOwnService, type KillTarget } from '../../support/ownService.js';
import { seededRandom } from '../../support/seed.js';
import { thoroughly, thoroughRows } from '../../support/thorough.js';

/** Number of pages that the site has in this short form of test/long/kill.test.ts. */
const PAGES = 20;
const chance = seededRandom('kills');
let site: KillSite;
let service: OwnService;
let uninterrupted: StoredState;

beforeAll(async () => {
  site = await startKillSite(PAGES, 2);
  service = await startOwnService({
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    CONTENT_ROW_BYTES,
  });
  ({ storedState: uninterrupted } = await runKillTrial({ service, site, customerId: 'uninterrupted', kills: [] }));
});
afterAll(async () => {
  await service.close();
  await site.close();
});

// At most two kills of a group can interrupt the fetch of a page, because the API fetches none. So each page is
// requested at most three times, which expectSameAsBaseline checks.
const GROUPS: readonly (readonly KillTarget[])[] = [
  ['worker', 'mongodb'],
  ...thoroughRows([['temporal', 'qdrant', 'api']]),
];
test.each(GROUPS.map((targets) => [targets.join(' and of '), targets] as const))(
  'stores the same chunks and points as an uninterrupted ingest after kill -9 of %s',
  async (_title, targets) => {
    const kills = chance
      .shuffle(targets)
      .map((target, index) => randomKill(chance, target, (PAGES / 4) * index, (PAGES / 4) * (index + 1)));
    const trial: Trial = { service, site, customerId: targets.join(), kills };
    const { storedState, hits } = await runKillTrial(trial);
    expect(hits).toBe(targets.length);
    expect(uninterrupted.findInconsistencies()).toEqual([]);
    expect(uninterrupted.content('uninterrupted').points.length).toBeGreaterThan(PAGES);
    expectSameAsBaseline(trial, storedState, uninterrupted, 'uninterrupted');
  },
  150_000,
);

thoroughly('stores every linked page once after kill -9 of a worker during a crawl', async () => {
  const linked = await startSite();
  // Each page links to three more: 1, 3, 9 and 27 pages, level by level.
  const paths = Array.from({ length: 40 }, (_, n) => `/c/${n}`);
  paths.forEach((path, n) => {
    const links = [1, 2, 3].map((next) => paths[3 * n + next] ?? paths[0]!);
    linked.pages.set(path, { body: linkedPage(path, links), delayMs: 40 });
  });
  const crawledPaths = () => linked.requests.filter((path) => path.startsWith('/c/'));
  const crawl = async (customerId: string, killAfter: readonly number[]) => {
    linked.requests.length = 0;
    const user = await service.user(customerId);
    const { body } = await user.post<FileRecord[]>('/web_scrape', [{ url: linked.url('/c/0'), chunk_size: 100 }]);
    let settled = false;
    const killing = (async () => {
      let hits = 0;
      for (const requests of killAfter) {
        while (!settled && crawledPaths().length < requests) await sleep(5);
        if (!settled) hits += 1;
        await service.kill('worker');
      }
      return hits;
    })();
    const parent = await user.settled(body[0]!.id);
    settled = true;
    expect(parent).toMatchObject({ sync_status: 'READY', file_metadata: { pages_total: 40, pages_ready: 40 } });
    return killing;
  };
  await crawl('uninterrupted crawl', []);
  expect(crawledPaths()).toHaveLength(40);
  expect(await crawl('killed crawl', [2 + chance.below(3), 14 + chance.below(10)])).toBe(2);
  expect(new Set(crawledPaths()).size).toBe(40);
  const storedState = await readStoredState(service.env);
  expect(storedState.findInconsistencies()).toEqual([]);
  expect(await findDifferences(service.env)).toEqual([]);
  expect(storedState.content('killed crawl')).toEqual(storedState.content('uninterrupted crawl'));
  await linked.close();
});

/** Deletes the uploads without a file that killed APIs left, as the reaper does later. Returns their number. */
async function sweep(): Promise<number> {
  const config = loadConfig(service.env);
  const store = await connectStore(storeSettings(config));
  const swept = await store.originals.sweep(Date.now() + 3_600_000);
  await store.close();
  return swept;
}

test('stores each file once after kill -9 of the API during uploads, and of a worker during their reading', async () => {
  const FILES = 12;
  const text = (number: number) =>
    `# File ${number}\n\n${`Words of file ${number}. `.repeat(number % 2 === 0 ? 20 : 400)}`;
  const user = await service.user('uploads');
  // Half of this upload is sent when the API is killed. Its sender does not retry.
  const broken = request(`${service.url}/uploadfile`, {
    method: 'POST',
    headers: { authorization: `Token ${user.token}`, 'content-type': 'multipart/form-data; boundary=b' },
  });
  broken.on('error', () => undefined);
  broken.write(`--b\r\nContent-Disposition: form-data; name="file"; filename="half.txt"\r\n\r\n${'x'.repeat(100_000)}`);
  await sleep(300);
  const killing = (async () => {
    await sleep(chance.below(150));
    await service.kill('api');
    await sleep(500 + chance.below(1_500));
    await service.kill('worker');
  })();
  const send = async (number: number) => {
    for (let times = 0; ; times += 1) {
      const answer = await user.upload(
        { name: `${number}.md`, content: text(number) },
        { chunk_size: 100, skip_embedding_generation: true },
        { 'idempotency-key': `file ${number}` },
      );
      // The transaction of the killed API may stay open for some seconds, with its key claimed.
      if (answer.status !== 409 || times === 20) return answer;
      await sleep(1_000);
    }
  };
  const answers = await Promise.all(Array.from({ length: FILES }, (_, number) => send(number)));
  await killing;
  broken.destroy();
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: FILES }, () => 200));
  const files = await Promise.all(answers.map(({ body }) => user.settled(body.id)));
  expect(files.map((file) => [file.name, file.sync_status])).toEqual(
    Array.from({ length: FILES }, (_, number) => [`${number}.md`, 'READY']),
  );
  const { body } = await user.post<{ count: number }>('/user_files_v2', {});
  expect(body.count).toBe(FILES);
  expect(await sweep()).toBeGreaterThanOrEqual(1);
  const storedState = await readStoredState(service.env);
  expect(storedState.findInconsistencies()).toEqual([]);
  expect(await findDifferences(service.env)).toEqual([]);
  for (const [number, { id }] of files.entries()) {
    const raw = await user.get<{ presigned_url: string }>(`/raw_file/${id}`);
    expect(await (await fetch(raw.body.presigned_url)).text()).toBe(text(number));
  }
});
