import { createHash } from 'node:crypto';

import { idOfThread, idOfWindow, WINDOW_SECONDS } from '../../contract/sources/slackIds.js';
import type { ItemContent } from '../connector.js';
import type { SourceItem } from '../sourceItem.js';
import { type Message, plainText } from './message.js';
import type { Group } from './windows.js';
import { type Answer, asText } from '../json.js';
import { createContainer, UNKNOWN_AUTHOR } from '../items.js';
import type { SlackConversation } from './fields.js';

const MAX_NAME = 100;

const isoOf = (seconds: number): string => new Date(seconds * 1000).toISOString();
/** Formats a time in UTC, such as `2026-03-04 10:15`. */
const timeOf = (seconds: number): string => isoOf(seconds).slice(0, 16).replace('T', ' ');

/** Returns the URL of a message or conversation. @param workspace its URL; '' if unknown */
export const addressOf = (workspace: string, conversation: string, ts: string | null): string | null =>
  workspace === '' ? null : `${workspace}archives/${conversation}${ts === null ? '' : `/p${ts.replace('.', '')}`}`;

/** Converts a conversation into a container. */
export const itemOfConversation = (
  conversation: Answer<SlackConversation>,
  { id, name, workspace }: { readonly id: string; readonly name: string; readonly workspace: string },
): SourceItem => {
  const { created } = conversation;
  return createContainer({
    externalId: id,
    name,
    itemType: 'CONVERSATION',
    externalUrl: addressOf(workspace, id, null),
    createdAt: typeof created === 'number' && created >= 0 && created < 1e10 ? isoOf(created) : null,
  });
};

/** Age in seconds of the last reply from which a thread counts as ended: 14 days. */
const ENDED_AFTER = 14 * 86_400;

/**
 * Returns the version of a thread; null if its last reply is recent or its time is unknown: each sync reads such a
 * thread again, because the history of a conversation does not show that a reply was edited. Older threads are read
 * again only if their version changes, because each takes a request.
 */
function versionOfThread({ ts, user, text, files, edited, replies, lastReply }: Message): string | null {
  if (lastReply === null || Date.now() / 1000 - Number(lastReply) < ENDED_AFTER) return null;
  const all = JSON.stringify([ts, user, text, files, edited, replies, lastReply]);
  return createHash('sha256').update(all).digest('base64url').slice(0, 22);
}

/** Converts a time window of messages, or a thread, to an item. */
export function itemOfGroup(group: Group, conversation: string, workspace: string): SourceItem {
  const common = {
    parentExternalId: conversation,
    rootExternalId: conversation,
    itemType: 'FILE',
    fileFormat: null,
    isSelectable: true,
    isExpandable: false,
    hasContent: true,
  };
  if (group.kind === 'window') {
    const { start, ts, digest } = group.window;
    const range = { after: start, before: start + WINDOW_SECONDS, conversation };
    return {
      ...common,
      externalId: idOfWindow(conversation, start),
      name: JSON.stringify(range),
      externalUrl: addressOf(workspace, conversation, ts),
      createdAt: isoOf(start),
      version: digest,
    };
  }
  const { ts, text } = group.first;
  const [line = ''] = plainText(text, (id) => id)
    .trim()
    .split('\n');
  return {
    ...common,
    externalId: idOfThread(conversation, ts),
    name: line.slice(0, MAX_NAME) || `Thread of ${timeOf(Number(ts))}`,
    externalUrl: addressOf(workspace, conversation, ts),
    createdAt: isoOf(Number(ts)),
    version: versionOfThread(group.first),
  };
}

/** Renders a message as a paragraph. @param nameOf returns a user's name by id */
export function paragraphOf(message: Message, nameOf: (userId: string) => string): string {
  const { ts, user, signedAs, text, files } = message;
  const who = user === null ? (signedAs ?? UNKNOWN_AUTHOR) : nameOf(user);
  const shared = files.map((name) => `[file: ${name}]`);
  return `${who}, ${timeOf(Number(ts))}: ${[plainText(text, nameOf), ...shared].filter(Boolean).join(' ')}`;
}

/** Returns the content of a time window or a thread. */
export function contentOf(
  group: { readonly kind: 'window'; readonly start: number } | { readonly kind: 'thread'; readonly ts: string },
  paragraphs: readonly string[],
  { conversation, name, url }: { readonly conversation: string; readonly name: string; readonly url: string | null },
): ItemContent {
  const isThread = group.kind === 'thread';
  const range = isThread ? {} : { after: group.start, before: group.start + WINDOW_SECONDS };
  return {
    bytes: Buffer.from(paragraphs.join('\n\n')),
    contentType: 'text/plain; charset=utf-8',
    format: 'SLACK',
    mimeType: 'text/plain',
    name: null,
    url: url ?? '',
    fileMetadata: {
      type: isThread ? 'THREAD' : 'TIME_RANGE',
      is_thread: isThread,
      channel_id: conversation,
      channel_name: name,
      ...(isThread ? { thread_ts: group.ts } : range),
    },
  };
}

/**
 * Converts a conversation to the contract's record. Front-ends expect private channels to be channels, although Slack
 * calls older ones groups.
 * @param name display name; front-ends search by it, and direct messages have none in Slack
 */
export function presentConversation(json: Answer<SlackConversation>, name: string): Readonly<Record<string, unknown>> {
  const is = (flag: keyof SlackConversation): boolean => json[flag] === true;
  return {
    id: asText(json.id),
    name,
    is_channel: is('is_channel') || (is('is_group') && !is('is_mpim')),
    is_im: is('is_im'),
    is_mpim: is('is_mpim'),
    // Slack sets `is_private` only for channels, although direct messages are private too.
    is_private: is('is_private') || is('is_im') || is('is_mpim'),
    is_shared: is('is_shared'),
    is_archived: is('is_archived'),
    user: asText(json.user),
  };
}
