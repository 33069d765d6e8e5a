import { asList, asObject, asText, type Json } from '../json.js';

/** What we read of a message. */
export interface Message {
  /** Its time and its name: seconds with six digits behind the dot. */
  readonly ts: string;
  /** Id of its author; null if Slack names none. */
  readonly user: string | null;
  /** What it is signed with by itself, as those of apps are. */
  readonly signedAs: string | null;
  /** As Slack marks it up. */
  readonly text: string;
  readonly files: readonly string[];
  /** When it was changed last. */
  readonly edited: string | null;
  /** It began a thread that has answers. */
  readonly beginsThread: boolean;
  /** It is an answer in a thread. */
  readonly isAnswer: boolean;
}

const TS = /^\d{1,10}\.\d{6}$/;
/** Told by Slack of itself, not said by anybody: who came and went, what was renamed. */
const NOTICE =
  /^(?:(?:channel|group)_\w+|bot_add|bot_remove|pinned_item|unpinned_item|tombstone|reminder_add|huddle_thread)$/;
const MAX_DEPTH = 8;

/** Returns the texts in the blocks of a message without a text of its own. */
function textsIn(value: unknown, depth = 0): string[] {
  if (depth > MAX_DEPTH) return [];
  if (Array.isArray(value)) return value.flatMap((member) => textsIn(member, depth + 1));
  const { text, elements, fields } = asObject(value);
  const own = typeof text === 'string' ? [text] : textsIn(text, depth + 1);
  return [...own, ...textsIn(elements ?? [], depth + 1), ...textsIn(fields ?? [], depth + 1)].filter(Boolean);
}

/** What an app hung on its message: links with words of theirs, mostly. */
const attachedIn = (json: Json): string[] =>
  asList(json['attachments']).flatMap((one) => {
    const { title, text, fallback } = asObject(one);
    const words = [asText(title), asText(text)].filter((some) => some !== null);
    return words.length > 0 ? [words.join(': ')] : (asText(fallback) ?? []);
  });

/** Parses a message of Slack's; null for entries that are not messages. */
export function readMessage(value: unknown): Message | null {
  const json = asObject(value);
  const { ts, thread_ts: threadTs, reply_count: replies, subtype } = json;
  if (typeof ts !== 'string' || !TS.test(ts)) return null;
  const isAnswer = typeof threadTs === 'string' && threadTs !== ts;
  const beginsThread = !isAnswer && typeof replies === 'number' && replies > 0;
  const isNotice = typeof subtype === 'string' && NOTICE.test(subtype);
  if (isNotice && !beginsThread) return null;
  const { text, ...rest } = json;
  const said = isNotice ? '' : (asText(text) ?? textsIn(rest['blocks'] ?? []).join(' '));
  return {
    ts,
    user: asText(json['user']),
    signedAs: asText(json['username']) ?? asText(asObject(json['bot_profile'])['name']) ?? asText(json['bot_id']),
    text: [said, ...attachedIn(json)].filter(Boolean).join('\n'),
    files: asList(json['files']).flatMap((file) => {
      const { name, title } = asObject(file);
      return asText(name) ?? asText(title) ?? [];
    }),
    edited: asText(asObject(json['edited'])['ts']),
    beginsThread,
    isAnswer,
  };
}

const ENTITIES: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&amp;': '&' };
const REFERENCE = /<([^<>]{1,4000})>/g;

/** Who is spoken of in a text, by id. */
export const mentionedIn = (text: string): string[] =>
  [...text.matchAll(REFERENCE)].flatMap(([, inner = '']) => /^@([UW][A-Z0-9]{1,30})/.exec(inner)?.[1] ?? []);

/** Slack's markup as a person reads it. @param nameOf of a user, by id */
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
