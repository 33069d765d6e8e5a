import { describe, expect, test } from '@jest/globals';

import {
  autoSyncHours,
  hoursOfState,
  isAutoSynced,
  nextScheduledSync,
  scheduleState,
  scheduleTimes,
} from '../../contract/sources/autoSync.js';
import { AUTO_SYNC_INTERVALS } from '../../contract/limits.js';
import { AUTO_SYNC_SOURCES, SOURCE_TYPES } from '../../contract/sources/sources.js';
import { canAutoSync, CONNECTED_SOURCES } from '../../contract/sources/connectedSources.js';

const HOUR_MS = 3_600_000;
const drive = (enabled: boolean | null) => ({ type: 'GOOGLE_DRIVE', enabled }) as const;

describe('automatic sync of a file or data source', () => {
  test.each([
    ['off by default', null, {}, {}, false],
    ['on if the user lists its source', null, { sources: ['BOX', 'GOOGLE_DRIVE'] }, {}, true],
    ['off if the user lists only other sources', null, { sources: ['BOX'] }, { sources: ['GOOGLE_DRIVE'] }, false],
    ['on if the user lists ALL', null, { sources: ['ALL'] }, {}, true],
    ['off if the user lists none', null, { sources: [] }, { sources: ['ALL'] }, false],
    ['on if only the organization lists its source', null, { sources: null }, { sources: ['GOOGLE_DRIVE'] }, true],
    ['on if only the organization lists ALL', null, {}, { sources: ['ALL'] }, true],
    ['on if the record enables it', true, { sources: [] }, { sources: [] }, true],
    ['off if the record disables it', false, { sources: ['ALL'] }, { sources: ['ALL'] }, false],
  ])('is %s', (_name, enabled, user, organization, expected) => {
    expect(isAutoSynced(drive(enabled), user, organization)).toBe(expected);
  });

  test('is off for sources that do not support it, and opt-in per record for one source', () => {
    const settings = { sources: ['ALL'] };
    const unsupported = SOURCE_TYPES.filter((type) => !canAutoSync(type));
    for (const type of unsupported) expect(isAutoSynced({ type, enabled: true }, settings, settings)).toBe(false);
    const optIn = AUTO_SYNC_SOURCES.filter((type) => !isAutoSynced({ type, enabled: null }, settings, settings));
    expect(optIn).toEqual(
      Object.entries(CONNECTED_SOURCES).flatMap(([type, row]) => ('autoSync' in row && !row.autoSync ? [type] : [])),
    );
    expect(optIn.length).toBe(1);
  });
});

describe('hours between two automatic syncs', () => {
  const limitsWith = (hours: number | undefined) =>
    hours === undefined ? {} : { limits: { auto_sync_interval: hours } };
  test.each([...AUTO_SYNC_INTERVALS])('are %i if the user sets them', (hours) => {
    expect(autoSyncHours(limitsWith(hours), limitsWith(12))).toBe(hours);
  });
  test.each([[undefined], [-1]])('are those of the organization if the user sets %s', (hours) => {
    expect(autoSyncHours(limitsWith(hours), limitsWith(6))).toBe(6);
  });
  test.each([[undefined], [-1], [5]])('are 24 if both set %s', (hours) => {
    expect(autoSyncHours(limitsWith(hours), limitsWith(hours))).toBe(24);
  });
  test('are those of the organization if the limits of the user are null', () => {
    expect(autoSyncHours({ limits: null }, { limits: { auto_sync_interval: 3 } })).toBe(3);
  });
});

describe('the times of a schedule', () => {
  test.each([...AUTO_SYNC_INTERVALS])('repeat every %i hours, with one interval to catch up', (hours) => {
    const times = scheduleTimes('auto-sync:1', hours);
    expect(times.everyMs).toBe(hours * HOUR_MS);
    expect(times.catchUpMs).toBe(times.everyMs);
    expect(times.offsetMs).toBeLessThan(times.everyMs);
    expect(times.jitterMs).toBeLessThan(times.everyMs / 10);
    expect(scheduleTimes('auto-sync:1', hours)).toEqual(times);
  });

  test('determine the next start, which is after now and at most one interval away', () => {
    const { everyMs, offsetMs } = scheduleTimes('auto-sync:1', 3);
    const due = 1_000 * everyMs + offsetMs;
    expect(nextScheduledSync('auto-sync:1', 3, due - 1).getTime()).toBe(due);
    expect(nextScheduledSync('auto-sync:1', 3, due).getTime()).toBe(due + everyMs);
    expect([hoursOfState(scheduleState('on', 12)), hoursOfState(scheduleState('paused', 12))]).toEqual([12, null]);
  });

  test('spread thousands of schedules over the interval', () => {
    const minutes = Array.from({ length: 180 }, () => 0);
    for (let id = 1; id <= 3_600; id += 1) {
      const minute = Math.floor(scheduleTimes(`auto-sync:${id}`, 3).offsetMs / 60_000);
      minutes[minute] = (minutes[minute] ?? 0) + 1;
    }
    // An even spread has 20 per minute.
    expect(Math.max(...minutes)).toBeLessThan(60);
    expect(minutes.filter((number) => number === 0)).toHaveLength(0);
  });
});
