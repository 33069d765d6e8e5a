/** Reads the messages of a time window or a thread, with as few requests as possible. */
import { createHash } from 'node:crypto';

import { Fault } from '../../contract/failures.js';
import { WINDOW_SECONDS, windowOf } from '../../contract/sources/slackIds.js';
import type { GrantClient } from '../accountClient.js';
import { noSuchItem, requireList } from '../faults.js';
import type { Answer } from '../json.js';
import { callApi } from './api.js';
import type { SlackAnswer } from './fields.js';
import { type Message, readMessage } from './message.js';
import { windowCacheIn, type Windows } from './windowCache.js';
import { close, groupMessages } from './windows.js';

/** Page size that Slack recommends; it may return fewer. */
export const PER_PAGE = '200';
/** Maximum length of one window or thread, in characters. */
const MAX_CHARACTERS = 20_000_000;

export const messagesIn = (answer: Answer<SlackAnswer>): Message[] =>
  requireList('Slack', answer.messages).flatMap((value) => readMessage(value) ?? []);

/** Collects messages up to MAX_CHARACTERS, each once: Slack repeats the first message of a thread on each page. */
class Collected {
  readonly #messages = new Map<string, Message>();
  #characters = 0;

  /** @throws Fault too_large */
  add(messages: readonly Message[]): void {
    for (const message of messages) {
      if (this.#messages.has(message.ts)) continue;
      this.#messages.set(message.ts, message);
      this.#characters += message.text.length;
      if (this.#characters > MAX_CHARACTERS)
        throw new Fault(
          'too_large',
          `The messages of this time range or thread have more than ${MAX_CHARACTERS.toLocaleString('en')} characters. They are not synced.`,
        );
    }
  }

  /** Returns the messages, oldest first. */
  inOrder(): Message[] {
    return [...this.#messages.values()].toSorted((a, b) => Number(a.ts) - Number(b.ts));
  }
}

/** Whether a message belongs to a window; replies and beginnings of threads do not. */
const isInWindow = ({ isReply, beginsThread }: Message): boolean => !isReply && !beginsThread;
const startOf = ({ ts }: Message): number => windowOf(Number(ts));

/** Key of the cached windows of one conversation that were read for one token. */
const keyOf = ({ credentials }: GrantClient, conversation: string): string =>
  createHash('sha256').update(`${credentials.accessToken} windows of ${conversation}`).digest('base64');

/** Returns the digest that a listing gives a window. */
function digestOf(messages: readonly Message[]): string | null {
  const [cut] = close(groupMessages(messages.toReversed(), null).open);
  return cut?.kind === 'window' ? cut.window.digest : null;
}

/** Groups messages by window. */
function windowsIn(messages: readonly Message[]): Map<number, Message[]> {
  const windows = new Map<number, Message[]>();
  for (const message of messages.filter(isInWindow).toSorted((a, b) => Number(a.ts) - Number(b.ts))) {
    const window = windows.get(startOf(message));
    if (window) window.push(message);
    else windows.set(startOf(message), [message]);
  }
  return windows;
}

/**
 * Requests a window with the older messages of the same pages. A quarter-hour has few messages, and a page has 200, so
 * most pages also contain whole earlier windows, which a sync opens next.
 */
async function readBackwards(client: GrantClient, conversation: string, start: number): Promise<Windows> {
  const collected = new Collected();
  const range = { channel: conversation, latest: `${start + WINDOW_SECONDS - 1}.999999`, inclusive: 'true' };
  const older: Message[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const { answer, next }: Awaited<ReturnType<typeof callApi>> = await callApi(client, 'conversations.history', {
      ...range,
      ...{ limit: PER_PAGE, cursor: cursor ?? null },
    });
    const messages = messagesIn(answer);
    collected.add(messages.filter((message) => startOf(message) === start && isInWindow(message)));
    older.push(...messages.filter((message) => startOf(message) < start));
    // Once a message is older, no later page has messages of the window.
    const oldest = messages.at(-1);
    const isPast = oldest !== undefined && startOf(oldest) < start;
    if (isPast && next !== null)
      older.splice(0, older.length, ...older.filter((page) => startOf(page) > startOf(oldest)));
    cursor = isPast ? null : next;
  }
  return new Map([...windowsIn(older), [start, collected.inOrder()]]);
}

/**
 * Returns the messages of a window, oldest first. Messages that were read together with another window are used only if
 * they have the listed version, so that no edit is missed.
 * @param version version of the window or thread in the listing; null: unknown
 */
async function windowAt(
  client: GrantClient,
  { conversation, start }: { readonly conversation: string; readonly start: number },
  version: string | null,
): Promise<readonly Message[]> {
  const [cached, key] = [windowCacheIn(client.cache), keyOf(client, conversation)];
  const cachedMessages = (): readonly Message[] | undefined =>
    cached
      .pagesOf(key)
      .flatMap((page) => [page.get(start) ?? []])
      .find((messages) => version !== null && messages.length > 0 && digestOf(messages) === version);
  while (version !== null) {
    const found = cachedMessages();
    if (found !== undefined) return found;
    const inProgress = cached.inProgress.get(key);
    if (inProgress === undefined) break;
    await inProgress;
  }
  const reading = readBackwards(client, conversation, start);
  // Other callers only wait for the end of this request: its error is reported to this caller alone.
  const settled = reading.catch(() => undefined);
  cached.inProgress.set(key, settled);
  try {
    const windows = await reading;
    cached.add(key, windows);
    return windows.get(start) ?? [];
  } finally {
    if (cached.inProgress.get(key) === settled) cached.inProgress.delete(key);
  }
}

/** Returns the messages of a thread, oldest first. */
async function threadAt(client: GrantClient, conversation: string, ts: string): Promise<readonly Message[]> {
  const found = new Collected();
  for (let cursor: string | null | undefined; cursor !== null;) {
    const fields = { channel: conversation, ts, limit: PER_PAGE, cursor: cursor ?? null };
    const { answer, next }: Awaited<ReturnType<typeof callApi>> = await callApi(
      client,
      'conversations.replies',
      fields,
    );
    found.add(messagesIn(answer).filter((message) => message.isReply || (message.beginsThread && message.ts === ts)));
    cursor = next;
  }
  const messages = found.inOrder();
  // A thread whose replies were all deleted is no longer a thread.
  return messages.some(({ beginsThread }) => beginsThread) ? messages : [];
}

/**
 * Returns the messages of a window or thread, oldest first. @throws Fault not_found if there are none, too_large
 * @param version version of the window or thread in the listing; null: unknown
 */
export async function messagesAt(
  client: GrantClient,
  place: { readonly conversation: string } & (
    | { readonly kind: 'window'; readonly start: number }
    | { readonly kind: 'thread'; readonly ts: string }
  ),
  version: string | null,
): Promise<readonly Message[]> {
  const messages =
    place.kind === 'window'
      ? await windowAt(client, place, version)
      : await threadAt(client, place.conversation, place.ts);
  if (messages.length === 0) throw noSuchItem('Slack');
  return messages;
}
