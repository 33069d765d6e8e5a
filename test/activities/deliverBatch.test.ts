import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { asyncLocalStorage } from '@temporalio/activity';

import { createWebhookActivities } from '../../activities/webhooks/deliverBatch.js';
import type { ActivityDeps } from '../../activities/deps.js';
import { Fault } from '../../contract/failures.js';
import { createMetrics } from '../../observability/metrics.js';
import type { WebhookDoc } from '../../store/models/webhooks.js';
import { everyRow } from '../support/everyRow.js';
import { seriesOf } from '../support/scrape.js';
import { type SharedService, sharedService } from '../support/sharedService.js';
import { thoroughRows } from '../support/thorough.js';

// Tests of deliveries without a workflow. The stores are real, and the receiver is a function. Retries are due
// immediately unless a test sets other delays.

/** Response of the receiver: an HTTP status or a network error. */
type Reaction = number | 'unreachable';

let service: SharedService;
let organizationId: number;
let webhook: WebhookDoc;
/** Object ids of the received events, in order. */
const received: string[] = [];
/** Request options of each delivery, without the body. */
const requests: object[] = [];
let react: (object: string) => Reaction = () => 200;
let retryDelaysMs: readonly number[] = [];
const logged: string[] = [];
let metrics: ReturnType<typeof createMetrics>;

beforeAll(async () => {
  service = await sharedService({ worker: false });
});
afterAll(() => service.close());
beforeEach(async () => {
  const { organizations, transaction, webhooks } = service.store;
  ({ organizationId } = await organizations.create('batches'));
  webhook = (await transaction((session) =>
    webhooks.add(organizationId, 'https://receiver.example/hook', 'ab'.repeat(32), session),
  ))!;
  received.length = 0;
  logged.length = 0;
  react = () => 200;
  retryDelaysMs = [0, 0, 0];
  metrics = createMetrics({ ofProcess: false });
});

async function writeEvents(...objects: string[]): Promise<void> {
  const { events } = service.store;
  for (const objectId of objects)
    await events.write([{ kind: 'FILE_READY', organizationId, customerId: 'ada', objectId, info: null }], null);
  while ((await events.number()) > 0);
}

/** Delivers one batch, as the workflow does. */
async function deliverNext() {
  const webhookEgress = {
    request: ({ body, ...how }: { body: string }) => {
      requests.push(how);
      const { payload } = JSON.parse(body) as { payload: string };
      const object = (JSON.parse(payload) as { obj: { object_id: string } }).obj.object_id;
      received.push(object);
      const answer = react(object);
      if (answer === 'unreachable') return Promise.reject(new Fault('unreachable', 'The receiver is unreachable.'));
      return Promise.resolve({ status: answer, discard: () => Promise.resolve() });
    },
  };
  const log = { warn: (_fields: unknown, text: string) => void logged.push(text) };
  const deps = {
    ...{ store: service.store, webhookEgress, log, metrics, workflowLink: () => null },
    settings: { webhooks: { timeoutMs: 1_000, retryDelaysMs } },
  } as unknown as ActivityDeps;
  const context = { heartbeat: () => undefined, cancellationSignal: new AbortController().signal } as never;
  const { deliverBatch } = createWebhookActivities(deps);
  return asyncLocalStorage.run(context, () => deliverBatch({ webhookId: webhook._id }));
}
const currentWebhook = async (): Promise<WebhookDoc> => (await service.store.webhooks.find(webhook._id))!;
const outcomes = async (): Promise<string[]> => {
  const rows = await service.store.deliveries.list(webhook._id, { limit: 1_000, offset: 0 });
  return rows.toReversed().map(({ event, status, tries }) => `${String(event.objectId)} ${status} ${tries}`);
};
const cursorOf = async (): Promise<number> => (await currentWebhook()).cursor - webhook.cursor;

test('delivers each event once, for each object in feed order, and advances the cursor', async () => {
  await writeEvents('1', '2', '1', '3');
  expect(await deliverNext()).toEqual({ ended: false, more: true, dueInMs: null });
  expect(received.filter((objectId) => objectId === '1')).toHaveLength(2);
  expect(received.toSorted()).toEqual(['1', '1', '2', '3']);
  expect(await cursorOf()).toBe(4);
  expect(await deliverNext()).toEqual({ ended: false, more: false, dueInMs: null });
  expect(received).toHaveLength(4);
  // No delivery is due, so no further pass is requested.
  expect((await currentWebhook()).wake).toBeNull();
  expect(await currentWebhook()).toMatchObject({ status: 'ACTIVE', failing: null });
});

