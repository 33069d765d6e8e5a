/** Automatic sync: which sources of a user are synced, how often, and at which offset within the interval. */
import { ALL_SOURCES, AUTO_SYNC_INTERVALS, type CustomLimits } from '../limits.js';
import type { SourceType } from './sources.js';
import { canAutoSync } from './connectedSources.js';

/** Default interval. */
export const DEFAULT_AUTO_SYNC_HOURS = 24;

/**
 * Settings of a user, or of an organization for its users without own values. A value that was never set is null or
 * absent.
 */
export interface AutoSyncSettings {
  /** Source types, or ALL_SOURCES alone; empty: none. */
  readonly sources?: readonly string[] | null;
  readonly limits?: CustomLimits | null;
}

/** A record that can be synced automatically. */
export interface AutoSyncRecord {
  readonly type: SourceType;
  /** The record's own setting. Null: the setting of the user, else of the organization, applies. */
  readonly enabled: boolean | null;
}

/** Returns whether a record is synced automatically. */
export function isAutoSynced(
  { type, enabled }: AutoSyncRecord,
  user: AutoSyncSettings,
  organization: AutoSyncSettings,
): boolean {
  if (!canAutoSync(type)) return false;
  if (enabled !== null) return enabled;
  const sources = user.sources ?? organization.sources ?? [];
  return sources.includes(ALL_SOURCES) || sources.includes(type);
}

/**
 * Returns the hours between two automatic syncs: the user's value, else the organization's, else the default. -1 and
 * null mean "not set".
 */
export function autoSyncHours(user: AutoSyncSettings, organization: AutoSyncSettings): number {
  const intervals: readonly number[] = AUTO_SYNC_INTERVALS;
  const chosen = [user, organization].map(({ limits }) => limits?.auto_sync_interval ?? null);
  return chosen.find((hours) => hours !== null && intervals.includes(hours)) ?? DEFAULT_AUTO_SYNC_HOURS;
}

/** Times of a schedule, in milliseconds. */
export interface ScheduleTimes {
  readonly everyMs: number;
  /** Offset of the start within the interval. */
  readonly offsetMs: number;
  /** Maximum random delay of each start. */
  readonly jitterMs: number;
  /** How long after its due time a missed start is still executed. Of several missed starts, only the latest is. */
  readonly catchUpMs: number;
}

const HOUR_MS = 3_600_000;
const JITTER_MS = 60_000;

/** Returns the FNV-1a hash of a text, which spreads names that differ in one digit over all 32-bit numbers. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5;
  for (const character of name) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  // The lowest bits depend mostly on the last digit, so mix all bits once more.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}

/** Returns the times of a schedule. Each schedule has its own offset, so thousands of them do not start together. */
export function scheduleTimes(scheduleId: string, hours: number): ScheduleTimes {
  const everyMs = hours * HOUR_MS;
  const offsetMs = Math.floor((hashOf(scheduleId) / 2 ** 32) * (everyMs / 1000)) * 1000;
  return { everyMs, offsetMs, jitterMs: JITTER_MS, catchUpMs: everyMs };
}

/**
 * Returns the text that represents a schedule's state. The dispatcher stores the text once the schedule in Temporal has
 * that state, and updates the schedule when the text changes.
 */
export const scheduleState = (state: 'on' | 'paused', hours: number): string => `${state}, every ${hours} h`;

/** Returns the hours between the starts of a schedule from the text of its state; null if it is paused. */
export function hoursOfState(text: string | null): number | null {
  const hours = /^on, every (\d+) h$/.exec(text ?? '')?.[1];
  return hours === undefined ? null : Number(hours);
}

/** Returns the next start of a schedule, without jitter. */
export function nextScheduledSync(scheduleId: string, hours: number, now: number): Date {
  const { everyMs, offsetMs } = scheduleTimes(scheduleId, hours);
  return new Date((Math.floor((now - offsetMs) / everyMs) + 1) * everyMs + offsetMs);
}

/** Request of an autoSync run. */
export interface AutoSyncRequest {
  readonly scheduleId: string;
}

export interface AutoSyncProgress {
  /** `sourceItemsSyncedAt` of the data source before the listing of this run. */
  readonly listedBefore?: Date | null;
  /** `sourceItemsSyncedAt` of the data source after the listing of this run. */
  readonly listedAt?: Date | null;
}
