/** What Slack's ids are called. Asked for again and again, so kept for minutes, by the token that may know it. */
import { createHash } from 'node:crypto';

import { Fault } from '../../contract/failures.js';
import type { GrantClient } from '../accountClient.js';
import { ask } from './api.js';
import { asObject, asText, type Json } from '../json.js';

const MAX_NAME = 200;

async function remember({ credentials, cache }: GrantClient, id: string, find: () => Promise<string>): Promise<string> {
  const key = createHash('sha256').update(`${credentials.accessToken} ${id}`).digest('base64');
  return cache.getOrFind(key, async () => (await find()).slice(0, MAX_NAME));
}

/** What a user is called; its id where that is not told. @throws Fault where Slack can't be asked now */
export const userName = (client: GrantClient, id: string): Promise<string> =>
  remember(client, id, async () => {
    try {
      const user = asObject((await ask(client, 'users.info', { user: id })).answer['user']);
      const profile = asObject(user['profile']);
      return (
        asText(profile['display_name']) ??
        asText(profile['real_name']) ??
        asText(user['real_name']) ??
        asText(user['name']) ??
        id
      );
    } catch (error) {
      if (error instanceof Fault && (error.kind === 'not_found' || error.kind === 'access_denied')) return id;
      throw error;
    }
  });

/** What people call a conversation: `#name` of a channel, the other one's name of a direct message. */
export async function conversationName(client: GrantClient, conversation: Json): Promise<string> {
  const { id, name, user } = conversation;
  if (conversation['is_im'] === true && typeof user === 'string') return userName(client, user);
  return (asText(name) ?? asText(id) ?? '').slice(0, MAX_NAME);
}

/** The same of one that is known by its id alone. */
export const nameOfConversation = (client: GrantClient, id: string): Promise<string> =>
  remember(client, id, async () => {
    const { answer } = await ask(client, 'conversations.info', { channel: id });
    return conversationName(client, asObject(answer['channel']));
  });

/** The address of the workspace, with its slash; '' where Slack tells none. */
export const workspaceUrl = (client: GrantClient): Promise<string> =>
  remember(client, 'workspace', async () => {
    const url = asText((await ask(client, 'auth.test', {})).answer['url']) ?? '';
    return /^https?:\/\/[^\s"<>]+\/$/.test(url) ? url : '';
  });