test('counts attempts by outcome, and none for events that wait for an earlier event of the same object', async () => {
  await writeEvents('a', 'b', 'b');
  react = (object) => (object === 'b' ? 500 : 200);
  retryDelaysMs = [0];
  while ((await deliverNext()).more);
  await writeEvents('c');
  while ((await deliverNext()).more);
  const series = seriesOf((await metrics.scrape()).text);
  const counted = (outcome: string) => series[`allotrope_webhook_tries_total{outcome="${outcome}"}`];
  expect([counted('delivered'), counted('failed'), counted('given_up')]).toEqual([2, 2, 2]);
  expect(series['allotrope_webhook_delay_seconds_count']).toBe(2);
});

test('a delivery has an expiry only after its end, and none while it is redelivered', async () => {
  const expiring = async () => {
    const rows = await service.store.deliveries.list(webhook._id, { limit: 10, offset: 0 });
    return rows.toReversed().map(({ status, expiresAt }) => [status, expiresAt !== null]);
  };
  await writeEvents('a', 'b', 'b');
  react = (object) => (object === 'b' ? 500 : 200);
  retryDelaysMs = [3_600_000];
  await deliverNext();
  expect(await expiring()).toEqual([...[['DELIVERED', true]], ['PENDING', false], ['PENDING', false]]);
  expect(await service.store.deliveries.requeue(webhook._id, [(await currentWebhook()).cursor - 2])).toBe(1);
  expect((await expiring())[0]).toEqual(['PENDING', false]);
});

