import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { RunDoc } from '../../store/models/runs.js';
import { type SharedService, sharedService } from '../support/sharedService.js';

let service: SharedService;
let owner: { organizationId: number; userId: number; customerId: string };

beforeAll(async () => {
  service = await sharedService({ worker: false });
  owner = { organizationId: service.organizationId, userId: 7, customerId: 'ada' };
});
afterAll(() => service.close());

/** Returns the ids of the runs of this suite. */
const ownIds = (runs: readonly RunDoc[]): number[] =>
  runs.flatMap(({ _id, organizationId }) => (organizationId === owner.organizationId ? [_id] : []));

async function accept(maxTokens: number | null): Promise<number> {
  const { runs, transaction } = service.store;
  const id = await runs.nextId();
  const run = { kind: 'resyncFile', workflowId: `scrape:${id}`, owner, fileId: null, requestId: 'r' } as const;
  await transaction((session) => runs.accept(id, { ...run, maxTokens }, session));
  return id;
}

test('concurrent requests for tokens never exceed the limit', async () => {
  const { pauses, runs } = service.store;
  const id = await accept(100);
  const taken = await Promise.all(Array.from({ length: 40 }, () => pauses.reserveTokens(id, 7)));
  expect(taken.filter(Boolean)).toHaveLength(14);
  expect(await runs.find(id)).toMatchObject({ tokensTaken: 98, pause: { reason: 'max_tokens', wanted: 7 } });
  // After the first refusal, even a smaller amount that would fit is refused.
  expect(await pauses.reserveTokens(id, 1)).toBe(false);
  expect(ownIds(await pauses.listPaused(0, 10_000))).toEqual([id]);
});

test('a paused run is resumed once, only by its owner, and gets no tokens until its workflow clears the pause', async () => {
  const { pauses, runs } = service.store;
  const id = await accept(0);
  expect(await pauses.resume(owner, id, 10)).toBe(false);
  expect(await pauses.reserveTokens(id, 5)).toBe(false);
  expect(await pauses.resume({ ...owner, userId: 8 }, id, 10)).toBe(false);
  expect(await pauses.resume({ ...owner, organizationId: owner.organizationId + 1 }, id, 10)).toBe(false);
  expect(await pauses.clearPause(id)).toBe(false);
  expect(await pauses.findPausedByWorkflowId(`scrape:${id}`)).toMatchObject({ _id: id });
  expect(await pauses.resume(owner, id, 10)).toBe(true);
  expect(await pauses.resume(owner, id, null)).toBe(false);
  expect(await pauses.findPausedByWorkflowId(`scrape:${id}`)).toBeNull();
  const unacknowledged = async () => ownIds(await pauses.listUnacknowledged(new Date(Date.now() + 1_000), 10_000));
  expect(await unacknowledged()).toEqual([id]);
  // The run gets no tokens before its workflow acknowledges the end of the pause.
  expect(await pauses.reserveTokens(id, 5)).toBe(false);
  expect(await pauses.clearPause(id)).toBe(true);
  expect(await unacknowledged()).toEqual([]);
  expect(await pauses.reserveTokens(id, 5)).toBe(true);
  await pauses.releaseTokens(id, 5);
  expect(await runs.find(id)).toMatchObject({ tokensTaken: 0, maxTokens: 10 });
  await runs.finish(id, 'finished', {});
  expect(await pauses.resume(owner, id, 20)).toBe(false);
});

test('a run takes exactly its limit of tokens, and not one more', async () => {
  const { pauses, runs } = service.store;
  const [exact, above] = [await accept(10), await accept(10)];
  expect([await pauses.reserveTokens(exact, 10), await pauses.reserveTokens(above, 11)]).toEqual([true, false]);
  expect(await runs.find(exact)).toMatchObject({ tokensTaken: 10 });
  expect(await runs.find(above)).toMatchObject({ tokensTaken: 0, pause: { wanted: 11 } });
});

test('a new run without a limit has no fields for tokens', async () => {
  const { runs } = service.store;
  const run = await runs.find(await accept(null));
  expect(run?.maxTokens).toBeUndefined();
  expect(run?.tokensTaken).toBeUndefined();
});
