/** Slack: the messages of a workspace, by quarter-hour windows and by threads. https://docs.slack.dev/apis/web-api */
import type { LiveReads } from '../../contract/sources/liveReads.js';
import {
  type PageAt,
  withRootsCursor,
  withCursor,
  count,
  shapeOf,
  nullable,
  string,
  type Checked,
} from '../cursors.js';
import { Fault } from '../../contract/failures.js';
import { isConversationId, parseSlackItemId, WINDOW_SECONDS, windowOf } from '../../contract/sources/slackIds.js';
import type { Connector, ItemContent, LiveRead } from '../connector.js';
import type { OAuthGrant } from '../oauthSpec.js';
import type { GrantClient } from '../accountClient.js';
import { addressOf, contentOf, itemOfConversation, itemOfGroup, paragraphOf, presentConversation } from './adapter.js';
import { callApi, classify, refusalIn } from './api.js';
import type { SlackConversation } from './fields.js';
import { messagesAt, messagesIn, PER_PAGE } from './history.js';
import { mentionedIn, type Message } from './message.js';
import { conversationName, nameOfConversation, userName, workspaceUrl } from './names.js';
import { close, groupMessages, openWindow } from './windows.js';
import { bearer } from '../bearer.js';
import { asAnswer, asAnswers, asText } from '../json.js';
import { noSuchItem, requireList } from '../faults.js';

/** Conversation types in the order of listing; a token may lack access to some. */
const TYPES = ['public_channel', 'private_channel', 'mpim', 'im'];

/** Position in the listing of conversations. */
const ROOTS_CURSOR = shapeOf({
  type: count,
  at: nullable(string),
  /** Number of conversation types that the token may not list. */
  refused: count,
});
type RootsCursor = Checked<typeof ROOTS_CURSOR>;

/**
 * Returns the parameter that names the workspace. Slack requires it with the token of an app that is installed in a
 * whole organization, and ignores it with other tokens.
 * https://docs.slack.dev/reference/methods/conversations.list#arguments
 */
const teamOf = ({ credentials: { facts } }: GrantClient): { readonly team_id: string | null } => ({
  team_id: facts['team'] ?? null,
});

/**
 * Returns a page of the conversations of one type. If the token may not list the type, the page is empty and partial,
 * so that conversations which an earlier token could list do not count as deleted.
 */
const listConversations = withRootsCursor(ROOTS_CURSOR, async (client: GrantClient, cursor) => {
  const { type, at, refused } = cursor ?? { type: 0, at: null, refused: 0 };
  const after = (isRefused: boolean): RootsCursor | null =>
    type + 1 < TYPES.length ? { type: type + 1, at: null, refused: refused + (isRefused ? 1 : 0) } : null;
  try {
    const fields = {
      types: TYPES[type] ?? '',
      limit: PER_PAGE,
      exclude_archived: 'false',
      cursor: at,
      ...teamOf(client),
    };
    const { answer, next } = await callApi(client, 'conversations.list', fields);
    const workspace = await workspaceUrl(client);
    const items = await Promise.all(
      requireList('Slack', answer.channels).flatMap((value) => {
        const json = asAnswer<SlackConversation>(value);
        const { id } = json;
        if (typeof id !== 'string' || !isConversationId(id)) return [];
        return conversationName(client, json).then((name) => itemOfConversation(json, { id, name, workspace }));
      }),
    );
    return { items, next: next === null ? after(false) : { type, at: next, refused } };
  } catch (error) {
    const isRefused = error instanceof Fault && error.kind === 'access_denied';
    if (!isRefused || refused + 1 === TYPES.length) throw error;
    return { items: [], next: after(true), isPartial: true };
  }
});

/** Position in the listing of a conversation. */
const HISTORY_CURSOR = shapeOf({ at: string, latest: string, open: nullable(openWindow) });
type HistoryCursor = Checked<typeof HISTORY_CURSOR>;

/** Returns a page of the windows and threads of a conversation, newest first. */
async function listHistory(
  client: GrantClient,
  conversation: string,
  oldest: number | null,
  from: HistoryCursor | null,
): Promise<PageAt<HistoryCursor>> {
  // Always set, because with `oldest` alone Slack's pages would begin at the oldest message.
  const latest = from?.latest ?? `${Math.floor(Date.now() / 1000) + WINDOW_SECONDS}.000000`;
  const range = oldest === null ? {} : { oldest: `${oldest}.000000` };
  const fields = { channel: conversation, limit: PER_PAGE, inclusive: 'true', latest, ...range };
  const { answer, next } = await callApi(client, 'conversations.history', { ...fields, cursor: from?.at ?? null });
  const recentMessages = messagesIn(answer).filter(({ ts }) => oldest === null || Number(ts) >= oldest);
  const { groups: finishedGroups, open } = groupMessages(recentMessages, from?.open ?? null);
  const workspace = await workspaceUrl(client);
  const groups = next === null ? [...finishedGroups, ...close(open)] : finishedGroups;
  return {
    items: groups.map((group) => itemOfGroup(group, conversation, workspace)),
    next: next === null ? null : { at: next, latest, open },
  };
}

/** Returns the item of a window or thread, as a listing would. */
async function itemAt(client: GrantClient, externalId: string): Promise<PageAt<HistoryCursor>> {
  const itemRef = parseSlackItemId(externalId);
  if (itemRef?.kind !== 'window' && itemRef?.kind !== 'thread') throw noSuchItem('Slack');
  const messages = await messagesAt(client, itemRef, null);
  const { groups: finishedGroups, open } = groupMessages(messages.toReversed(), null);
  const workspace = await workspaceUrl(client);
  return {
    items: [...finishedGroups, ...close(open)].map((group) => itemOfGroup(group, itemRef.conversation, workspace)),
    next: null,
  };
}

