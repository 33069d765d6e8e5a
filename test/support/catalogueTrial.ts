/**
 * Connects, lists and syncs a whole account while the worker is killed several times. Tests compare the result with
 * that of a trial without kills.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@jest/globals';

import type { DataSourceRecord, FileRecord } from '../../contract/files/records.js';
import { supportsOption } from '../../contract/sources/sources.js';
import type { ConnectedSourceType } from '../../contract/sources/connectedSources.js';
import { clearVectorCache, readStoredState } from './storedState.js';
import type { Listed } from './client.js';
import type { OwnService } from './ownService.js';
import { waitFor } from './waitFor.js';
import type { SourceFixture, FixtureContent } from './sourceFixtures/fixture.js';

/** Number of documents in addition to the content that every fixture has. */
export const MORE = 20;

export interface CatalogueTrial {
  readonly service: OwnService;
  readonly type: ConnectedSourceType;
  readonly fixture: SourceFixture;
  /**
   * The content of the source. All trials share it: a reset would increase version numbers, so results would differ.
   */
  readonly content: FixtureContent;
  readonly customerId: string;
  /** The worker is killed after each of these numbers of requests to the source. */
  readonly killsAfter: readonly number[];
}

/** The stored result of a trial, and its statistics. */
interface TrialResult {
  /** The account's items and stored content after the trial. */
  readonly stored: unknown;
  readonly inconsistencies: readonly string[];
  /** Number of kills before the sync was complete. */
  readonly killsDuringSync: number;
  /** Requests that the source received. */
  readonly requests: number;
}

export async function runCatalogueTrial(trial: CatalogueTrial): Promise<TrialResult> {
  const { service, type, fixture, content, customerId, killsAfter } = trial;
  await clearVectorCache(service.env);
  const requestsBefore = fixture.requestCount();
  const user = await service.user(customerId);
  let isOver = false;
  const killing = (async () => {
    let killsDuringSync = 0;
    for (const requests of killsAfter) {
      while (!isOver && fixture.requestCount() - requestsBefore < requests) await sleep(5);
      if (!isOver) killsDuringSync += 1;
      await service.kill('worker');
    }
    return killsDuringSync;
  })();
  expect(await fixture.connect(user, { sync_source_items: true })).toMatchObject({ status: 200 });
  const source = async (): Promise<DataSourceRecord> =>
    (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body.results[0]!;
  const { id } = await source();
  if (!supportsOption(type, 'sync_files_on_connection')) {
    const request = { data_source_id: id, ids: content.containers };
    expect((await user.post('/integrations/files/sync', request)).status).toBe(200);
  }
  const listing = { pagination: { limit: 1_000 }, order_by: 'name' };
  await waitFor(
    async () => (await user.post<Listed<FileRecord>>('/user_files_v2', listing)).body.results,
    (files) => files.length === 2 + content.others.length + MORE && files.every((file) => file.sync_status === 'READY'),
  );
  const { sync_status, last_sync_action, revoked_access, data_source_metadata } = await waitFor(
    source,
    (current) =>
      current.sync_status === 'READY' && current.files_synced_at !== null && current.source_items_synced_at !== null,
  );
  isOver = true;
  const requests = fixture.requestCount() - requestsBefore;
  const killsDuringSync = await killing;
  const { body } = await user.post<{ items: Record<string, unknown>[]; count: number }>('/integrations/items/list', {
    ...listing,
    filters: { root_files_only: false },
    data_source_id: id,
  });
  expect(body.count).toBe(content.items);
  const items = body.items.map(({ external_id, name, parent_external_id, item_type }) => {
    return { external_id, name, parent_external_id, item_type };
  });
  const storedState = await readStoredState(service.env);
  const record = { sync_status, last_sync_action, revoked_access, data_source_metadata };
  return {
    stored: { record, items, ...storedState.content(customerId) },
    inconsistencies: storedState.findInconsistencies(),
    killsDuringSync,
    requests,
  };
}
