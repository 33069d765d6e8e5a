/** Who has what synced by itself, how often, and when within that time. */
import { ALL_SOURCES, AUTO_SYNC_INTERVALS, type CustomLimits } from './limits.js';
import { canAutoSync, type SourceType } from './sources.js';

/** Where nobody chose an interval. */
export const DEFAULT_AUTO_SYNC_HOURS = 24;

/** Of a user, or of an organization for its users without own values. What was never set is null or absent. */
export interface AutoSyncWishes {
  /** Source types, or ALL_SOURCES alone; empty: none. */
  readonly sources?: readonly string[] | null;
  readonly limits?: CustomLimits | null;
}

/** A record that may be synced by itself. */
export interface AutoSyncRecord {
  readonly type: SourceType;
  /** Its own word; null: as its user, else its organization has it. */
  readonly enabled: boolean | null;
}

/** Whether a record is synced by itself. */
export function isAutoSynced(
  { type, enabled }: AutoSyncRecord,
  user: AutoSyncWishes,
  organization: AutoSyncWishes,
): boolean {
  if (!canAutoSync(type)) return false;
  if (enabled !== null) return enabled;
  const sources = user.sources ?? organization.sources ?? [];
  return sources.includes(ALL_SOURCES) || sources.includes(type);
}

/** Hours between two passes; what says nothing (-1, null) leaves it to the next. */
export function autoSyncHours(user: AutoSyncWishes, organization: AutoSyncWishes): number {
  const intervals: readonly number[] = AUTO_SYNC_INTERVALS;
  const chosen = [user, organization].map(({ limits }) => limits?.auto_sync_interval ?? null);
  return chosen.find((hours) => hours !== null && intervals.includes(hours)) ?? DEFAULT_AUTO_SYNC_HOURS;
}

/** When a schedule acts, in milliseconds. */
export interface ScheduleTimes {
  readonly everyMs: number;
  /** Within the interval. */
  readonly offsetMs: number;
  /** Each pass begins so much later at most. */
  readonly jitterMs: number;
  /** A pass that was missed is made up for as long as this: once, for an earlier one is older. */
  readonly catchUpMs: number;
}

const HOUR_MS = 3_600_000;
const JITTER_MS = 60_000;

/** FNV-1a: spreads names that differ in one digit over all numbers of 32 bits. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5;
  for (const character of name) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  // The lowest bits follow the last digit: a last mix of all of them.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}

/** The times of a schedule: its own within the interval, so that thousands do not begin together. */
export function scheduleTimes(scheduleId: string, hours: number): ScheduleTimes {
  const everyMs = hours * HOUR_MS;
  const offsetMs = Math.floor((hashOf(scheduleId) / 2 ** 32) * (everyMs / 1000)) * 1000;
  return { everyMs, offsetMs, jitterMs: JITTER_MS, catchUpMs: everyMs };
}

/** A schedule as Temporal was told, in words of ours: what differs is told anew. */
export const scheduleWord = (state: 'on' | 'paused', hours: number): string => `${state}, every ${hours} h`;

/** The hours between passes of a schedule that acts, by its word; null of one that does not. */
export function hoursOfWord(word: string | null): number | null {
  const hours = /^on, every (\d+) h$/.exec(word ?? '')?.[1];
  return hours === undefined ? null : Number(hours);
}

/** When a schedule acts next, but for its jitter. */
export function nextPass(scheduleId: string, hours: number, now: number): Date {
  const { everyMs, offsetMs } = scheduleTimes(scheduleId, hours);
  return new Date((Math.floor((now - offsetMs) / everyMs) + 1) * everyMs + offsetMs);
}

/** What a run of autoSync was asked for. */
export interface PassRequest {
  readonly scheduleId: string;
}

export interface PassProgress {
  /** When the data source was listed before this pass, and by it, as the record had it. */
  readonly listedBefore?: Date | null;
  readonly listedAt?: Date | null;
}
