/**
 * Item ids of Slack: a conversation is its id, `<conversation>/<seconds>` a time window of messages,
 * `<conversation>/<seconds>.<number>` a thread, `<conversation>?after=<seconds>` the messages since a time.
 */
import { dayOf } from './filterTree.js';

/** Length of a window of messages. Windows start at each full quarter of an hour. */
export const WINDOW_SECONDS = 900;

export type SlackItemRef =
  | { readonly kind: 'conversation'; readonly conversation: string }
  | { readonly kind: 'since'; readonly conversation: string; readonly after: number }
  | { readonly kind: 'window'; readonly conversation: string; readonly start: number }
  /** @member ts timestamp of the thread's first message */
  | { readonly kind: 'thread'; readonly conversation: string; readonly ts: string };

const ITEM_ID = /^([CDG][A-Z0-9]{1,30})(?:\?after=(\d{1,10})|\/(\d{1,10})|\/(\d{1,10}\.\d{6}))?$/;

export const isConversationId = (text: string): boolean => parseSlackItemId(text)?.kind === 'conversation';

/** Returns the id of the messages since a time in seconds; null: all messages. */
export const idOfSince = (conversation: string, after: number | null): string =>
  after === null ? conversation : `${conversation}?after=${after}`;
export const idOfWindow = (conversation: string, start: number): string => `${conversation}/${start}`;
export const idOfThread = (conversation: string, ts: string): string => `${conversation}/${ts}`;

/** Returns the start of the window that contains a time, in seconds. */
export const windowOf = (seconds: number): number => Math.floor(seconds / WINDOW_SECONDS) * WINDOW_SECONDS;

/** Parses an item id; null if it is invalid. */
export function parseSlackItemId(externalId: string): SlackItemRef | null {
  const [, conversation, after, start, ts] = ITEM_ID.exec(externalId) ?? [];
  if (conversation === undefined) return null;
  if (after !== undefined) return { kind: 'since', conversation, after: Number(after) };
  if (ts !== undefined) return { kind: 'thread', conversation, ts };
  if (start === undefined) return { kind: 'conversation', conversation };
  return windowOf(Number(start)) === Number(start) ? { kind: 'window', conversation, start: Number(start) } : null;
}

const TIME = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?$/;
const EPOCH = /^\d{1,10}(?:\.\d{1,6})?$/;
const MAX_SECONDS = 9_999_999_999;

/**
 * Parses a day (YYYY/mm/dd), a time (ISO 8601, UTC without a zone) or seconds since 1970 into seconds; null if it is
 * invalid.
 */
export function secondsOf(text: string): number | null {
  if (EPOCH.test(text)) return Math.floor(Number(text));
  const [isTime, zone] = TIME.exec(text) ?? [];
  // Date.parse() turns 30 February into 1 March.
  const day = dayOf(isTime === undefined ? text : text.slice(0, 10));
  if (day === null) return null;
  const time = Date.parse(isTime === undefined ? `${day}T00:00:00Z` : `${text.replace(' ', 'T')}${zone ? '' : 'Z'}`);
  const seconds = Math.floor(time / 1000);
  return seconds >= 0 && seconds <= MAX_SECONDS ? seconds : null;
}
