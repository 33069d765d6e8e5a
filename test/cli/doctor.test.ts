import { expect, test } from '@jest/globals';

import { type Check, exitCodeOf } from '../../cli/doctor/check.js';
import { clockCheck } from '../../cli/doctor/clock.js';
import { mongodbChecks } from '../../cli/doctor/engines.js';
import { diskChecks } from '../../cli/doctor/machine.js';
import { workers } from '../../cli/doctor/stalls.js';
import type { Config } from '../../config/types.js';
import type { TemporalInspection } from '../../dispatch/inspect.js';
import type { Inspection } from '../../store/overview/inspection.js';
import { findPort } from '../../engines/ports.js';
import { testEngines } from '../support/engines.js';
import { everyRow } from '../support/everyRow.js';

const REQUESTED_AT = 1_000_000;
const ANSWERED_AT = 1_002_000;

/** MongoDB's time in milliseconds, and the expected result. */
const ROWS: [mongodb: number, state: string, seconds: number][] = [
  [REQUESTED_AT, 'ok', 0],
  [REQUESTED_AT + 1_000, 'ok', 0],
  [ANSWERED_AT, 'ok', 0],
  [REQUESTED_AT - 5_000, 'ok', 5],
  [ANSWERED_AT + 5_000, 'ok', 5],
  [REQUESTED_AT - 5_001, 'bad', 5],
  [ANSWERED_AT + 5_001, 'bad', 5],
  [REQUESTED_AT - 60_000, 'bad', 60],
  [ANSWERED_AT + 60_000, 'bad', 60],
];

test('reports a clock that is more than 5 s ahead of or behind that of MongoDB', () =>
  everyRow(
    ROWS,
    ([mongodb]) => String(mongodb),
    ([mongodb, state, seconds]) =>
      expect(clockCheck(new Date(mongodb), REQUESTED_AT, ANSWERED_AT)).toMatchObject({
        state,
        found: `differs from MongoDB's by ${seconds} s`,
      }),
  ));

test('exits with 1 only if a check is bad', () => {
  const codeOf = (...states: Check['state'][]): number => exitCodeOf(states.map((state) => ({ state })));
  expect([codeOf('ok'), codeOf('ok', 'warn', 'skipped'), codeOf('ok', 'bad', 'warn')]).toEqual([0, 0, 1]);
});

/** Seconds since the last heartbeat of each worker, pollers of the task queue, and the expected states. */
const WORKERS: [ages: number[], pollers: number, states: Check['state'][]][] = [
  [[], 0, ['bad']],
  [[1], 1, ['ok']],
  [[1, 1], 1, ['ok']],
  [[1, 3600], 1, ['ok', 'warn']],
  [[3600], 1, ['bad']],
  [[1], 0, ['bad']],
];

test('reports missing and silent workers, and running workers of which none polls the task queue; a silent one is only a warning while another runs', () =>
  everyRow(
    WORKERS,
    ([ages, pollers]) => `${ages.join(', ')}; ${pollers}`,
    async ([ages, pollers, states]) => {
      const load = { waitShare: null, waited: null, othersShare: null };
      const reports = ages.map((age, nth) => ({ ageMs: age * 1000, host: 'a', pid: nth, ...load }));
      const inspection = { workers: { list: async () => reports } } as unknown as Inspection;
      const temporal = { server: async () => ({ pollers }) } as unknown as TemporalInspection;
      const checks = await workers(inspection, temporal);
      expect(checks.map(({ state }) => state)).toEqual(states);
      if (states[0] === 'ok') expect(checks[0]?.found).toBe(`${ages.filter((age) => age < 60).length} running`);
    },
  ));

test('connects to a replica set whose URI names several hosts, even if one is down', async () => {
  const { host, search } = new URL(testEngines().mongodbUri);
  const closed = `127.0.0.1:${await findPort('free')}`;
  const mongodbUri = `mongodb://${closed},${host},localhost:${host.split(':')[1]}/doctor${search}`;
  const { checks, inspection } = await mongodbChecks({ mongodbUri } as Config);
  await inspection?.close();
  expect(checks[0]).toMatchObject({ name: 'MongoDB', state: 'ok', found: expect.stringContaining('replica set') });
});

test('reports every host of MONGODB_URI if none answers, without the password', async () => {
  const [first, second] = [await findPort('free'), await findPort('free')];
  const mongodbUri = `mongodb://user:password@127.0.0.1:${first},127.0.0.1:${second}/x?replicaSet=rs`;
  const { checks, inspection } = await mongodbChecks({ mongodbUri, dataDir: '/nowhere' } as Config);
  expect(inspection).toBeNull();
  expect(checks).toEqual([
    {
      ...{ name: 'MongoDB', state: 'bad', fix: 'Start the service with npm start, or check MONGODB_URI.' },
      found: expect.stringMatching(`^127.0.0.1:${first}, 127.0.0.1:${second} does not answer: `),
    },
  ]);
  expect(JSON.stringify(checks)).not.toContain('password');
});

/** MIN_FREE_DISK_BYTES, free bytes of a disk of 10 TB, and the expected state. */
const DISKS: [minFreeBytes: number, freeBytes: number, state: Check['state']][] = [
  [2e9, 400e9, 'ok'],
  [2e9, 2e9, 'ok'],
  [2e9, 2e9 - 1, 'warn'],
  [2e9, 5e8 - 1, 'bad'],
  [0, 0, 'ok'],
];

test('reports a disk with less free space than MIN_FREE_DISK_BYTES, whatever its size', () =>
  everyRow(
    DISKS,
    ([minFreeBytes, freeBytes]) => `${freeBytes} of ${minFreeBytes}`,
    async ([minFreeBytes, freeBytes, state]) => {
      const disk = { name: 'DATA_DIR', path: '/data', freeBytes, totalBytes: 10e12 };
      const [check] = await diskChecks({ disks: { folders: [], minFreeBytes } }, async () => [disk]);
      expect(check).toMatchObject({ name: 'disk of DATA_DIR', state });
    },
  ));
