import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import mongoose from 'mongoose';

import type { NewEvent, NumberedEvent } from '../../contract/events.js';
import { createIntents, type Intents } from '../../store/events/intents.js';
import { eventModels } from '../../store/events/model.js';
import type { Events } from '../../store/events/events.js';
import { startService, type TestService } from '../support/service.js';
import { PATIENCE_MS } from '../support/waitFor.js';

let service: TestService;
let events: Events;
let connection: mongoose.Connection;
let organizationId = 0;
/** Files that a change has reached. */
const reached = new Set<number>();
let intents: Intents;

beforeAll(async () => {
  service = await startService({}, { worker: false });
  ({ events } = service.store);
  connection = await mongoose.createConnection(service.env['MONGODB_URI'] ?? '').asPromise();
  const marked = (_mark: unknown, ids: readonly number[]) =>
    Promise.resolve(new Set(ids.filter((id) => reached.has(id))));
  intents = createIntents(eventModels(connection).rows, marked, 1);
});
afterAll(async () => {
  await connection.close();
  await service.close();
});
beforeEach(() => {
  organizationId += 1;
  reached.clear();
});

const ready = (...ids: number[]): NewEvent[] =>
  ids.map((id) => ({ kind: 'FILE_READY', organizationId, customerId: 'ada', objectId: String(id), info: null }));
const told = async (): Promise<(string | readonly string[] | null)[]> => {
  await events.number();
  return (await events.after(organizationId, 0, 10_000)).map(({ objectId }) => objectId);
};

describe('the numbers of events', () => {
  test('are 1, 2, 3… without gaps, whoever writes and however many number, and a reader at its cursor misses none', async () => {
    const writes = Array.from({ length: 60 }, (_, at) => ready(3 * at, 3 * at + 1, 3 * at + 2));
    const seen: NumberedEvent[] = [];
    let writing = true;
    const reader = async (): Promise<void> => {
      const deadline = Date.now() + PATIENCE_MS;
      for (let cursor = 0; writing || cursor < 180;) {
        if (Date.now() > deadline) throw new Error(`the reader has come to ${cursor} only`);
        const found = await events.after(organizationId, cursor, 50);
        seen.push(...found);
        cursor = found.at(-1)?.position ?? cursor;
        if (found.length === 0) await events.number();
      }
    };
    const number = async (): Promise<void> => {
      for (let round = 0; writing && round < 100_000; round += 1) await events.number();
    };
    const write = async (from: number): Promise<void> => {
      for (const one of writes.slice(from, from + 15)) {
        // Transactions that take unlike long, so that they commit in another order than they were begun.
        await service.store.transaction(async (session) => {
          await events.write(one, session);
          await new Promise((resolve) => setTimeout(resolve, from % 7));
        });
      }
    };
    const numbering = [number(), number(), reader()];
    await Promise.all([0, 15, 30, 45].map(write));
    writing = false;
    await Promise.all(numbering);
    expect(seen.map(({ position }) => position)).toEqual(Array.from({ length: 180 }, (_, at) => at + 1));
    expect(seen.map(({ objectId }) => Number(objectId)).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 180 }, (_, at) => at),
    );
  });
  test('what is told once under a name is told once', async () => {
    const name = randomUUID();
    await events.write(ready(1), null, name);
    await events.write(ready(2), null, name);
    expect(await told()).toEqual(['1']);
  });
  test('a transaction that is not committed tells nothing', async () => {
    const broken = service.store.transaction(async (session) => {
      await events.write(ready(1), session);
      throw new Error('the change could not be made');
    });
    await expect(broken).rejects.toThrow('could not be made');
    expect(await told()).toEqual([]);
  });
});

describe('events of a group of files', () => {
  const list = (...ids: number[]): NewEvent[] => [
    { ...ready(0)[0]!, kind: 'FILES_CREATED', objectId: ids.map(String) },
  ];
  const death = new Error('the worker died');

  test('are not shown before the change, and after it only of files that it reached', async () => {
    await intents.withPendingEvents([...ready(1, 2), ...list(1, 2)], async () => {
      expect(await told()).toEqual([]);
      return new Set([2]);
    });
    expect(await told()).toEqual(['2', ['2']]);
  });
  test('of which a death left the change and not the events are shown when they are settled, once', async () => {
    const dying = intents.withPendingEvents([...ready(1, 2, 3), ...list(1, 3)], () => {
      reached.add(1).add(2);
      return Promise.reject(death);
    });
    await expect(dying).rejects.toThrow(death);
    // Nobody's business yet: the writer may still live.
    await intents.settle();
    await intents.settle([77]);
    expect(await told()).toEqual([]);
    await intents.settle([2]);
    await intents.settle([1, 2, 3]);
    expect(await told()).toEqual(['1', '2', ['1']]);
  });
  test('of which a death left nothing are forgotten', async () => {
    await expect(intents.withPendingEvents(ready(1), () => Promise.reject(death))).rejects.toThrow(death);
    await intents.settle([1]);
    expect(await told()).toEqual([]);
    expect(await connection.collection('events').countDocuments({ organizationId })).toBe(0);
  });
  test('are told once by a writer who was taken for dead in the middle of its change', async () => {
    await intents.withPendingEvents([...ready(1, 2), ...list(1, 2)], async () => {
      reached.add(1);
      await intents.settle([1]);
      reached.add(2);
      return 'all';
    });
    expect(await told()).toEqual(['1', ['1'], '2', ['2']]);
  });
});
