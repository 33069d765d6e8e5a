/** Streams of events over HTTP, without a worker: events and runs change only by the tests. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { NO_TALLY } from '../../contract/runs/ledger.js';
import type { NewEvent } from '../../contract/events.js';
import { waitFor } from '../support/waitFor.js';
import {
  closeWorld,
  createUser,
  database,
  key,
  ok,
  other,
  service,
  startWorld,
  type StoredUser,
  reserveIds,
} from './accepted/world.js';

beforeAll(startWorld);
afterAll(closeWorld);

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
const of = ({ owner: { organizationId, customerId } }: StoredUser, objectId: string): NewEvent => ({
  ...{ kind: 'ADD', organizationId, customerId, objectId, info: null },
});
/** Writes events as one row, and numbers them. */
async function write(...events: NewEvent[]): Promise<void> {
  await service.store.transaction((session) => service.store.events.write(events, session));
  await service.store.events.number();
}
const objectsOf = (messages: readonly Message[]): unknown[] =>
  messages.map(({ data }) => (JSON.parse(data) as { obj: { object_id: string } }).obj.object_id);
type Stream = Awaited<ReturnType<typeof follow>>;
const arrived = (stream: Stream, count: number) => waitFor(stream.events, (some) => some.length >= count);
const connected = (stream: Stream) =>
  waitFor(
    () => stream.messages[0]?.event,
    (event) => event === 'connected',
  );

