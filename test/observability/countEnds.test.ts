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
