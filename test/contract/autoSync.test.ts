import { describe, expect, test } from '@jest/globals';

import { autoSyncHours, isAutoSynced, scheduleTimes } from '../../contract/autoSync.js';
import { AUTO_SYNC_INTERVALS } from '../../contract/limits.js';
import { AUTO_SYNC_SOURCES, canAutoSync, CONNECTED_SOURCES, SOURCE_TYPES } from '../../contract/sources.js';

const HOUR_MS = 3_600_000;
const drive = (enabled: boolean | null) => ({ type: 'GOOGLE_DRIVE', enabled }) as const;

describe('a record is synced by itself', () => {
  test.each([
    ['nobody says so', null, {}, {}, false],
    ['its user names it', null, { sources: ['BOX', 'GOOGLE_DRIVE'] }, {}, true],
    ['its user names others', null, { sources: ['BOX'] }, { sources: ['GOOGLE_DRIVE'] }, false],
    ['its user wants all', null, { sources: ['ALL'] }, {}, true],
    ['its user wants none', null, { sources: [] }, { sources: ['ALL'] }, false],
    ['its organization names it', null, { sources: null }, { sources: ['GOOGLE_DRIVE'] }, true],
    ['its organization wants all', null, {}, { sources: ['ALL'] }, true],
    ['it says so itself', true, { sources: [] }, { sources: [] }, true],
    ['it says no itself', false, { sources: ['ALL'] }, { sources: ['ALL'] }, false],
  ])('when %s', (_name, enabled, user, organization, expected) => {
    expect(isAutoSynced(drive(enabled), user, organization)).toBe(expected);
  });

  test('never, where its source has nothing of the kind', () => {
    const wishes = { sources: ['ALL'] };
    const without = SOURCE_TYPES.filter((type) => !canAutoSync(type));
    for (const type of without) expect(isAutoSynced({ type, enabled: true }, wishes, wishes)).toBe(false);
    const listed = AUTO_SYNC_SOURCES.filter((type) => !isAutoSynced({ type, enabled: null }, wishes, wishes));
    expect(listed).toEqual(
      Object.entries(CONNECTED_SOURCES).flatMap(([type, row]) => ('autoSync' in row && !row.autoSync ? [type] : [])),
    );
    expect(listed.length).toBe(1);
  });
});

describe('hours between two passes', () => {
  const of = (hours: number | undefined) => (hours === undefined ? {} : { limits: { auto_sync_interval: hours } });
  test.each([...AUTO_SYNC_INTERVALS])('%i of the user win', (hours) => {
    expect(autoSyncHours(of(hours), of(12))).toBe(hours);
  });
  test.each([[undefined], [-1]])('%s of the user leaves it to the organization', (hours) => {
    expect(autoSyncHours(of(hours), of(6))).toBe(6);
  });
  test.each([[undefined], [-1], [5]])('%s of both is a day', (hours) => {
    expect(autoSyncHours(of(hours), of(hours))).toBe(24);
  });
  test('null limits say nothing', () => {
    expect(autoSyncHours({ limits: null }, { limits: { auto_sync_interval: 3 } })).toBe(3);
  });
});

describe('the times of a schedule', () => {
  test.each([...AUTO_SYNC_INTERVALS])('every %i hours, made up for once', (hours) => {
    const times = scheduleTimes('auto-sync:1', hours);
    expect(times.everyMs).toBe(hours * HOUR_MS);
    expect(times.catchUpMs).toBe(times.everyMs);
    expect(times.offsetMs).toBeLessThan(times.everyMs);
    expect(times.jitterMs).toBeLessThan(times.everyMs / 10);
    expect(scheduleTimes('auto-sync:1', hours)).toEqual(times);
  });

  test('thousands of neighbours are spread over the interval', () => {
    const minutes = Array.from({ length: 180 }, () => 0);
    for (let id = 1; id <= 3_600; id += 1) {
      const minute = Math.floor(scheduleTimes(`auto-sync:${id}`, 3).offsetMs / 60_000);
      minutes[minute] = (minutes[minute] ?? 0) + 1;
    }
    // Twenty a minute, were they spread evenly.
    expect(Math.max(...minutes)).toBeLessThan(60);
    expect(minutes.filter((number) => number === 0)).toHaveLength(0);
  });
});