test('GET /events/stream sends the feed to the organization, and to a user only its own events', async () => {
  const [one, two] = [await createUser(), await createUser()];
  const everything = await follow('/events/stream', byKey());
  const ofOne = await follow('/events/stream', byToken(one));
  const ofTwo = await follow('/events/stream', { ...byKey(), 'customer-id': two.owner.customerId });
  const foreign = await follow('/events/stream', byKey(other.apiKey));
  expect(everything.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  for (const stream of [everything, ofOne, ofTwo, foreign]) await connected(stream);
  // One row with events of both users: the position of an event in the row is part of its id.
  await write(of(two, 'a'), of(one, 'b'), of(two, 'c'));
  await write(of(one, 'd'));
  await arrived(everything, 4);
  await arrived(ofOne, 2);
  await arrived(ofTwo, 2);
  expect(objectsOf(everything.events())).toEqual(['a', 'b', 'c', 'd']);
  expect(objectsOf(ofOne.events())).toEqual(['b', 'd']);
  expect(objectsOf(ofTwo.events())).toEqual(['a', 'c']);
  expect(foreign.events()).toEqual([]);
  const { results } = ok(await key.get<{ results: { cursor: number }[] }>('/events?limit=1000'));
  const feed = new Map(results.map((event) => [String(event.cursor), event]));
  for (const { id, data } of [...everything.events(), ...ofOne.events(), ...ofTwo.events()])
    expect(JSON.parse(data)).toEqual(feed.get(id));
  await Promise.all([everything, ofOne, ofTwo, foreign].map((stream) => stream.close()));
});

test('a resumed stream neither misses nor repeats an event, also within a row', async () => {
  const who = await createUser();
  await write(...['1', '2', '3'].map((name) => of(who, name)));
  await write(of(who, '4'), of(await createUser(), 'x'));
  const whole = await follow('/events/stream', { ...byToken(who), 'last-event-id': '0' });
  await arrived(whole, 4);
  expect(objectsOf(whole.events())).toEqual(['1', '2', '3', '4']);
  for (const { id } of whole.events().slice(0, 4)) {
    const remainder = await follow(`/events/stream?last_event_id=${id}`, byToken(who));
    await write(of(who, `after ${id}`));
    await waitFor(remainder.events, (events) => objectsOf(events).includes(`after ${id}`));
    await waitFor(whole.events, (events) => objectsOf(events).includes(`after ${id}`));
    const from = whole.events().findIndex((event) => event.id === id);
    expect(remainder.events()).toEqual(whole.events().slice(from + 1));
    await remainder.close();
  }
  // The header takes precedence over the query.
  const last = whole.events().at(-2)!.id;
  const both = await follow('/events/stream?last_event_id=0', { ...byToken(who), 'last-event-id': last });
  await arrived(both, 1);
  expect(both.events()).toEqual(whole.events().slice(-1));
  await Promise.all([whole.close(), both.close()]);
});

test('an invalid Last-Event-ID is 422; one after the last event continues from the last event', async () => {
  const who = await createUser();
  for (const bad of ['x', '-1', '1.5', '99999999999999999'])
    expect((await who.user.get('/events/stream', { 'last-event-id': bad })).status).toBe(422);
  const stream = await follow('/events/stream', { ...byToken(who), 'last-event-id': '999999999999' });
  await connected(stream);
  await write(of(who, 'next'));
  await arrived(stream, 1);
  expect(objectsOf(stream.events())).toEqual(['next']);
  await stream.close();
});

async function seedRun({ owner }: StoredUser, more: object = {}): Promise<number> {
  const id = reserveIds(1);
  await database.collection('runs').insertOne({
    ...{ _id: id, ...owner, kind: 'resyncFile', fileId: null, startedAt: new Date(), finishedAt: null, outcome: null },
    ...{ counts: {}, cause: 'request', workflowId: `resync:${id}`, requestId: `r${id}`, acceptedAt: new Date() },
    ...{ nextTryAt: new Date(Date.now() + 86_400_000), ...more },
  } as never);
  return id;
}

test('GET /sync_runs/{id}/events sends snapshots until the run has ended, and then 204', async () => {
  const who = await createUser();
  const id = await seedRun(who);
  const path = `/sync_runs/${id}/events`;
  const stream = await follow(path, byToken(who));
  const sent = (count: number) =>
    waitFor(
      () => stream.messages.slice(1),
      (some) => some.length >= count,
    );
  const [first] = await sent(1);
  expect(first).toMatchObject({ event: 'progress' });
  expect(JSON.parse(first!.data)).toEqual(ok(await who.user.get(`/sync_runs/${id}`)));
  // Snapshots that the client has received are not sent again.
  const resumed = await follow(path, { ...byKey(), 'last-event-id': first!.id });
  await connected(resumed);
  const runs = database.collection('runs');
  await runs.updateOne(
    { _id: id as never },
    { $set: { pause: { reason: 'max_tokens', at: new Date(), wanted: 1, resumedAt: null } } },
  );
  await sent(2);
  const ended = { finishedAt: new Date(), outcome: 'finished', tally: NO_TALLY };
  await runs.updateOne({ _id: id as never }, { $set: ended, $unset: { pause: '' } });
  await Promise.all([stream.ended, resumed.ended]);
  const shown = ({ messages }: Stream) =>
    messages.slice(1).map(({ event, data }) => [event, (JSON.parse(data) as { status: string }).status]);
  expect(shown(stream)).toEqual([
    ['progress', 'running'],
    ['progress', 'paused'],
    ['end', 'finished'],
  ]);
  expect(shown(resumed)).toEqual(shown(stream).slice(1));
  const last = stream.messages.at(-1)!;
  expect(JSON.parse(last.data)).toEqual(ok(await who.user.get(`/sync_runs/${id}`)));
  const again = await follow(path, { ...byToken(who), 'last-event-id': last.id });
  expect(again.response.status).toBe(204);
  const byQuery = await follow(`${path}?last_event_id=${last.id}`, byToken(who));
  expect(byQuery.response.status).toBe(204);
  const late = await follow(path, byToken(who));
  await late.ended;
  expect(late.messages.slice(1)).toEqual([last]);
});

test("a user's run is not found by any other caller", async () => {
  const [owner, stranger] = [await createUser(), await createUser()];
  const id = await seedRun(owner);
  const foreign = await stranger.user.get(`/sync_runs/${id}/events`);
  const missing = await stranger.user.get(`/sync_runs/${2 ** 40}/events`);
  expect(foreign).toMatchObject({ status: 404, body: missing.body });
  const otherOrganization = await follow(`/sync_runs/${id}/events`, byKey(other.apiKey));
  expect(otherOrganization.response.status).toBe(404);
  await otherOrganization.ended;
  const ofOrganization = await follow(`/sync_runs/${id}/events`, byKey());
  expect(ofOrganization.response.status).toBe(200);
  await ofOrganization.close();
});
