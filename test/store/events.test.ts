import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import mongoose from 'mongoose';

import type { NewEvent, NumberedEvent } from '../../contract/events.js';
import { createIntents, type Intents } from '../../store/events/intents.js';
import { eventModels } from '../../store/models/events.js';
import type { Events } from '../../store/events/events.js';
import { startService, type TestService } from '../support/service.js';
import { TIME_LIMIT_MS } from '../support/waitFor.js';

let service: TestService;
let events: Events;
let connection: mongoose.Connection;
let organizationId = 0;
/** Ids of files that have been changed. */
const changed = new Set<number>();
let intents: Intents;

beforeAll(async () => {
  service = await startService({}, { worker: false });
  ({ events } = service.store);
  connection = await mongoose.createConnection(service.env['MONGODB_URI'] ?? '').asPromise();
  const marked = (_mark: unknown, ids: readonly number[]) =>
    Promise.resolve(new Set(ids.filter((id) => changed.has(id))));
  intents = createIntents(eventModels(connection).rows, marked, 1);
});
afterAll(async () => {
  await connection.close();
  await service.close();
});
beforeEach(() => {
  organizationId += 1;
  changed.clear();
});

const ready = (...ids: number[]): NewEvent[] =>
  ids.map((id) => ({ kind: 'FILE_READY', organizationId, customerId: 'ada', objectId: String(id), info: null }));
const visibleIds = async (): Promise<(string | readonly string[] | null)[]> => {
  await events.number();
  return (await events.after(organizationId, 0, 10_000)).map(({ objectId }) => objectId);
};

describe('event numbers', () => {
  test('have no gaps if concurrent calls assign them, and a reader with a cursor misses no event', async () => {
    const writes = Array.from({ length: 60 }, (_, at) => ready(3 * at, 3 * at + 1, 3 * at + 2));
    const receivedEvents: NumberedEvent[] = [];
    let writing = true;
    const reader = async (): Promise<void> => {
      const deadline = Date.now() + TIME_LIMIT_MS;
      for (let cursor = 0; writing || cursor < 180;) {
        if (Date.now() > deadline) throw new Error(`the reader has reached only ${cursor}`);
        const batch = await events.after(organizationId, cursor, 50);
        receivedEvents.push(...batch);
        cursor = batch.at(-1)?.position ?? cursor;
        if (batch.length === 0) await events.number();
      }
    };
    const number = async (): Promise<void> => {
      for (let iteration = 0; writing && iteration < 100_000; iteration += 1) await events.number();
    };
    const write = async (from: number): Promise<void> => {
      for (const batch of writes.slice(from, from + 15)) {
        // Transactions of different durations, so that they commit in another order than they begin.
        await service.store.transaction(async (session) => {
          await events.write(batch, session);
          await new Promise((resolve) => setTimeout(resolve, from % 7));
        });
      }
    };
    const numbering = [number(), number(), reader()];
    await Promise.all([0, 15, 30, 45].map(write));
    writing = false;
    await Promise.all(numbering);
    expect(receivedEvents.map(({ position }) => position)).toEqual(Array.from({ length: 180 }, (_, at) => at + 1));
    expect(receivedEvents.map(({ objectId }) => Number(objectId)).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 180 }, (_, at) => at),
    );
  });
  test('an event with a unique name is written once', async () => {
    const name = randomUUID();
    await events.write(ready(1), null, name);
    await events.write(ready(2), null, name);
    expect(await visibleIds()).toEqual(['1']);
  });
  test('an aborted transaction writes no events', async () => {
    const broken = service.store.transaction(async (session) => {
      await events.write(ready(1), session);
      throw new Error('the change could not be made');
    });
    await expect(broken).rejects.toThrow('could not be made');
    expect(await visibleIds()).toEqual([]);
  });
});

describe('events of a group of files', () => {
  const list = (...ids: number[]): NewEvent[] => [
    { ...ready(0)[0]!, kind: 'FILES_CREATED', objectId: ids.map(String) },
  ];
  const crash = new Error('the worker crashed');

  test('are not visible before the change of the files, and afterwards only for changed files', async () => {
    await intents.withPendingEvents([...ready(1, 2), ...list(1, 2)], async () => {
      expect(await visibleIds()).toEqual([]);
      return new Set([2]);
    });
    expect(await visibleIds()).toEqual(['2', ['2']]);
  });
  test('are published once by settle() after a crash between the change and its events', async () => {
    const crashing = intents.withPendingEvents([...ready(1, 2, 3), ...list(1, 3)], () => {
      changed.add(1).add(2);
      return Promise.reject(crash);
    });
    await expect(crashing).rejects.toThrow(crash);
    // Neither call publishes: the event is so recent that its writer may still run, and it has no file 77.
    await intents.settle();
    await intents.settle([77]);
    expect(await visibleIds()).toEqual([]);
    await intents.settle([2]);
    await intents.settle([1, 2, 3]);
    expect(await visibleIds()).toEqual(['1', '2', ['1']]);
  });
  test('are deleted after a crash before the change', async () => {
    await expect(intents.withPendingEvents(ready(1), () => Promise.reject(crash))).rejects.toThrow(crash);
    await intents.settle([1]);
    expect(await visibleIds()).toEqual([]);
    expect(await connection.collection('events').countDocuments({ organizationId })).toBe(0);
  });
  test('are written once if settle() runs while their writer is still changing the files', async () => {
    await intents.withPendingEvents([...ready(1, 2), ...list(1, 2)], async () => {
      changed.add(1);
      await intents.settle([1]);
      changed.add(2);
      return 'all';
    });
    expect(await visibleIds()).toEqual(['1', ['1'], '2', ['2']]);
  });
});
