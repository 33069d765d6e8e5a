/**
 * `npm run bench:uploads`: small uploads, and how users share the workers.
 *
 * 1. 1,000 texts of 1 kB, without vectors and with them: time until the last is READY, and processor time per text.
 * 2. 5,000 texts of one user, then one text and 240 texts of another user, then a delete of the first user's texts.
 *
 * Arguments: `--texts=1000 --backlog=5000 --callers=8 --only=small|fair`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pLimit from 'p-limit';

import type { TestUser } from '../test/support/client.js';
import { cpuNow, cpuSince, perRole, total } from './processes.js';
import { type BenchService, startBenchService, unfinishedFiles, until } from './service.js';

const SIZE = 1_000;
const TIMEOUT_MS = 1_800_000;
const POLL_MS = 50;
const WITHOUT_VECTORS = { skip_embedding_generation: true };

const { values } = parseArgs({
  options: {
    texts: { type: 'string', default: '1000' },
    backlog: { type: 'string', default: '5000' },
    callers: { type: 'string', default: '8' },
    only: { type: 'string' },
  },
});
const [texts, backlog, callers] = [Number(values.texts), Number(values.backlog), Number(values.callers)];

const printLine = (line: string): void => void process.stdout.write(`${line}\n`);
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

const WORDS = 'harbour lighthouse keeper signal storm lantern ledger tide oil wick ship captain rope north'.split(' ');
/** Returns a unique text of 1 kB. */
function textOf(nth: number): string {
  let text = `Report ${nth}.`;
  for (let word = nth; text.length < SIZE; word = (word * 31 + 7) % 10_007)
    text += ` ${WORDS[word % WORDS.length]} ${word}.`;
  return text.slice(0, SIZE);
}

/** Uploads texts from concurrent callers. Returns the ids of their files. */
async function upload(user: TestUser, count: number, first: number, options: object): Promise<number[]> {
  const limit = pLimit(callers);
  return Promise.all(
    Array.from({ length: count }, (_, nth) =>
      limit(async () => {
        const { status, body } = await user.post<{ id: number }>('/upload_text', {
          contents: textOf(first + nth),
          ...options,
        });
        if (status !== 200) throw new Error(`POST /upload_text: HTTP ${status} ${JSON.stringify(body)}`);
        return body.id;
      }),
    ),
  );
}

async function countOf(user: TestUser, statuses: readonly string[]): Promise<number> {
  const { body } = await user.post<{ count: number }>('/user_files_v2', {
    filters: { sync_statuses: statuses },
    pagination: { limit: 1 },
  });
  return body.count;
}

const ready = async (user: TestUser, id: number): Promise<boolean> => (await user.file(id)).sync_status === 'READY';

async function measureSmall(service: BenchService, name: string, options: object): Promise<void> {
  const warm = await service.user();
  await upload(warm, 20, 900_000, options);
  await until('the first texts', TIMEOUT_MS, async () => (await unfinishedFiles(warm)) === 0);
  const user = await service.user();
  const before = cpuNow();
  const startedAt = performance.now();
  await upload(user, texts, 0, options);
  const accepted = performance.now() - startedAt;
  await until('all texts', TIMEOUT_MS, async () => (await unfinishedFiles(user)) === 0, 250);
  const ms = performance.now() - startedAt;
  // Runs end shortly after their files. Wait, so that the processor time of their ends is counted.
  await sleep(1_000);
  const used = cpuSince(before);
  const perText = total(used, ['api', 'worker', 'reader', 'embedding', 'temporal', 'mongodb', 'qdrant']) / texts;
  const count = await countOf(user, ['READY']);
  printLine(
    `${texts} texts of 1 kB ${name}: accepted after ${seconds(accepted)}, ${count} READY after ${seconds(ms)};`,
  );
  printLine(`  processor time per text: ${perText.toFixed(1)} ms (${perRole(used, texts, 1)})`);
}

/** Returns the milliseconds from the POST of one text until it is READY. */
async function onePage(user: TestUser, nth: number): Promise<number> {
  const startedAt = performance.now();
  const [id = 0] = await upload(user, 1, nth, {});
  await until('one text', TIMEOUT_MS, () => ready(user, id), POLL_MS);
  return performance.now() - startedAt;
}

async function measureFairness(service: BenchService): Promise<void> {
  const [first, second] = [await service.user(), await service.user()];
  await onePage(second, 1_000_000);
  const idle = await onePage(second, 1_000_001);
  printLine(`one text on an idle service is READY after ${seconds(idle)}`);
  let startedAt = performance.now();
  await upload(first, backlog, 2_000_000, {});
  printLine(`${backlog} texts of one user accepted after ${seconds(performance.now() - startedAt)}`);
  printLine(`  ${await unfinishedFiles(first)} of them are unfinished`);
  printLine(`one text of another user after them: ${seconds(await onePage(second, 1_000_002))}`);
  startedAt = performance.now();
  const some = await upload(second, 240, 3_000_000, {});
  let at = 0;
  await until('240 texts', TIMEOUT_MS, async () => {
    const done = await countOf(second, ['READY']);
    if (done > 3 && at === 0) at = performance.now() - startedAt;
    return done === some.length + 3;
  });
  printLine(
    `240 texts of another user: the first READY after ${seconds(at)}, all after ${seconds(performance.now() - startedAt)}`,
  );
  const unfinished = await unfinishedFiles(first);
  startedAt = performance.now();
  const { status } = await first.post('/delete_files_v2', { filters: { source: 'RAW_TEXT' } });
  if (status !== 200) throw new Error(`POST /delete_files_v2: HTTP ${status}`);
  await until('no queued text', TIMEOUT_MS, async () => (await unfinishedFiles(first)) === 0, POLL_MS);
  printLine(
    `delete of ${backlog} texts, ${unfinished} of them queued: none unfinished after ${seconds(performance.now() - startedAt)},`,
  );
  await until('no text', TIMEOUT_MS, async () => (await countOf(first, [])) === 0, 250);
  printLine(`  all deleted after ${seconds(performance.now() - startedAt)}`);
}

const service = await startBenchService({ siteHost: '127.0.0.1', profileDir: null, printLine });
try {
  if (values.only !== 'fair') {
    await measureSmall(service, 'without vectors', WITHOUT_VECTORS);
    await measureSmall(service, 'with vectors', {});
  }
  if (values.only !== 'small') await measureFairness(service);
} finally {
  await service.stop();
}
