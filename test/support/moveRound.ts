/** Vectors on their way between Qdrant and file storage, with kills in between, compared with where they began. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@jest/globals';

import type { FileRecord } from '../../contract/records.js';
import { readAtRest } from './atRest.js';
import type { Listed, TestUser } from './client.js';
import { letDaysPass, pointsOfFile, storedFor, toldOf } from './coldFiles.js';
import { findDifferences } from './differences.js';
import type { OwnService, Victim } from './ownService.js';
import type { Chance } from './seed.js';
import { waitFor } from './waitFor.js';

export type Direction = 'cold' | 'hot';
const AT_THE_END = { cold: 'COLD_STORAGE', hot: 'HOT_STORAGE' } as const;
const SETTLE_MS = 150_000;

/** With these the sweep comes at once, and what a dead run has left is found soon. */
export const MOVE_SETTINGS = { COLD_SWEEP_INTERVAL_S: '1', REAP_INTERVAL_S: '2', CONTENT_ROW_BYTES: '2400' };

export interface MovedFiles {
  /** Moves all files in one direction and kills meanwhile; answers whether the kill met the move. */
  round(direction: Direction, kill: { victim: Victim; delayMs: number } | null): Promise<boolean>;
}

/** A moment of a move: so long after the first file is on its way; of the API, after the request is sent. */
export const someDelay = (chance: Chance): number => chance.below(chance.below(2) === 0 ? 150 : 1_500);

/** Files of many chunks, with words and tags of their own, ready and in Qdrant. */
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
    const rest = await waitFor(
      () => readAtRest(env),
      (one) => one.findInconsistencies().length === 0,
      SETTLE_MS,
    ).catch(() => readAtRest(env));
    expect(rest.findInconsistencies()).toEqual([]);
    expect(await findDifferences(env)).toEqual([]);
    const { files, points, ...others } = rest.content(customerId);
    return { ...others, points, files: files.map((file) => ({ ...(file as object), embeddingStorageStatus: '' })) };
  };
  const content = await contentNow();
  const points = await pointsNow();
  expect(points.flat().length).toBeGreaterThan(15 * count);
  const turns = { cold: 0, hot: 0 };
  return {
    async round(direction, kill) {
      const isAtTheEnd = (now: readonly string[]): boolean => now.every((status) => status === AT_THE_END[direction]);
      let begun = false;
      let hit = false;
      const killing = async (): Promise<void> => {
        if (!kill) return;
        // The API matters while it accepts.
        while (
          !begun ||
          (kill.victim !== 'api' &&
            (await statuses()).every((one) => one === AT_THE_END[direction === 'hot' ? 'cold' : 'hot']))
        )
          await sleep(5);
        await sleep(kill.delayMs);
        hit =
          kill.victim === 'api' ||
          !isAtTheEnd(await statuses()) ||
          (await readAtRest(env)).findInconsistencies().length > 0;
        await service.kill(kill.victim);
      };
      const killed = killing();
      if (direction === 'cold') await letDaysPass(env, 2, ids);
      begun = true;
      if (direction === 'hot') expect((await user.post('/move_to_hot_storage', { filters: { ids } })).body).toBe(true);
      await waitFor(statuses, isAtTheEnd, SETTLE_MS);
      await killed;
      turns[direction] += 1;
      expect(await contentNow()).toEqual(content);
      const ascending = (some: readonly number[]): number[] => some.toSorted((a, b) => a - b);
      expect(await pointsNow()).toEqual(direction === 'hot' ? points : ids.map(() => []));
      expect(ascending(await storedFor(env))).toEqual(direction === 'hot' ? [] : ascending(ids));
      for (const id of ids) {
        const told = await toldOf(env, id);
        const times = (kind: string) => told.filter((one) => one === kind).length;
        expect({ cold: times('MOVED_TO_COLD_STORAGE'), hot: times('MOVED_TO_HOT_STORAGE') }).toEqual(turns);
      }
      return hit;
    },
  };
}
