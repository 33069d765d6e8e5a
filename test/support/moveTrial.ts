/**
 * Moves the vectors of files between Qdrant and file storage while processes are killed, and compares the stored data
 * with the state before.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@jest/globals';

import type { FileRecord } from '../../contract/files/records.js';
import { readStoredState } from './storedState.js';
import type { Listed, TestUser } from './client.js';
import { letDaysPass, pointsOfFile, fileIdsWithStoredVectors, eventKindsOf } from './coldFiles.js';
import { findDifferences } from './differences.js';
import type { OwnService, KillTarget } from './ownService.js';
import type { SeededRandom } from './seed.js';
import { waitFor } from './waitFor.js';

export type Direction = 'cold' | 'hot';
const FINAL_STATUS = { cold: 'COLD_STORAGE', hot: 'HOT_STORAGE' } as const;
const SETTLE_MS = 150_000;

/** Short sweep intervals, so that moves start at once and those of a killed run are resumed soon. */
export const MOVE_SETTINGS = { COLD_SWEEP_INTERVAL_S: '1', REAP_INTERVAL_S: '2', CONTENT_ROW_BYTES: '2400' };

export interface MovedFiles {
  /**
   * Moves all files in one direction. A kill happens `delayMs` after the first file has begun to move. The API moves no
   * files: its kill happens `delayMs` after the request (hot), or after the files have become due (cold).
   * @returns whether the kill happened during the move; a kill of the API always counts
   */
  move(direction: Direction, kill: { target: KillTarget; delayMs: number } | null): Promise<boolean>;
}

/** Returns a random delay of a kill in milliseconds, as `move` expects it. */
export const randomDelay = (chance: SeededRandom): number => chance.below(chance.below(2) === 0 ? 150 : 1_500);

/** Uploads files of many chunks, with different texts, and waits until they are READY in Qdrant. */
export async function uploadMovedFiles(service: OwnService, customerId: string, count: number): Promise<MovedFiles> {
  const user: TestUser = await service.user(customerId);
  const sent: FileRecord[] = [];
  for (let number = 0; number < count; number += 1) {
    const content = Array.from(
      { length: 15 + 10 * (number % 4) },
      (_, line) => `Pier ${number}, line ${line}, of stone.\n\n`,
    );
    const query = {
      chunk_size: 20,
      generate_sparse_vectors: true,
      enable_cold_storage: true,
      hot_storage_time_to_live: 1,
    };
    sent.push(await user.send({ name: `${number}.md`, content: content.join('') }, query));
  }
  const ids = sent.map(({ id }) => id);
  for (const id of ids) expect((await user.settled(id, SETTLE_MS)).sync_status).toBe('READY');
  const { env } = service;
  const pointsNow = () => Promise.all(ids.map((id) => pointsOfFile(env, id)));
  const statuses = async (): Promise<string[]> => {
    const { body } = await user.post<Listed<FileRecord>>('/user_files_v2', {
      filters: { ids },
      pagination: { limit: 1_000 },
    });
    return body.results.map((file) => file.embedding_storage_status);
  };
  const contentNow = async () => {
    const storedState = await waitFor(
      () => readStoredState(env),
      (stored) => stored.findInconsistencies().length === 0,
      SETTLE_MS,
    ).catch(() => readStoredState(env));
    expect(storedState.findInconsistencies()).toEqual([]);
    expect(await findDifferences(env)).toEqual([]);
    const { files, points, ...others } = storedState.content(customerId);
    return { ...others, points, files: files.map((file) => ({ ...(file as object), embeddingStorageStatus: '' })) };
  };
  const content = await contentNow();
  const points = await pointsNow();
  expect(points.flat().length).toBeGreaterThan(15 * count);
  const counts = { cold: 0, hot: 0 };
  return {
    async move(direction, kill) {
      const areAllMoved = (now: readonly string[]): boolean =>
        now.every((status) => status === FINAL_STATUS[direction]);
      let begun = false;
      let hit = false;
      const killing = async (): Promise<void> => {
        if (!kill) return;
        // The delay starts when the first file has begun to move. For the API, it starts when the files have become due
        // (cold) or with the request (hot).
        while (
          !begun ||
          (kill.target !== 'api' &&
            (await statuses()).every((status) => status === FINAL_STATUS[direction === 'hot' ? 'cold' : 'hot']))
        )
          await sleep(5);
        await sleep(kill.delayMs);
        hit =
          kill.target === 'api' ||
          !areAllMoved(await statuses()) ||
          (await readStoredState(env)).findInconsistencies().length > 0;
        await service.kill(kill.target);
      };
      const killed = killing();
      if (direction === 'cold') await letDaysPass(env, 2, ids);
      begun = true;
      if (direction === 'hot') expect((await user.post('/move_to_hot_storage', { filters: { ids } })).body).toBe(true);
      await waitFor(statuses, areAllMoved, SETTLE_MS);
      await killed;
      counts[direction] += 1;
      expect(await contentNow()).toEqual(content);
      const ascending = (numbers: readonly number[]): number[] => numbers.toSorted((a, b) => a - b);
      expect(await pointsNow()).toEqual(direction === 'hot' ? points : ids.map(() => []));
      expect(ascending(await fileIdsWithStoredVectors(env))).toEqual(direction === 'hot' ? [] : ascending(ids));
      for (const id of ids) {
        const kinds = await eventKindsOf(env, id);
        const times = (kind: string) => kinds.filter((other) => other === kind).length;
        expect({ cold: times('MOVED_TO_COLD_STORAGE'), hot: times('MOVED_TO_HOT_STORAGE') }).toEqual(counts);
      }
      return hit;
    },
  };
}
