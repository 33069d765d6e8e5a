/** Tests of event streams over HTTP. No worker runs, so only the tests change events and runs. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { NO_TALLY } from '../../../contract/runs/ledger.js';
import type { NewEvent } from '../../../contract/events.js';
import { waitFor } from '../../support/waitFor.js';
import {
  closeIdleService,
  createUser,
  database,
  key,
  ok,
  secondOrganization,
  service,
  startIdleService,
  type StoredUser,
  reserveIds,
} from '../../acceptance/accepted/idleService.js';

beforeAll(startIdleService);
afterAll(closeIdleService);

interface Message {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** Opens a stream; its messages are collected until it is closed. */
async function follow(path: string, headers: Record<string, string>) {
  const closed = new AbortController();
  const response = await fetch(`${service.url}${path}`, { headers, signal: closed.signal });
  const messages: Message[] = [];
  const ended = (async () => {
    let text = '';
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) {
      text += decoder.decode(bytes as Uint8Array, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1] ?? '';
        if (field('data') !== '') messages.push({ id: field('id'), event: field('event'), data: field('data') });
      }
    }
  })().catch((error: unknown) => {
    if (!closed.signal.aborted) throw error;
  });
  const events = () => messages.filter(({ event }) => event === '');
  const close = async () => {
    closed.abort();
    await ended;
  };
  return { response, messages, events, ended, close };
}

const byToken = ({ user }: StoredUser) => ({ authorization: `Token ${user.token}` });
const byKey = (apiKey = service.apiKey) => ({ authorization: `Bearer ${apiKey}` });
const eventOf = ({ owner: { organizationId, customerId } }: StoredUser, objectId: string): NewEvent => ({
  ...{ kind: 'ADD', organizationId, customerId, objectId, info: null },
});
/** Writes events as one outbox row, and assigns their numbers. */
async function write(...events: NewEvent[]): Promise<void> {
  await service.store.transaction((session) => service.store.events.write(events, session));
  await service.store.events.number();
}
const objectsOf = (messages: readonly Message[]): unknown[] =>
  messages.map(({ data }) => (JSON.parse(data) as { obj: { object_id: string } }).obj.object_id);
type Stream = Awaited<ReturnType<typeof follow>>;
const waitForEvents = (stream: Stream, count: number) => waitFor(stream.events, (received) => received.length >= count);
const waitUntilConnected = (stream: Stream) =>
  waitFor(
    () => stream.messages[0]?.event,
    (event) => event === 'connected',
  );

