import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { EventKind } from '../../../contract/events.js';
import { type Receiver, startReceiver } from '../../emulators/receiver.js';
import { apiClient } from '../../support/client.js';
import { waitFor } from '../../support/waitFor.js';
import { startService, type TestService } from '../../support/service.js';
import { thoroughly } from '../../support/thorough.js';

/** Misbehaving receivers: the events delivered, their order, and the list of deliveries. */

let service: TestService;
const receivers: Receiver[] = [];

beforeAll(async () => {
  service = await startService({
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    WEBHOOK_TIMEOUT_MS: '2500',
    WEBHOOK_RETRY_DELAYS_S: '0.2,0.4',
  });
});
afterAll(async () => {
  await Promise.all(receivers.map((one) => one.close()));
  await service.close();
});

interface Delivery {
  readonly id: number;
  readonly event_id: string;
  readonly webhook_type: string;
  readonly obj: { object_id: string };
  readonly status: string;
  readonly next_attempt_at: string | null;
  readonly attempts: { status_code: number | null; error: string | null; duration_ms: number; at: string }[];
}

/** Creates an organization, to which receivers can be added. */
async function organization() {
  const { organizationId, apiKey } = await service.store.organizations.create(randomUUID());
  const client = apiClient(service.url, { authorization: `Bearer ${apiKey}` });
  const all = { limit: 1000 };
  return {
    ...client,
    organizationId,
    async receiver() {
      const receiver = await startReceiver();
      receivers.push(receiver);
      const { status, body } = await client.post<{ id: number }>('/add_webhook', { url: receiver.url });
      expect(status).toBe(200);
      return { ...receiver, id: body.id };
    },
    emit: (kind: EventKind, ...ids: number[]) =>
      service.store.events.write(
        ids.map((id) => ({ kind, organizationId, customerId: 'ada', objectId: String(id), info: null })),
        null,
      ),
    webhook: async (id: number) =>
      (
        await client.post<{ results: { status: string; status_reason: string }[] }>('/webhooks', {
          filters: { ids: [id] },
          pagination: all,
        })
      ).body.results[0],
    /** Returns the deliveries of a webhook, oldest first. */
    deliveries: async (id: number) =>
      (
        await client.get<{ results: Delivery[]; count: number }>(`/webhooks/${id}/deliveries`)
      ).body.results.toReversed(),
  };
}

const haveAllEnded = (found: readonly { status: string }[]): boolean =>
  found.length > 0 && found.every(({ status }) => status !== 'PENDING');