describe('receiver that answers 410', () => {
  test('gets no further events, and after reactivation every event that it has not received', async () => {
    await writeEvents('1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '11', '12');
    let answers = 0;
    react = () => ((answers += 1) === 1 ? 410 : 200);
    expect(await deliverNext()).toMatchObject({ ended: true });
    expect(logged).toEqual(['webhook flagged']);
    expect(await currentWebhook()).toMatchObject({ status: 'FLAGGED', wake: null, failing: null });
    expect((await currentWebhook()).disabledAt).not.toBeNull();
    const countBefore = received.length;
    expect(await deliverNext()).toMatchObject({ ended: true });
    expect(received).toHaveLength(countBefore);
    await service.store.deliveries.requeue(webhook._id, null);
    await service.store.webhooks.enableAndWake(webhook._id);
    while ((await deliverNext()).more);
    expect(new Set(received)).toEqual(new Set(Array.from({ length: 12 }, (_, at) => String(at + 1))));
    expect(await outcomes()).toEqual(Array.from({ length: 12 }, (_, at) => `${at + 1} DELIVERED 0`));
    expect(await currentWebhook()).toMatchObject({ status: 'ACTIVE', statusReason: '', disabledAt: null });
  });

  test('is disabled again by the same answer after a redelivery', async () => {
    react = () => 410;
    await writeEvents('1');
    await deliverNext();
    const { statusReason } = await currentWebhook();
    await service.store.deliveries.requeue(webhook._id, null);
    await service.store.webhooks.enableAndWake(webhook._id);
    expect(await deliverNext()).toMatchObject({ ended: true });
    expect(received).toEqual(['1', '1']);
    expect(await currentWebhook()).toMatchObject({ statusReason, disabledAt: expect.anything(), wake: null });
    await writeEvents('2');
    expect(await deliverNext()).toMatchObject({ ended: true });
    expect(received).toEqual(['1', '1']);
  });

  test('loses no event if it answers any delivery of a batch with 410', async () => {
    await everyRow([1, 9, ...thoroughRows([2, 3, 5])], String, async (nth) => {
      const countBefore = (await outcomes()).length;
      const objects = Array.from({ length: 10 }, (_, at) => `${nth}-${at}`);
      await writeEvents(...objects);
      let answers = 0;
      react = () => ((answers += 1) === nth ? 410 : 200);
      while ((await deliverNext()).more);
      await service.store.deliveries.requeue(webhook._id, null);
      await service.store.webhooks.enableAndWake(webhook._id);
      while ((await deliverNext()).more);
      const added = (await outcomes()).slice(countBefore);
      expect(added).toEqual(objects.map((object) => `${object} DELIVERED 0`));
    });
  });
});

/** Outcome of an attempt, by the receiver's answer. */
const ANSWERS: [Reaction, isDelivered: boolean, error: RegExp | null][] = [
  [200, true, null],
  [204, true, null],
  [299, true, null],
  [300, false, /HTTP 300: redirects are not followed/],
  [302, false, /HTTP 302: redirects are not followed/],
  [399, false, /HTTP 399: redirects are not followed/],
  [400, false, /HTTP 400\.$/],
  [401, false, /HTTP 401\.$/],
  [429, false, /HTTP 429\.$/],
  [500, false, /HTTP 500\.$/],
  ['unreachable', false, /The receiver is unreachable\./],
];

test('keeps a delivery for a retry after a network error or any status except 2xx and 410', async () => {
  retryDelaysMs = [60_000];
  await everyRow(
    ANSWERS,
    ([answer]) => String(answer),
    async ([answer, isDelivered, error]) => {
      await writeEvents(`a${answer}`);
      react = () => answer;
      await deliverNext();
      const [row] = await service.store.deliveries.list(webhook._id, { limit: 1, offset: 0 });
      expect(row).toMatchObject({ status: isDelivered ? 'DELIVERED' : 'PENDING', tries: isDelivered ? 0 : 1 });
      const [attempt] = row!.attempts;
      expect(attempt!.statusCode).toBe(answer === 'unreachable' ? null : answer);
      if (error === null) expect(attempt!.error).toBeNull();
      else expect(attempt!.error).toMatch(error);
    },
  );
});

test('retries a delivery after each configured delay, while deliveries for other objects continue', async () => {
  retryDelaysMs = [0, 70_000];
  await writeEvents('1', '2', '1');
  react = (object) => (object === '1' ? 500 : 200);
  await deliverNext();
  // The second event of the same object waits for the first; an event of another object does not.
  expect(received.toSorted()).toEqual(['1', '2']);
  expect(await outcomes()).toEqual(['1 PENDING 1', '2 DELIVERED 0', '1 PENDING 0']);
  expect((await currentWebhook()).failing).toMatchObject({ event: 'FILE_READY', tries: 1 });
  expect(await cursorOf()).toBe(3);
  const { dueInMs } = await deliverNext();
  expect(received).toEqual([...received.slice(0, 2), '1']);
  expect(dueInMs).toBeGreaterThan(10_000);
  expect(dueInMs).toBeLessThanOrEqual(70_000);
  expect((await currentWebhook()).failing).toMatchObject({ tries: 2 });
  // The retry is not due yet, and the webhook still has work.
  expect(await deliverNext()).toMatchObject({ more: false, dueInMs: expect.any(Number) });
  expect(received).toHaveLength(3);
  expect((await currentWebhook()).wake).not.toBeNull();
  retryDelaysMs = [0, 0];
  await service.store.deliveries.requeue(webhook._id, []);
  expect((await currentWebhook()).status).toBe('ACTIVE');
});

test('a failed event flags the webhook, can be sent again, and does not block the next event', async () => {
  retryDelaysMs = [0];
  await writeEvents('1', '1');
  let refused = 0;
  react = () => ((refused += 1) <= 3 ? 500 : 200);
  await deliverNext();
  expect(logged).toEqual([]);
  // The second and last attempt of the first event, and the first attempt of the second one.
  await deliverNext();
  expect(logged).toEqual(['webhook flagged']);
  expect((await currentWebhook()).status).toBe('FLAGGED');
  while ((await deliverNext()).more);
  expect(await outcomes()).toEqual(['1 FAILED 2', '1 DELIVERED 1']);
  expect(await service.store.deliveries.requeue(webhook._id, null)).toBe(1);
  expect(await service.store.deliveries.requeue(webhook._id, null)).toBe(0);
  await service.store.webhooks.enableAndWake(webhook._id);
  while ((await deliverNext()).more);
  expect(await outcomes()).toEqual(['1 DELIVERED 0', '1 DELIVERED 1']);
  expect((await currentWebhook()).status).toBe('ACTIVE');
  expect(received).toHaveLength(5);
});

test('new events that 1,000 pending deliveries held back are read once some of these have ended', async () => {
  const { deliveries, events, webhooks } = service.store;
  const objects = Array.from({ length: 1_002 }, (_, at) => String(at + 1));
  await events.write(
    objects.map((objectId) => ({ kind: 'FILE_READY', organizationId, customerId: 'ada', objectId, info: null })),
    null,
  );
  while ((await events.number()) > 0);
  const pending = await events.after(organizationId, webhook.cursor, 1_000);
  await deliveries.record(
    webhook,
    pending.map((event) => ({ event, status: 'PENDING', tries: 0, nextTryAt: null, attempt: null })),
  );
  const cursor = pending.at(-1)!.position;
  await webhooks.saveProgress(webhook._id, { cursor, outcome: null, failing: null, disabled: false, done: null });
  retryDelaysMs = [3_600_000];
  react = (object) => (object === '1' ? 500 : 200);
  expect(await deliverNext()).toMatchObject({ ended: false, more: true });
  expect(received).toHaveLength(1_000);
  expect(await deliverNext()).toMatchObject({ more: true });
  expect(received.slice(1_000)).toEqual(['1001', '1002']);
  expect(await deliverNext()).toMatchObject({ more: false, dueInMs: expect.any(Number) });
});

test('deleting a webhook deletes its deliveries and stops sending', async () => {
  await writeEvents('1');
  await deliverNext();
  await writeEvents('2');
  expect(await service.store.webhooks.remove(organizationId + 1, webhook._id)).toBe(false);
  expect(await service.store.webhooks.remove(organizationId, webhook._id)).toBe(true);
  expect(await service.store.webhooks.remove(organizationId, webhook._id)).toBe(false);
  expect(await deliverNext()).toEqual({ ended: true, more: false, dueInMs: null });
  expect(received).toEqual(['1']);
  expect([await service.store.webhooks.find(webhook._id), await service.store.deliveries.count(webhook._id)]).toEqual([
    null,
    0,
  ]);
});

test('delivers no events of other organizations', async () => {
  const { events, organizations } = service.store;
  const { organizationId: otherOrganizationId } = await organizations.create('other');
  await events.write(
    [{ kind: 'FILE_READY', organizationId: otherOrganizationId, customerId: 'eve', objectId: '9', info: null }],
    null,
  );
  await writeEvents('1');
  while ((await deliverNext()).more);
  expect(received).toEqual(['1']);
});

test('a delivery follows no redirect and has the configured timeout', async () => {
  await writeEvents('1');
  await deliverNext();
  expect(requests.at(-1)).toMatchObject({
    ...{ url: 'https://receiver.example/hook', method: 'POST', redirects: 'answer', totalTimeoutMs: 1_000 },
    headers: { 'content-type': 'application/json', 'webhook-id': expect.any(String) },
  });
});

test('does not repeat deliveries that an interrupted pass recorded', async () => {
  await writeEvents('1', '2');
  const [event] = await service.store.events.after(organizationId, webhook.cursor, 10);
  const attempt = { at: new Date(), ms: 1, statusCode: 200, error: null };
  await service.store.deliveries.record(webhook, [
    { event: event!, status: 'DELIVERED', tries: 0, nextTryAt: null, attempt },
  ]);
  while ((await deliverNext()).more);
  expect(received).toEqual(['2']);
  expect(await outcomes()).toEqual(['1 DELIVERED 0', '2 DELIVERED 0']);
});

test('the status of a webhook names its first failing delivery', async () => {
  retryDelaysMs = [60_000];
  await writeEvents('1', '2', '3');
  react = (object) => (object === '1' ? 200 : object === '2' ? 502 : 503);
  await deliverNext();
  expect((await currentWebhook()).failing?.error).toMatch(/HTTP 502/);
  await deliverNext();
  expect((await currentWebhook()).failing).toMatchObject({ error: expect.stringMatching(/HTTP 502/), tries: 1 });
});

test('a wake request during the end of a batch is not lost', async () => {
  await writeEvents('1');
  await deliverNext();
  const { find } = service.store.webhooks;
  const webhookBefore = (await find(webhook._id))!;
  await service.store.webhooks.enableAndWake(webhook._id);
  await service.store.webhooks.saveProgress(webhook._id, {
    ...{ cursor: webhookBefore.cursor, outcome: null, failing: null, disabled: false, done: webhookBefore.wake ?? -1 },
  });
  expect((await currentWebhook()).wake).not.toBeNull();
  // A pass with an older cursor does not move the cursor back.
  await service.store.webhooks.saveProgress(webhook._id, {
    ...{ cursor: webhookBefore.cursor - 1, outcome: null, failing: null, disabled: false, done: null },
  });
  expect((await currentWebhook()).cursor).toBe(webhookBefore.cursor);
});