/** Returns the names of users who wrote the messages or are mentioned in them. */
async function namesIn(client: GrantClient, messages: readonly Message[]): Promise<Map<string, string>> {
  const ids = new Set(messages.flatMap(({ user, text }) => [...(user === null ? [] : [user]), ...mentionedIn(text)]));
  const nameById = await Promise.all([...ids].map(async (id) => [id, await userName(client, id)] as const));
  return new Map(nameById);
}

/** Returns the conversations of the account, fetched from Slack on each call. */
const conversations: LiveRead<OAuthGrant, LiveReads['conversations']> = async (client, query) => {
  const { answer, next } = await callApi(client, 'conversations.list', {
    types: query.types,
    ...teamOf(client),
    exclude_archived: String(query.excludeArchived),
    limit: PER_PAGE,
    cursor: query.cursor,
  });
  const results = await Promise.all(
    asAnswers<SlackConversation>(requireList('Slack', answer.channels))
      .filter(({ id }) => typeof id === 'string')
      .map(async (json) => presentConversation(json, await conversationName(client, json))),
  );
  return { results, next_cursor: next };
};

export const slack: Connector<OAuthGrant> = {
  cache: { maxEntries: 50_000 },
  about: {
    listed: 'conversations, quarter-hours (15 minutes of messages), threads',
    ingested: 'each quarter-hour and each thread, with the authors; shared files are named, not read',
    unchangedBy:
      'a digest of the messages of a quarter-hour; for threads without a reply in the last 14 days the first message, number of replies and time of the last one; newer threads are read again',
    deletions: 'a quarter-hour is read again when a message in it is deleted',
    limits:
      'conversations that the user can see; the limit per OAuth client applies to each workspace separately; one request reads up to 200 messages of neighbouring quarter-hours, and each thread takes one; Slack allows apps that are distributed outside its Marketplace one such request per minute with 15 messages; an edited reply in an older thread is not noticed',
  },
  oauth: {
    // User scopes: a user has access to more than an app, which must be invited to each channel.
    scopes: [
      ...['channels:read', 'channels:history', 'groups:read', 'groups:history', 'im:read', 'im:history'],
      ...['mpim:read', 'mpim:history', 'users:read'],
    ],
    scopeSeparator: ',',
    scopeParameter: 'user_scope',
    // Enabling PKCE permanently turns a Slack app into a public client.
    pkce: false,
    clientAuth: 'post',
    bodyFormat: 'form',
    authorizeParameters: {},
    // Applies only to apps with token rotation.
    rotates: true,
    tokensIn: 'authed_user',
    tokenResponseFields: { team: 'team.id' },
    revokes: 'bearer',
  },
  // https://docs.slack.dev/apis/web-api/rate-limits: per app and workspace, for all users who have consented.
  sharedLimit: { requestsAtOnce: 8, groupOf: ({ facts }) => facts['team'] ?? null, appliesTo: () => true },
  headers: bearer,
  classify,
  refusalIn,

  async identify(client) {
    const { answer } = await callApi(client, 'auth.test', {});
    const [team, user] = [asText(answer.team_id), asText(answer.user_id)];
    if (team === null || user === null) throw new Fault('server_error', 'Slack returned no account. Try again.');
    const facts = { team_name: asText(answer.team), user_name: asText(answer.user), url: asText(answer.url) };
    const withoutNulls = Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== null));
    return { account: `${team}:${user}`, metadata: { team_id: team, user_id: user, ...withoutNulls } };
  },

  listRoots: listConversations,

  listDescendants: withCursor(HISTORY_CURSOR, async (client: GrantClient, externalId: string, cursor) => {
    const itemRef = parseSlackItemId(externalId);
    if (itemRef === null) throw noSuchItem('Slack');
    if (itemRef.kind === 'window' || itemRef.kind === 'thread') return itemAt(client, externalId);
    const { conversation } = itemRef;
    if (itemRef.kind === 'since') return listHistory(client, conversation, windowOf(itemRef.after), cursor);
    const page = await listHistory(client, conversation, null, cursor);
    if (cursor !== null) return page;
    const { answer } = await callApi(client, 'conversations.info', { channel: conversation });
    const json = asAnswer<SlackConversation>(answer.channel);
    const name = await conversationName(client, json);
    const workspace = await workspaceUrl(client);
    return { ...page, items: [itemOfConversation(json, { id: conversation, name, workspace }), ...page.items] };
  }),

  async open(client, externalId, { version }): Promise<ItemContent> {
    const itemRef = parseSlackItemId(externalId);
    if (itemRef === null) throw noSuchItem('Slack');
    const { conversation } = itemRef;
    const name = await nameOfConversation(client, conversation);
    if (itemRef.kind !== 'window' && itemRef.kind !== 'thread')
      throw new Fault(
        'unsupported_type',
        'A Slack conversation has no text of its own: sync the windows and threads in it.',
      );
    const messages = await messagesAt(client, itemRef, version);
    const names = await namesIn(client, messages);
    const paragraphs = messages.map((message) => paragraphOf(message, (id) => names.get(id) ?? id));
    const url = addressOf(await workspaceUrl(client), conversation, messages[0]?.ts ?? null);
    return contentOf(itemRef, paragraphs, { conversation, name, url });
  },

  reads: { conversations },
};
