import { type Answer, asAnswer, asList, asText } from '../json.js';
import type { SlackAttachment, SlackBlock, SlackBot, SlackEdit, SlackFile, SlackMessage } from './fields.js';

/** The fields of a message that are read. */
export interface Message {
  /** Its time and id: seconds since 1970 with six decimals. */
  readonly ts: string;
  /** Id of its author; null if Slack names none. */
  readonly user: string | null;
  /** Display name that the message itself contains, as messages of apps do. */
  readonly signedAs: string | null;
  /** In Slack's markup. */
  readonly text: string;
  readonly files: readonly string[];
  /** Time of the last edit. */
  readonly edited: string | null;
  /** Whether it began a thread that has replies. */
  readonly beginsThread: boolean;
  /** Whether it is a reply in a thread. */
  readonly isReply: boolean;
  /** Number of replies. */
  readonly replies: number;
  /** Time of the last reply; null without replies, or if Slack does not name it. */
  readonly lastReply: string | null;
}

const TS = /^\d{1,10}\.\d{6}$/;
/** Subtypes of system messages, such as joins and renames. */
const NOTICE =
  /^(?:(?:channel|group)_\w+|bot_add|bot_remove|pinned_item|unpinned_item|tombstone|reminder_add|huddle_thread)$/;
const MAX_DEPTH = 8;

/** Returns the texts in the blocks of a message without a text of its own. */
function textsIn(value: unknown, depth = 0): string[] {
  if (depth > MAX_DEPTH) return [];
  if (Array.isArray(value)) return value.flatMap((member) => textsIn(member, depth + 1));
  const { text, elements, fields } = asAnswer<SlackBlock>(value);
  const ownTexts = typeof text === 'string' ? [text] : textsIn(text, depth + 1);
  return [...ownTexts, ...textsIn(elements ?? [], depth + 1), ...textsIn(fields ?? [], depth + 1)].filter(Boolean);
}

/** Returns the texts of a message's attachments, which are mostly link previews. */
const attachedIn = (json: Answer<SlackMessage>): string[] =>
  asList(json.attachments).flatMap((attachment) => {
    const { title, text, fallback } = asAnswer<SlackAttachment>(attachment);
    const words = [asText(title), asText(text)].filter((word) => word !== null);
    return words.length > 0 ? [words.join(': ')] : (asText(fallback) ?? []);
  });

/** Parses a message; null for entries that are not messages. */
export function readMessage(value: unknown): Message | null {
  const json = asAnswer<SlackMessage>(value);
  const { ts, thread_ts: threadTs, reply_count: replies, subtype } = json;
  if (typeof ts !== 'string' || !TS.test(ts)) return null;
  const isReply = typeof threadTs === 'string' && threadTs !== ts;
  const beginsThread = !isReply && typeof replies === 'number' && replies > 0;
  const isNotice = typeof subtype === 'string' && NOTICE.test(subtype);
  if (isNotice && !beginsThread) return null;
  const { text, ...rest } = json;
  const ownText = isNotice ? '' : (asText(text) ?? textsIn(rest.blocks ?? []).join(' '));
  return {
    ts,
    user: asText(json.user),
    signedAs: asText(json.username) ?? asText(asAnswer<SlackBot>(json.bot_profile).name) ?? asText(json.bot_id),
    text: [ownText, ...attachedIn(json)].filter(Boolean).join('\n'),
    files: asList(json.files).flatMap((file) => {
      const { name, title } = asAnswer<SlackFile>(file);
      return asText(name) ?? asText(title) ?? [];
    }),
    edited: asText(asAnswer<SlackEdit>(json.edited).ts),
    beginsThread,
    isReply,
    replies: beginsThread ? Number(replies) : 0,
    lastReply: asText(json.latest_reply),
  };
}

const ENTITIES: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&amp;': '&' };
const REFERENCE = /<([^<>]{1,4000})>/g;

/** Returns the ids of the users that a text mentions. */
export const mentionedIn = (text: string): string[] =>
  [...text.matchAll(REFERENCE)].flatMap(([, inner = '']) => /^@([UW][A-Z0-9]{1,30})/.exec(inner)?.[1] ?? []);

/** Converts Slack's markup to plain text. @param nameOf returns a user's name by id */
export function plainText(text: string, nameOf: (userId: string) => string): string {
  const shown = text.replaceAll(REFERENCE, (_whole, inner: string) => {
    const bar = inner.indexOf('|');
    const [target, label] = bar < 0 ? [inner, ''] : [inner.slice(0, bar), inner.slice(bar + 1)];
    if (target.startsWith('@')) return `@${nameOf(target.slice(1))}`;
    if (target.startsWith('#')) return `#${label || target.slice(1)}`;
    // Groups, dates and whole channels: `!subteam^S1|@crew`, `!date^…|tomorrow`, `!here`.
    if (target.startsWith('!')) return label || `@${target.slice(1).split('^')[0] ?? ''}`;
    const address = target.replace(/^mailto:/, '');
    return label === '' || label === address ? address : `${label} (${address})`;
  });
  return shown.replaceAll(/&(?:lt|gt|amp);/g, (entity) => ENTITIES[entity] ?? entity);
}