test('GET /events/stream sends all events to the organization, and to a user only the events of that user', async () => {
  const [ada, ben] = [await createUser(), await createUser()];
  const ofOrganization = await follow('/events/stream', byKey());
  const ofAda = await follow('/events/stream', byToken(ada));
  const ofBen = await follow('/events/stream', { ...byKey(), 'customer-id': ben.owner.customerId });
  const foreign = await follow('/events/stream', byKey(secondOrganization.apiKey));
  expect(ofOrganization.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  for (const stream of [ofOrganization, ofAda, ofBen, foreign]) await waitUntilConnected(stream);
  // One row with events of both users: the position of an event in the row is part of its id.
  await write(eventOf(ben, 'a'), eventOf(ada, 'b'), eventOf(ben, 'c'));
  await write(eventOf(ada, 'd'));
  await waitForEvents(ofOrganization, 4);
  await waitForEvents(ofAda, 2);
  await waitForEvents(ofBen, 2);
  expect(objectsOf(ofOrganization.events())).toEqual(['a', 'b', 'c', 'd']);
  expect(objectsOf(ofAda.events())).toEqual(['b', 'd']);
  expect(objectsOf(ofBen.events())).toEqual(['a', 'c']);
  expect(foreign.events()).toEqual([]);
  const { results } = ok(await key.get<{ results: { cursor: number }[] }>('/events?limit=1000'));
  const feed = new Map(results.map((event) => [String(event.cursor), event]));
  for (const { id, data } of [...ofOrganization.events(), ...ofAda.events(), ...ofBen.events()])
    expect(JSON.parse(data)).toEqual(feed.get(id));
  await Promise.all([ofOrganization, ofAda, ofBen, foreign].map((stream) => stream.close()));
});

test('a resumed stream neither misses nor repeats an event, even if it resumes within an outbox row', async () => {
  const who = await createUser();
  await write(...['1', '2', '3'].map((name) => eventOf(who, name)));
  await write(eventOf(who, '4'), eventOf(await createUser(), 'x'));
  const whole = await follow('/events/stream', { ...byToken(who), 'last-event-id': '0' });
  await waitForEvents(whole, 4);
  expect(objectsOf(whole.events())).toEqual(['1', '2', '3', '4']);
  for (const { id } of whole.events().slice(0, 4)) {
    const remainder = await follow(`/events/stream?last_event_id=${id}`, byToken(who));
    await write(eventOf(who, `after ${id}`));
    await waitFor(remainder.events, (events) => objectsOf(events).includes(`after ${id}`));
    await waitFor(whole.events, (events) => objectsOf(events).includes(`after ${id}`));
    const from = whole.events().findIndex((event) => event.id === id);
    expect(remainder.events()).toEqual(whole.events().slice(from + 1));
    await remainder.close();
  }
  // The header takes precedence over the query.
  const lastButOneId = whole.events().at(-2)!.id;
  const withHeaderAndQuery = await follow('/events/stream?last_event_id=0', {
    ...byToken(who),
    'last-event-id': lastButOneId,
  });
  await waitForEvents(withHeaderAndQuery, 1);
  expect(withHeaderAndQuery.events()).toEqual(whole.events().slice(-1));
  await Promise.all([whole.close(), withHeaderAndQuery.close()]);
});

test('an invalid Last-Event-ID is refused with 422; an id after the last event continues from the last event', async () => {
  const who = await createUser();
  for (const bad of ['x', '-1', '1.5', '99999999999999999'])
    expect((await who.user.get('/events/stream', { 'last-event-id': bad })).status).toBe(422);
  const stream = await follow('/events/stream', { ...byToken(who), 'last-event-id': '999999999999' });
  await waitUntilConnected(stream);
  await write(eventOf(who, 'next'));
  await waitForEvents(stream, 1);
  expect(objectsOf(stream.events())).toEqual(['next']);
  await stream.close();
});

async function seedRun({ owner }: StoredUser, fields: object = {}): Promise<number> {
  const id = reserveIds(1);
  await database.collection('runs').insertOne({
    ...{ _id: id, ...owner, kind: 'resyncFile', fileId: null, startedAt: new Date(), finishedAt: null, outcome: null },
    ...{ counts: {}, cause: 'request', workflowId: `resync:${id}`, requestId: `r${id}`, acceptedAt: new Date() },
    ...{ nextTryAt: new Date(Date.now() + 86_400_000), ...fields },
  } as never);
  return id;
}

test('GET /sync_runs/{id}/events sends snapshots until the run ends, and answers 204 after the last one', async () => {
  const who = await createUser();
  const id = await seedRun(who);
  const path = `/sync_runs/${id}/events`;
  const stream = await follow(path, byToken(who));
  const waitForSnapshots = (count: number) =>
    waitFor(
      () => stream.messages.slice(1),
      (snapshots) => snapshots.length >= count,
    );
  const [firstSnapshot] = await waitForSnapshots(1);
  expect(firstSnapshot).toMatchObject({ event: 'progress' });
  expect(JSON.parse(firstSnapshot!.data)).toEqual(ok(await who.user.get(`/sync_runs/${id}`)));
  // Snapshots that the client has received are not sent again.
  const resumed = await follow(path, { ...byKey(), 'last-event-id': firstSnapshot!.id });
  await waitUntilConnected(resumed);
  const runs = database.collection('runs');
  await runs.updateOne(
    { _id: id as never },
    { $set: { pause: { reason: 'max_tokens', at: new Date(), wanted: 1, resumedAt: null } } },
  );
  await waitForSnapshots(2);
  const endedFields = { finishedAt: new Date(), outcome: 'finished', tally: NO_TALLY };
  await runs.updateOne({ _id: id as never }, { $set: endedFields, $unset: { pause: '' } });
  await Promise.all([stream.ended, resumed.ended]);
  const shown = ({ messages }: Stream) =>
    messages.slice(1).map(({ event, data }) => [event, (JSON.parse(data) as { status: string }).status]);
  expect(shown(stream)).toEqual([
    ['progress', 'running'],
    ['progress', 'paused'],
    ['end', 'finished'],
  ]);
  expect(shown(resumed)).toEqual(shown(stream).slice(1));
  const lastSnapshot = stream.messages.at(-1)!;
  expect(JSON.parse(lastSnapshot.data)).toEqual(ok(await who.user.get(`/sync_runs/${id}`)));
  const afterEnd = await follow(path, { ...byToken(who), 'last-event-id': lastSnapshot.id });
  expect(afterEnd.response.status).toBe(204);
  const byQuery = await follow(`${path}?last_event_id=${lastSnapshot.id}`, byToken(who));
  expect(byQuery.response.status).toBe(204);
  const late = await follow(`${path}?last_event_id=%0Aevent:%20end%0A%0A`, byToken(who));
  await late.ended;
  expect(late.messages.slice(1)).toEqual([lastSnapshot]);
});

test("a user's run is found by the user's organization, but not by other users or organizations", async () => {
  const [owner, stranger] = [await createUser(), await createUser()];
  const id = await seedRun(owner);
  const foreign = await stranger.user.get(`/sync_runs/${id}/events`);
  const missing = await stranger.user.get(`/sync_runs/${2 ** 40}/events`);
  expect(foreign).toMatchObject({ status: 404, body: missing.body });
  const otherOrganization = await follow(`/sync_runs/${id}/events`, byKey(secondOrganization.apiKey));
  expect(otherOrganization.response.status).toBe(404);
  await otherOrganization.ended;
  const ofOrganization = await follow(`/sync_runs/${id}/events`, byKey());
  expect(ofOrganization.response.status).toBe(200);
  await ofOrganization.close();
});
