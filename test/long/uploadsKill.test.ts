/** Kills every process of the service during small uploads of one user. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pLimit from 'p-limit';

import type { FileRecord } from '../../contract/files/records.js';
import { clearVectorCache, readStoredState } from '../support/storedState.js';
import type { TestUser } from '../support/client.js';
import { findDifferences } from '../support/differences.js';
import { type OwnService, startOwnService, KILL_TARGETS, type KillTarget } from '../support/ownService.js';
import { seededRandom } from '../support/seed.js';
import { waitFor } from '../support/waitFor.js';

const TEXTS = 1_000;
const TEXT_BYTES = 1_000;
/** Only every fourth text is embedded: embedding all would take most of this test's time. */
const WITH_VECTORS = 4;
const KILLS_EACH = 2;
const CONCURRENT = 8;
/** Each kill occurs at a random moment within this time (ms) after its wave of uploads has begun. */
const KILL_WITHIN_MS = 2_000;
const SETTLE_MS = 300_000;
/** Time limit (ms) of both trials on a loaded machine. */
const TEST_MS = 900_000;

let service: OwnService;

beforeAll(async () => {
  service = await startOwnService({});
}, 180_000);
afterAll(() => service?.close());

const textOf = (nth: number): string =>
  Array.from({ length: 40 }, (_, line) => `Report ${nth} notes ${nth * 41 + line} in its line ${line}.`)
    .join(' ')
    .slice(0, TEXT_BYTES);

const optionsOf = (nth: number) =>
  nth % WITH_VECTORS === 0 ? { generate_sparse_vectors: true } : { skip_embedding_generation: true };

/**
 * Uploads one text. A call without an answer is repeated with the same idempotency key, and so is a 409: MongoDB
 * may still hold the transaction of the killed API.
 */
async function upload(user: TestUser, nth: number): Promise<number> {
  const { status, body } = await waitFor(
    () =>
      user.post<FileRecord>(
        '/upload_text',
        { contents: textOf(nth), name: `report ${nth}`, ...optionsOf(nth) },
        { 'idempotency-key': `text-${nth}` },
      ),
    (answer) => answer.status !== 409,
  );
  expect([nth, status]).toEqual([nth, 200]);
  return body.id;
}

/** Uploads all texts in waves, with a kill in each. Returns their file ids once all files are settled. */
async function runTrial(
  customerId: string,
  kills: readonly { target: KillTarget; delayMs: number }[],
): Promise<number[]> {
  const begun = performance.now();
  const at = (): string => `${((performance.now() - begun) / 1000).toFixed(1)} s`;
  const user = await service.user(customerId);
  const countOf = async (statuses: readonly string[]): Promise<number> =>
    (await user.post<{ count: number }>('/user_files_v2', { filters: { sync_statuses: statuses } })).body.count;
  const callers = pLimit(CONCURRENT);
  const waves = Math.max(kills.length, 1);
  const ids: number[] = [];
  for (let wave = 0; wave < waves; wave += 1) {
    const kill = kills[wave];
    const killing = kill && sleep(kill.delayMs).then(() => service.kill(kill.target));
    const numbersOfWave = Array.from({ length: TEXTS / waves }, (_, nth) => (wave * TEXTS) / waves + nth);
    ids.push(...(await Promise.all(numbersOfWave.map((nth) => callers(() => upload(user, nth))))));
    await killing;
    if (kill) process.stdout.write(`${kill.target} killed, ${ids.length} accepted after ${at()}\n`);
  }
  await waitFor(
    () => countOf(['READY', 'SYNC_ERROR', 'SYNC_ABORTED']),
    (count) => count >= TEXTS,
    SETTLE_MS,
  );
  process.stdout.write(`${customerId}: all settled after ${at()}\n`);
  return ids;
}

test(
  `stores each of ${TEXTS} texts of 1 kB once although every process is killed twice`,
  async () => {
    await runTrial('uninterrupted', []);
    await clearVectorCache(service.env);
    const chance = seededRandom('kills during uploads');
    const kills = chance
      .shuffle(KILL_TARGETS.flatMap((target) => Array.from({ length: KILLS_EACH }, () => target)))
      .map((target) => ({ target, delayMs: chance.below(KILL_WITHIN_MS) }));
    const ids = await runTrial('killed', kills);

    const storedState = await readStoredState(service.env);
    expect(storedState.findInconsistencies()).toEqual([]);
    const { files, segments, points, contents } = storedState.content('killed');
    const uninterrupted = storedState.content('uninterrupted');
    // Exactly the acknowledged uploads are stored.
    expect(new Set(ids).size).toBe(TEXTS);
    expect(files).toHaveLength(TEXTS);
    expect(files).toEqual(uninterrupted.files);
    expect(segments).toEqual(uninterrupted.segments);
    expect(points).toEqual(uninterrupted.points);
    expect(contents).toEqual(uninterrupted.contents);
    expect(await findDifferences(service.env)).toEqual([]);
  },
  TEST_MS,
);
