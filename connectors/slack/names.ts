/** Names for Slack's ids, cached for minutes per token, because messages need them often. */
import { createHash } from 'node:crypto';

import { Fault } from '../../contract/failures.js';
import type { GrantClient } from '../accountClient.js';
import { callApi } from './api.js';
import { type Answer, asAnswer, asText } from '../json.js';
import type { SlackConversation, SlackProfile, SlackUser } from './fields.js';

const MAX_NAME = 200;

async function findCached(
  { credentials, cache }: GrantClient,
  id: string,
  find: () => Promise<string>,
): Promise<string> {
  const key = createHash('sha256').update(`${credentials.accessToken} ${id}`).digest('base64');
  return cache.getOrFind(key, async () => (await find()).slice(0, MAX_NAME));
}

/** Returns a user's name; the id if the name is unavailable. @throws Fault if Slack is unavailable */
export const userName = (client: GrantClient, id: string): Promise<string> =>
  findCached(client, id, async () => {
    try {
      const user = asAnswer<SlackUser>((await callApi(client, 'users.info', { user: id })).answer.user);
      const profile = asAnswer<SlackProfile>(user.profile);
      return (
        asText(profile.display_name) ?? asText(profile.real_name) ?? asText(user.real_name) ?? asText(user.name) ?? id
      );
    } catch (error) {
      if (error instanceof Fault && (error.kind === 'not_found' || error.kind === 'access_denied')) return id;
      throw error;
    }
  });

/** Returns a conversation's display name: Slack's name, without #, or the other user's name for a direct message. */
export async function conversationName(client: GrantClient, conversation: Answer<SlackConversation>): Promise<string> {
  const { id, name, user } = conversation;
  if (conversation.is_im === true && typeof user === 'string') return userName(client, user);
  return (asText(name) ?? asText(id) ?? '').slice(0, MAX_NAME);
}

/** Returns the display name of a conversation by its id. */
export const nameOfConversation = (client: GrantClient, id: string): Promise<string> =>
  findCached(client, id, async () => {
    const { answer } = await callApi(client, 'conversations.info', { channel: id });
    return conversationName(client, asAnswer<SlackConversation>(answer.channel));
  });

/** Returns the URL of the workspace with a trailing slash; '' if Slack returns none. */
export const workspaceUrl = (client: GrantClient): Promise<string> =>
  findCached(client, 'workspace', async () => {
    const url = asText((await callApi(client, 'auth.test', {})).answer.url) ?? '';
    return /^https?:\/\/[^\s"<>]+\/$/.test(url) ? url : '';
  });
