/**
 * What lies in Slack is called here: a conversation by its id, `<conversation>/<seconds>` what was said in a window of time,
 * `<conversation>/<seconds>.<number>` a thread, `<conversation>?after=<seconds>` what was said since.
 */

/** How long a window of messages is: windows begin at each full quarter of an hour. */
export const WINDOW_SECONDS = 900;

export type SlackPlace =
  | { readonly kind: 'conversation'; readonly conversation: string }
  | { readonly kind: 'since'; readonly conversation: string; readonly after: number }
  | { readonly kind: 'window'; readonly conversation: string; readonly start: number }
  /** @member ts that of the message that it began with */
  | { readonly kind: 'thread'; readonly conversation: string; readonly ts: string };

const PLACE = /^([CDG][A-Z0-9]{1,30})(?:\?after=(\d{1,10})|\/(\d{1,10})|\/(\d{1,10}\.\d{6}))?$/;

export const isConversationId = (text: string): boolean => slackPlaceOf(text)?.kind === 'conversation';

/** What was said since a moment, in seconds; null: all. */
export const idOfSince = (conversation: string, after: number | null): string =>
  after === null ? conversation : `${conversation}?after=${after}`;
export const idOfWindow = (conversation: string, start: number): string => `${conversation}/${start}`;
export const idOfThread = (conversation: string, ts: string): string => `${conversation}/${ts}`;

/** The beginning of the window that a moment lies in, in seconds. */
export const windowOf = (seconds: number): number => Math.floor(seconds / WINDOW_SECONDS) * WINDOW_SECONDS;

/** What an id means; null: nothing in Slack is called so. */
export function slackPlaceOf(externalId: string): SlackPlace | null {
  const [, conversation, after, start, ts] = PLACE.exec(externalId) ?? [];
  if (conversation === undefined) return null;
  if (after !== undefined) return { kind: 'since', conversation, after: Number(after) };
  if (ts !== undefined) return { kind: 'thread', conversation, ts };
  if (start === undefined) return { kind: 'conversation', conversation };
  return windowOf(Number(start)) === Number(start) ? { kind: 'window', conversation, start: Number(start) } : null;
}

const DAY = /^(\d{4})[/-](\d{1,2})[/-](\d{1,2})$/;
const TIME = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?$/;
const EPOCH = /^\d{1,10}(?:\.\d{1,6})?$/;
const LAST = 9_999_999_999;

/** A day (YYYY/mm/dd), a time (ISO 8601, of UTC where it names no zone) or seconds since 1970, as seconds; null for what is none. */
export function secondsOf(text: string): number | null {
  if (EPOCH.test(text)) return Math.floor(Number(text));
  const day = DAY.exec(text);
  const [, zone] = TIME.exec(text) ?? [];
  if (!day && !TIME.test(text)) return null;
  const [year = 0, month = 0, date = 0] = (day ?? []).slice(1).map(Number);
  const time = day ? Date.UTC(year, month - 1, date) : Date.parse(`${text.replace(' ', 'T')}${zone ? '' : 'Z'}`);
  // The 31st of February is not the 3rd of March, and there is no 13th month.
  if (day && (new Date(time).getUTCDate() !== date || month > 12)) return null;
  const seconds = Math.floor(time / 1000);
  return seconds >= 0 && seconds <= LAST ? seconds : null;
}