describe('a receiver that answers 500 for a while', () => {
  test('gets each event once after it recovers, those of one object in order, and every attempt is listed', async () => {
    const { emit, receiver, deliveries } = await organization();
    const hook = await receiver();
    hook.reactWith(({ event }) => (event.obj.object_id === '1' ? 500 : 200));
    await emit('FILE_SYNCING', 1, 2);
    await emit('FILE_READY', 1, 2);
    // File 2 gets all its events while file 1 waits: all attempts for file 1 so far were for its first event.
    expect(await hook.waitForAccepted(2)).toEqual(['FILE_SYNCING 2', 'FILE_READY 2']);
    hook.reactWith(() => 200);
    expect((await hook.waitForAccepted(4)).slice(2)).toEqual(['FILE_SYNCING 1', 'FILE_READY 1']);
    const listed = await waitFor(() => deliveries(hook.id), haveAllEnded);
    expect(listed.map(({ webhook_type, obj, status }) => `${webhook_type} ${obj.object_id} ${status}`)).toEqual([
      'FILE_SYNCING 1 DELIVERED',
      'FILE_SYNCING 2 DELIVERED',
      'FILE_READY 1 DELIVERED',
      'FILE_READY 2 DELIVERED',
    ]);
    const codes = listed.map(({ attempts }) => attempts.map(({ status_code }) => status_code));
    expect(codes[0]?.at(0)).toBe(500);
    expect(codes[0]?.at(-1)).toBe(200);
    expect([codes[1], codes[2], codes[3]]).toEqual([[200], [200], [200]]);
    // The same event has the same id and the same bytes at every attempt.
    const tries = hook.received.filter(
      ({ event }) => event.webhook_type === 'FILE_SYNCING' && event.obj.object_id === '1',
    );
    expect(tries).toHaveLength(codes[0]?.length ?? 0);
    expect(new Set(tries.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([listed[0]?.event_id]));
    expect(new Set(tries.map(({ raw }) => raw)).size).toBe(1);
  });
});

describe('a receiver that rejects an event', () => {
  test('is flagged with a reason after the last attempt, still gets the next event, and is ACTIVE after that', async () => {
    const { emit, receiver, deliveries, webhook, post } = await organization();
    const hook = await receiver();
    hook.reactWith(({ event }) => (event.webhook_type === 'FILE_ERROR' ? 503 : 200));
    await emit('FILE_ERROR', 1);
    const flagged = await waitFor(
      () => webhook(hook.id),
      (one) => one?.status === 'FLAGGED',
    );
    expect(flagged?.status_reason).toMatch(/FILE_ERROR \(evt_\d+_1\) failed after 3 attempts.*HTTP 503/);
    expect(hook.arrived()).toEqual(['FILE_ERROR 1', 'FILE_ERROR 1', 'FILE_ERROR 1']);
    const [delivery] = await deliveries(hook.id);
    expect(delivery).toMatchObject({ status: 'FAILED', next_attempt_at: null });
    expect(delivery?.attempts.map(({ status_code }) => status_code)).toEqual([503, 503, 503]);
    const at = delivery?.attempts.map((attempt) => Date.parse(attempt.at)) ?? [];
    expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThanOrEqual(200);
    expect((at[2] ?? 0) - (at[1] ?? 0)).toBeGreaterThanOrEqual(400);

    await emit('FILE_READY', 1);
    await hook.waitForAccepted(1);
    await waitFor(
      () => webhook(hook.id),
      (one) => one?.status === 'ACTIVE' && one.status_reason === '',
    );

    hook.reactWith(() => 200);
    const again = await post<{ count: number }>(`/webhooks/${hook.id}/redeliver`, {});
    expect(again.body).toEqual({ success: true, count: 1 });
    expect(await hook.waitForAccepted(2)).toEqual(['FILE_READY 1', 'FILE_ERROR 1']);
    const [sent] = await waitFor(() => deliveries(hook.id), haveAllEnded);
    expect(sent).toMatchObject({ status: 'DELIVERED' });
    expect(sent?.attempts.map(({ status_code }) => status_code)).toEqual([503, 503, 503, 200]);
  });
});

describe('a receiver that hangs', () => {
  test('is disconnected at the timeout, and delays no other receiver', async () => {
    const { emit, receiver, deliveries } = await organization();
    const [slow, quick] = [await receiver(), await receiver()];
    slow.reactWith(() => 'hang');
    await emit('FILE_SYNCING', ...Array.from({ length: 20 }, (_, index) => index + 1));
    await emit('FILE_READY', ...Array.from({ length: 20 }, (_, index) => index + 1));
    await quick.waitForAccepted(40);
    expect(slow.accepted()).toEqual([]);
    const [first] = await waitFor(
      () => deliveries(slow.id),
      (found) => (found[0]?.attempts.length ?? 0) > 0,
    );
    expect(first?.attempts[0]).toMatchObject({ status_code: null, error: expect.stringContaining('within 2.5 s') });
    slow.reactWith(() => 200);
    // The first events may have been given up; those delivered for a file are in order.
    const listed = await waitFor(
      () => deliveries(slow.id),
      (found) => found.length === 40 && haveAllEnded(found),
    );
    const taken = slow.accepted();
    expect(taken).toHaveLength(listed.filter(({ status }) => status === 'DELIVERED').length);
    for (let file = 1; file <= 20; file += 1) {
      const eventsOfFile = taken.filter((name) => name.endsWith(` ${file}`)).map((name) => name.split(' ')[0]);
      expect([['FILE_SYNCING', 'FILE_READY'], ['FILE_READY'], []]).toContainEqual(eventsOfFile);
    }
  });
});

describe('a receiver that redirects or closes the connection', () => {
  test.each([
    [302, 302, 'redirects are not followed'],
    ['close', null, 'failed or broke'],
  ] as const)('causes a failed attempt, and a retry at the same address: %s', async (how, status_code, sentence) => {
    const { emit, receiver, deliveries } = await organization();
    const hook = await receiver();
    let first = true;
    hook.reactWith(() => {
      const reaction = first ? how : 200;
      first = false;
      return reaction;
    });
    await emit('FILE_READY', 5);
    await hook.waitForAccepted(1);
    expect(hook.received.map(({ headers }) => headers.host)).toEqual(Array(2).fill(new URL(hook.url).host));
    const [delivery] = await waitFor(() => deliveries(hook.id), haveAllEnded);
    expect(delivery?.attempts).toEqual([
      expect.objectContaining({ status_code, error: expect.stringContaining(sentence) }),
      expect.objectContaining({ status_code: 200, error: null }),
    ]);
  });
});

describe('a receiver that answers 410', () => {
  test('is flagged and gets no further event; a redelivery continues with the rejected event', async () => {
    const { emit, receiver, deliveries, webhook, post } = await organization();
    const hook = await receiver();
    hook.reactWith(() => 410);
    await emit('FILE_SYNCING', 1);
    const flagged = await waitFor(
      () => webhook(hook.id),
      (one) => one?.status === 'FLAGGED',
    );
    expect(flagged?.status_reason).toContain('410');
    await emit('FILE_READY', 1);
    await sleep(1_000);
    expect(hook.arrived()).toEqual(['FILE_SYNCING 1']);
    hook.reactWith(() => 200);
    await post(`/webhooks/${hook.id}/redeliver`, {});
    expect(await hook.waitForAccepted(2)).toEqual(['FILE_SYNCING 1', 'FILE_READY 1']);
    await waitFor(
      () => webhook(hook.id),
      (one) => one?.status === 'ACTIVE',
    );
    expect(haveAllEnded(await deliveries(hook.id))).toBe(true);
  });
});

describe('an address that became private', () => {
  test('is not called: the guard checks every delivery', async () => {
    const { organizationId, emit, deliveries, webhook } = await organization();
    const inside = await service.store.transaction((session) =>
      service.store.webhooks.add(organizationId, 'http://127.0.0.2:9/hook', '00'.repeat(32), session),
    );
    await emit('FILE_READY', 1);
    const id = inside?._id ?? 0;
    await waitFor(
      () => webhook(id),
      (one) => one?.status === 'FLAGGED',
    );
    const [delivery] = await deliveries(id);
    expect(delivery?.attempts[0]).toMatchObject({ status_code: null, error: expect.stringContaining('not public') });
  });
});

/** A page of the event feed. */
interface Page {
  readonly results: { cursor: number; event_id: string; webhook_type: string; obj: { object_id: string } }[];
  readonly next_cursor: number;
  readonly has_more: boolean;
}

describe('a receiver that was down, or was added late', () => {
  thoroughly('can read missed events from the feed, page by page, and gets later events by webhook', async () => {
    const { emit, receiver, get } = await organization();
    const hook = await receiver();
    await emit('FILE_SYNCING', 1, 2, 3);
    await emit('FILE_READY', 1);
    await emit('FILE_READY', 2, 3);
    await hook.waitForAccepted(6);
    const names: string[] = [];
    let after = 0;
    for (const [count, more] of [
      [4, true],
      [2, false],
      [0, false],
    ] as const) {
      const { body } = await get<Page>(`/events?after=${after}&limit=4`);
      expect(body).toMatchObject({ has_more: more, next_cursor: after + count });
      names.push(...body.results.map(({ webhook_type, obj }) => `${webhook_type} ${obj.object_id}`));
      expect(body.results.map(({ cursor }) => cursor)).toEqual(
        Array.from({ length: count }, (_, at) => after + at + 1),
      );
      after = body.next_cursor;
    }
    // Deliveries for different files are concurrent, so only the events of one file arrive in the order of the feed.
    expect(names.toSorted()).toEqual(hook.accepted().toSorted());
    for (const id of ['1', '2', '3'])
      expect(names.filter((name) => name.endsWith(` ${id}`))).toEqual([`FILE_SYNCING ${id}`, `FILE_READY ${id}`]);
    // A webhook added now gets the events from now on.
    const late = await receiver();
    await emit('FILE_DELETED', 1);
    expect(await late.waitForAccepted(1)).toEqual(['FILE_DELETED 1']);
  });
});

test("an organization's event feed, webhooks and deliveries contain no events of another one", async () => {
  const [own, other] = [await organization(), await organization()];
  const [ownHook, otherHook] = [await own.receiver(), await other.receiver()];
  await own.emit('FILE_READY', 1);
  await other.emit('FILE_READY', 2);
  await Promise.all([ownHook.waitForAccepted(1), otherHook.waitForAccepted(1)]);
  expect((await own.get<Page>('/events')).body.results.map(({ obj }) => obj.object_id)).toEqual(['1']);
  expect([ownHook.accepted(), otherHook.accepted()]).toEqual([['FILE_READY 1'], ['FILE_READY 2']]);
  for (const path of [`/webhooks/${otherHook.id}/deliveries`, `/webhooks/${2 ** 40}/deliveries`])
    expect(await own.get(path)).toMatchObject({ status: 404, body: { detail: 'No such webhook.' } });
  expect((await own.post(`/webhooks/${otherHook.id}/redeliver`, {})).status).toBe(404);
});
