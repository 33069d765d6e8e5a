import { expect, test } from '@jest/globals';

import { createMetrics } from '../../observability/metrics.js';
import type { Store } from '../../store/connect.js';
import { countEnds } from '../../worker/countEnds.js';
import { seriesOf } from '../support/scrape.js';

test('what counts the ends of files hands on all that it is given, and what it is answered', async () => {
  const given = new Map<string, unknown[]>();
  const recording =
    (name: string, answer: unknown) =>
    (...all: unknown[]) => {
      given.set(name, all);
      return Promise.resolve(answer);
    };
  const answers = { finish: [1, 2], keep: undefined, shelve: true, fail: true, abortOpen: 7 };
  const files = Object.fromEntries(Object.entries(answers).map(([name, answer]) => [name, recording(name, answer)]));
  const metrics = createMetrics({ ofProcess: false });
  const counting = countEnds({ files, deliveries: {} } as unknown as Store, metrics);
  // More than any of them takes by now.
  const all = [[1], 2, 'three', { four: 4 }, true, 'six'];
  for (const [name, answer] of Object.entries(answers)) {
    const call = counting.files[name as keyof typeof answers] as unknown as (...given: unknown[]) => Promise<unknown>;
    expect(await call(...all)).toEqual(answer);
    expect([name, ...(given.get(name) ?? [])]).toEqual([name, ...all]);
  }
  const series = seriesOf((await metrics.scrape()).text);
  const ended = (status: string) => series[`allotrope_files_ended_total{status="${status}"}`];
  expect([ended('READY'), ended('READY_TO_SYNC'), ended('SYNC_ERROR'), ended('SYNC_ABORTED')]).toEqual([3, 1, 1, 7]);
});

test('tries to deliver are counted by how they ended; events that were not tried are not', async () => {
  const record = () => Promise.resolve();
  const metrics = createMetrics({ ofProcess: false });
  const counting = countEnds({ files: {}, deliveries: { record } } as unknown as Store, metrics);
  const event = { at: new Date() };
  const tried = (status: string, times: number) =>
    Array.from({ length: times }, () => ({ attempt: {}, status, event }));
  const outcomes = [
    ...tried('DELIVERED', 3),
    ...tried('PENDING', 2),
    ...tried('FAILED', 1),
    { attempt: null, status: 'PENDING', event },
  ];
  await counting.deliveries.record({} as never, outcomes as never);
  const series = seriesOf((await metrics.scrape()).text);
  const counted = (outcome: string) => series[`allotrope_webhook_tries_total{outcome="${outcome}"}`];
  expect([counted('delivered'), counted('failed'), counted('given_up')]).toEqual([3, 2, 1]);
});
