import type * as sdkActivity from '@temporalio/activity';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { Activities } from '../../activities/index.js';
import { type EmbeddingEmulator, startEmbeddingEmulator } from '../emulators/embeddingProviders/start.js';
import { readStoredState } from '../support/storedState.js';
import { loadProduct } from '../support/product.js';
import { startService, type TestService } from '../support/service.js';
import { waitFor } from '../support/waitFor.js';

const FILES = 3;
const TO = 'OPENAI_ADA_SMALL_512';

let emulator: EmbeddingEmulator;
let activity: typeof sdkActivity;
let service: TestService;
/** The results or errors of the late attempts, one for each batch. */
const late: unknown[] = [];

/** Blocks the next write of points. `arrived` resolves when the write begins; `release` lets it continue. */
function blockPoints() {
  const { vectors } = service.store;
  const { upsert } = vectors;
  let arrive = (): void => undefined;
  let release = (): void => undefined;
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  const released = new Promise<void>((resolve) => (release = resolve));
  vectors.upsert = async (points) => {
    vectors.upsert = upsert;
    arrive();
    await released;
    await upsert(points);
  };
  return { arrived, release };
}

/**
 * Blocks the first attempt of each batch before it writes points. It is cancelled, and continues only after a
 * second attempt has finished.
 */
const blockFirstAttempts = (activities: Activities): Activities => ({
  ...activities,
  async reembedBatch(input) {
    const blocked = blockPoints();
    const cancelled = new AbortController();
    const context = Object.create(activity.Context.current(), {
      cancellationSignal: { value: cancelled.signal },
    }) as sdkActivity.Context;
    const firstAttempt = activity.asyncLocalStorage.run(context, () => activities.reembedBatch(input));
    await blocked.arrived;
    const counts = await activities.reembedBatch(input);
    cancelled.abort(new Error('heartbeat timeout'));
    blocked.release();
    late.push(await firstAttempt.catch((error: unknown) => error));
    return counts;
  },
});

beforeAll(async () => {
  ({ activity } = await loadProduct());
  emulator = await startEmbeddingEmulator();
  service = await startService(
    { ALLOWED_PRIVATE_HOSTS: '127.0.0.1', ...emulator.settings('openai') },
    { worker: false },
  );
  await service.startWorker(blockFirstAttempts);
});
afterAll(async () => {
  await service.close();
  await emulator.close();
});

test('stores no extra data when a late attempt of a batch continues after another attempt has finished', async () => {
  late.length = 0;
  const user = await service.user('cut off');
  for (let number = 0; number < FILES; number += 1) {
    const contents = `Quay ${number} is of oak.`;
    const { body } = await user.post<{ id: number }>('/upload_text', {
      contents,
      embedding_model: 'COHERE_MULTILINGUAL_V3',
    });
    expect((await user.settled(body.id)).sync_status).toBe('READY');
  }
  const { body } = await user.post<{ id: number }>('/files/reembed', { embedding_model: TO });
  const run = await waitFor(
    () => user.get<{ status: string }>(`/files/reembed/${body.id}`),
    (answer) => !['QUEUED', 'RUNNING'].includes(answer.body.status),
  );
  expect(run.body).toMatchObject({ status: 'FINISHED', reembedded: FILES, failed: 0, skipped: {} });
  expect(late).toEqual([expect.any(Error)]);
  expect((await readStoredState(service.env)).findInconsistencies()).toEqual([]);
});
