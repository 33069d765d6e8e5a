/**
 * Tests of the operations that stream events and runs, with stores in memory: which tenant receives which events and
 * states, and from which position.
 */
import { expect, test } from '@jest/globals';

import { streamEvents } from '../../api/eventStreams/streamEvents.js';
import { streamRun } from '../../api/eventStreams/streamRun.js';
import type { EventsAnswer } from '../../api/http/operation.js';
import { createEventStreams } from '../../api/http/streams/streams.js';
import type { RunDoc } from '../../store/models/runs.js';

const SETTINGS = { perUser: 50, maxOpen: 100, tickMs: 1, lifetimeMs: 60_000 };
const streams = () => createEventStreams(SETTINGS, { warn: () => undefined });
const workflowLink = () => ({ workflow_id: null, workflow_url: null });

interface Scope {
  readonly organizationId: number;
  readonly userId?: number;
  readonly customerId?: string;
}
/** An API key, two end users of its organization, and a user of another organization with the same customer id. */
const KEY: Scope = { organizationId: 1 };
const ANN: Scope = { organizationId: 1, userId: 11, customerId: 'ann' };
const BEN: Scope = { organizationId: 1, userId: 12, customerId: 'ben' };
const OTHER_ANN: Scope = { organizationId: 2, userId: 21, customerId: 'ann' };

/**
 * Feeds with `head` events: odd positions belong to ann, even ones to ben. The object id of an event names the
 * organization of the feed. A page has two positions.
 */
function feeds(head: number) {
  const kinds = { kind: 'FILE_READY', info: null, at: new Date(0) };
  const reads: string[] = [];
  const page = ({ organizationId, customerId }: Scope, after: number, upTo: number) => {
    reads.push(`${organizationId} ${customerId ?? '*'} ${after}`);
    const next = Math.min(after + 2, upTo);
    const positions = Array.from({ length: next - after }, (_, nth) => after + 1 + nth);
    const ownerOf = (position: number) => (position % 2 === 0 ? 'ben' : 'ann');
    const events = positions
      .filter((position) => customerId === undefined || customerId === ownerOf(position))
      .map((position) => ({ ...kinds, position, customerId: ownerOf(position), objectId: `of ${organizationId}` }));
    return Promise.resolve({ events, next });
  };
  return { reads, events: { head: () => Promise.resolve(head), page } };
}

/** Reads a stream of events until the given number of events arrived. */
async function read(caller: Scope, from: { header?: string; query?: string }, wanted: number, store: object) {
  const disconnect = new AbortController();
  const eventStreams = streams();
  const answer = (await streamEvents.handle({
    ...{ caller, signal: disconnect.signal, lastEventId: from.header ?? null },
    query: from.query === undefined ? {} : { last_event_id: from.query },
    deps: { store, eventStreams, workflowLink },
  } as never)) as EventsAnswer;
  let text = '';
  for await (const part of answer.open!(disconnect.signal)) {
    text += part;
    if (text.split('\ndata: {"cursor":').length > wanted + (text.includes('event: connected') ? 1 : 0)) break;
  }
  disconnect.abort();
  await eventStreams.close();
  const opening = /event: connected\ndata: {"cursor":"(\d+)"}/.exec(text)?.[1];
  const ids = [...text.matchAll(/^id: (\d+)\ndata: /gm)].map(([, id]) => Number(id));
  const data = [...text.matchAll(/^id: \d+\ndata: (.*)$/gm)].map(
    ([, json]) => JSON.parse(json!) as { cursor: number; event_id: string; customer_id: string; obj: object },
  );
  return { opening, ids, data };
}

test('streams at the same position share pages only if their caller is the same user or key', async () => {
  const { events, reads } = feeds(4);
  const of = (caller: Scope) => read(caller, { header: '0' }, caller.userId === undefined ? 4 : 2, { events });
  const [ofKey, ofAnn, ofBen, ofOther, again] = [
    await of(KEY),
    await of(ANN),
    await of(BEN),
    await of(OTHER_ANN),
    await of(ANN),
  ];
  expect([ofKey.ids, ofAnn.ids, ofBen.ids]).toEqual([
    [1, 2, 3, 4],
    [1, 3],
    [2, 4],
  ]);
  expect(ofAnn.data).toMatchObject([{ event_id: 'evt_1_1', customer_id: 'ann' }, { event_id: 'evt_1_3' }]);
  expect(ofOther.data).toMatchObject([{ event_id: 'evt_2_1', obj: { object_id: 'of 2' } }, { event_id: 'evt_2_3' }]);
  expect(again).toEqual(ofAnn);
  // The second stream of the same user reads nothing.
  expect(reads.filter((line) => line.startsWith('1 ann'))).toEqual(['1 ann 0', '1 ann 2']);
});

