/** Groups the messages of a conversation, newest first, into time windows and threads. */
import { shapeOf, number, string, type Checked } from '../cursors.js';
import { createHash } from 'node:crypto';

import { windowOf } from '../../contract/sources/slackIds.js';
import type { Message } from './message.js';

/** A window whose older messages may be on the next page. */
export const openWindow = shapeOf({
  start: number,
  /** Timestamp of its oldest message so far. */
  ts: string,
  /** Digest of all its messages so far. */
  digest: string,
});
export type OpenWindow = Checked<typeof openWindow>;

export type Group =
  | { readonly kind: 'window'; readonly window: OpenWindow }
  | { readonly kind: 'thread'; readonly first: Message };

/** Returns a digest that changes if a message is added, edited or deleted. */
function extendDigest(digest: string, { ts, user, signedAs, text, files, edited }: Message): string {
  return createHash('sha256')
    .update(JSON.stringify([digest, ts, user, signedAs, text, files, edited]))
    .digest('base64url')
    .slice(0, 22);
}

/**
 * Groups a page of messages.
 * @param messages newest first
 * @param open the unfinished window of the previous page
 * @returns the finished windows and the threads, and the unfinished window; close() ends it after the last page
 */
export function groupMessages(
  messages: readonly Message[],
  open: OpenWindow | null,
): { readonly groups: readonly Group[]; readonly open: OpenWindow | null } {
  const groups: Group[] = [];
  let current = open;
  for (const message of messages) {
    if (message.isReply) continue;
    if (message.beginsThread) {
      groups.push({ kind: 'thread', first: message });
      continue;
    }
    const start = windowOf(Number(message.ts));
    if (current !== null && current.start !== start) groups.push(...close(current));
    current = { start, ts: message.ts, digest: extendDigest(current?.start === start ? current.digest : '', message) };
  }
  return { groups, open: current };
}

/** Returns the unfinished window as a group. */
export const close = (open: OpenWindow | null): readonly Group[] =>
  open === null ? [] : [{ kind: 'window', window: open }];
