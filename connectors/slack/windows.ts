/** Cuts a conversation, as it is listed from its newest message on, into windows of time and threads. */
import { shapeOf, number, string, type Checked } from '../cursors.js';
import { createHash } from 'node:crypto';

import { windowOf } from '../../contract/sources/slackIds.js';
import type { Message } from './message.js';

/** A window whose older messages may still come. */
export const openWindow = shapeOf({
  start: number,
  /** That of its oldest message so far. */
  ts: string,
  /** Of all of its messages so far. */
  digest: string,
});
export type OpenWindow = Checked<typeof openWindow>;

export type Cut =
  | { readonly kind: 'window'; readonly window: OpenWindow }
  | { readonly kind: 'thread'; readonly first: Message };

/** Another one whenever a message is added, changed or taken away. */
function fold(digest: string, { ts, user, signedAs, text, files, edited }: Message): string {
  return createHash('sha256')
    .update(JSON.stringify([digest, ts, user, signedAs, text, files, edited]))
    .digest('base64url')
    .slice(0, 22);
}

/**
 * @param messages a page of them, newest first
 * @param open what the page before left open
 * @returns what is whole by now, and what is not; after the last page, close() ends that
 */
export function cutMessages(
  messages: readonly Message[],
  open: OpenWindow | null,
): { readonly cuts: readonly Cut[]; readonly open: OpenWindow | null } {
  const cuts: Cut[] = [];
  let now = open;
  for (const message of messages) {
    if (message.isAnswer) continue;
    if (message.beginsThread) {
      cuts.push({ kind: 'thread', first: message });
      continue;
    }
    const start = windowOf(Number(message.ts));
    if (now !== null && now.start !== start) cuts.push(...close(now));
    now = { start, ts: message.ts, digest: fold(now?.start === start ? now.digest : '', message) };
  }
  return { cuts, open: now };
}

export const close = (open: OpenWindow | null): readonly Cut[] =>
  open === null ? [] : [{ kind: 'window', window: open }];