test('a stream starts after the given event; without one, or if it is too high, after the last event', async () => {
  const store = () => ({ events: feeds(6).events });
  const opened = async (from: { header?: string; query?: string }) => (await read(KEY, from, 0, store())).opening;
  expect(await opened({})).toBe('6');
  expect(await opened({ query: '' })).toBe('6');
  expect(await opened({ query: '4' })).toBe('4');
  expect(await opened({ header: '5', query: '4' })).toBe('5');
  expect(await opened({ header: '9' })).toBe('6');
  for (const header of ['-1', 'x', '1.5', '9'.repeat(16)])
    await expect(read(KEY, { header }, 0, store())).rejects.toMatchObject({ status: 422 });
  expect((await read(KEY, { header: '3' }, 3, store())).ids).toEqual([4, 5, 6]);
});

/** Opens the stream of run 7 of user 11 in organization 1, which has the state `run`. */
async function openRun(caller: Scope, run: Partial<RunDoc> | null, lastEventId: string | null = null) {
  const scopes: Scope[] = [];
  const doc = { _id: 7, organizationId: 1, userId: 11, acceptedAt: new Date(0), startedAt: null, ...run };
  const owns = ({ organizationId, userId = 11 }: Scope) => organizationId === 1 && userId === 11;
  let reads = 0;
  const store = {
    runs: {
      findInScope(scope: Scope, id: number) {
        scopes.push(scope);
        reads += 1;
        // A deleted run exists only for the check before the stream.
        return Promise.resolve(id === 7 && owns(scope) && (run !== null || reads === 1) ? doc : null);
      },
    },
    ledger: { tallies: () => Promise.resolve(new Map()) },
  };
  const eventStreams = streams();
  const disconnect = new AbortController();
  const answer = (await streamRun.handle({
    ...{ caller, params: { sync_run_id: '7' }, query: {}, lastEventId, signal: disconnect.signal },
    deps: { store, eventStreams, workflowLink },
  } as never)) as EventsAnswer;
  return { answer, eventStreams, disconnect, scopes };
}
async function textOf({ answer, eventStreams, disconnect }: Awaited<ReturnType<typeof openRun>>, parts = 2) {
  const texts: string[] = [];
  for await (const part of answer.open!(disconnect.signal)) if (texts.push(part) === parts) break;
  disconnect.abort();
  await eventStreams.close();
  return texts;
}
const idOf = (text = '') => /^id: (.*)$/m.exec(text)?.[1] ?? '';
const ENDED = { finishedAt: new Date(1), outcome: 'finished' } as Partial<RunDoc>;

test('a run is streamed to its user and to the API key; another user gets 404', async () => {
  for (const caller of [KEY, ANN]) {
    const opened = await openRun(caller, { finishedAt: null });
    expect((await textOf(opened))[1]).toMatch(/^id: [\w-]{22}\nevent: progress\ndata: {"id":7,/);
    // The polls, which all viewers share, have the owner's scope.
    expect(opened.scopes.slice(1)).toContainEqual({ organizationId: 1, userId: 11 });
  }
  for (const caller of [BEN, OTHER_ANN])
    await expect(openRun(caller, { finishedAt: null })).rejects.toMatchObject({ status: 404 });
});

test('the stream of a run ends with its final record, or null if it was deleted; a client that has it gets 204', async () => {
  const ended = await textOf(await openRun(ANN, ENDED), 9);
  expect(ended).toHaveLength(2);
  expect(ended[1]).toMatch(/\nevent: end\ndata: {"id":7,/);
  expect((await textOf(await openRun(ANN, null), 9))[1]).toBe('event: end\ndata: null\n\n');
  expect((await openRun(ANN, ENDED, idOf(ended[1]))).answer.open).toBeNull();
  const progress = await textOf(await openRun(ANN, { finishedAt: null }));
  // If a client sends the id of an older record, the first message repeats this id, and the final record follows. A
  // malformed id is not repeated.
  const later = await textOf(await openRun(ANN, ENDED, idOf(progress[1])), 9);
  expect(later.map(idOf)).toEqual([idOf(progress[1]), idOf(ended[1])]);
  expect((await textOf(await openRun(ANN, ENDED, 'x\ndata: y'), 9))[0]).not.toContain('id:');
});
