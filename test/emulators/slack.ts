/**
 * Emulates Slack's Web API on loopback, by its published reference: paged conversations, history and threads, users,
 * and errors with status 200. Consent and tokens come from oauthProvider.ts, at Slack's paths.
 */
import type { ServerResponse } from 'node:http';

import { replayable } from './consentEmulator.js';
import { type Call, type Emulator, type Refused, sendJson, startEmulator } from './emulator.js';
import { createOAuthProvider, type OAuthProvider, type OAuthProviderSettings } from './oauthProvider.js';

export const TEAM = 'T0HARBOUR';
export const SLACK_PEOPLE = [
  { id: 'U0ADA', label: 'Ada' },
  { id: 'U0BEN', label: 'Ben' },
];

export interface EmulatedMessage {
  readonly ts: string;
  text: string;
  readonly user?: string;
  /** `ts` of the message that it replies to. */
  readonly thread?: string;
  edited?: boolean;
  /** Further members of the message in Slack's API. */
  readonly more?: Record<string, unknown>;
}

export interface EmulatedConversation {
  readonly name?: string;
  readonly type: 'public_channel' | 'private_channel' | 'mpim' | 'im';
  readonly isArchived?: boolean;
  /** Only for direct messages: the other user. */
  readonly user?: string;
  readonly messages: EmulatedMessage[];
  /** Whether the connected user is not a member, and therefore cannot read the messages. */
  readonly isClosed?: boolean;
}

/** Refusals have status 200, or 429 for rate limits. */
type SlackRefused = Refused & { readonly error: string };

/** The function given to `injectFault` receives `method?field=value&…`. */
export interface SlackEmulator extends Emulator<SlackRefused> {
  /** The value of SOURCE_URLS. */
  readonly settings: string;
  readonly oauth: OAuthProvider;
  readonly conversations: Map<string, EmulatedConversation>;
  /** Names by user id. */
  readonly users: Map<string, string>;
  /** Method and fields of each request, in order. */
  readonly calls: string[];
}

const PATHS = { authorize: '/oauth/v2/authorize', token: '/api/oauth.v2.access' };
const SCOPES: Readonly<Record<EmulatedConversation['type'], string>> = {
  public_channel: 'channels',
  private_channel: 'groups',
  mpim: 'mpim',
  im: 'im',
};

const refuse = (response: ServerResponse, { status, error, headers = {} }: SlackRefused): void =>
  sendJson(response, status, { ok: false, error }, headers);

const CREATED = 1_767_225_600;
/** An unset purpose or topic of a channel. */
const UNSET = { creator: '', last_set: 0, value: '' };

/** Returns a conversation in Slack's format. A direct message has neither a name nor the flags of channels. */
export const conversationJson = (id: string, { name = '', type, isArchived = false, user }: EmulatedConversation) =>
  type === 'im'
    ? { id, created: CREATED, is_archived: isArchived, is_im: true, is_org_shared: false, priority: 0, user }
    : {
        ...{ id, name, name_normalized: name, created: CREATED, creator: 'U0ADA', purpose: UNSET, topic: UNSET },
        ...{ is_channel: type === 'public_channel', is_group: type !== 'public_channel', is_im: false },
        ...{ is_mpim: type === 'mpim', is_private: type !== 'public_channel', is_general: false, is_member: true },
        ...{ is_shared: false, is_org_shared: false, is_ext_shared: false, is_archived: isArchived },
      };

/** Returns a user in Slack's format. */
export const userJson = (id: string, name: string) => ({
  ...{
    id,
    team_id: TEAM,
    name: name.toLowerCase(),
    deleted: false,
    is_bot: false,
    is_app_user: false,
    updated: CREATED,
  },
  profile: {
    ...{ avatar_hash: 'g1', display_name: name, display_name_normalized: name },
    ...{ real_name: name, real_name_normalized: name },
  },
});

/** Starts the emulator. @param perPage maximum page size, even if a request asks for more */
export async function startSlack({
  perPage = 2,
  ...settings
}: { perPage?: number } & Partial<OAuthProviderSettings> = {}): Promise<SlackEmulator> {
  const conversations = new Map<string, EmulatedConversation>();
  const users = new Map<string, string>();
  const calls: string[] = [];
  const oauth = createOAuthProvider({
    name: 'Slack',
    paths: PATHS,
    people: SLACK_PEOPLE,
    scopeParameter: 'user_scope',
    tokenMember: 'authed_user',
    facts: () => ({ team: { id: TEAM, name: 'Harbour' } }),
    // Most apps do not use token rotation.
    sendsExpiry: false,
    refreshes: false,
    refusalStatus: 200,
    expiresIn: 1e9,
    ...settings,
  });

  /**
   * Sends a page of a list with the cursor of the next one, in Slack's format. After the last page the cursor of
   * conversations is empty, and that of messages is absent.
   */
  const sendPage = (
    response: ServerResponse,
    fields: URLSearchParams,
    name: 'channels' | 'messages',
    all: readonly unknown[],
    more: Readonly<Record<string, unknown>> = {},
  ): void => {
    const from = Number(
      Buffer.from(fields.get('cursor') ?? '', 'base64')
        .toString()
        .replace('next:', '') || 0,
    );
    if (!Number.isSafeInteger(from)) return refuse(response, { status: 200, error: 'invalid_cursor' });
    const to = from + Math.min(perPage, Number(fields.get('limit') ?? 100));
    const next = to < all.length ? Buffer.from(`next:${to}`).toString('base64') : '';
    const isMessageList = name === 'messages';
    sendJson(response, 200, {
      ok: true,
      [name]: all.slice(from, to),
      ...(isMessageList ? { has_more: next !== '', ...more } : {}),
      ...(isMessageList && next === '' ? {} : { response_metadata: { next_cursor: next } }),
    });
  };
  const messageJson = (
    { messages }: EmulatedConversation,
    { ts, text, user, thread, edited, more }: EmulatedMessage,
  ) => {
    const replies = messages.filter((message) => message.thread === ts);
    const inThread = thread ?? (replies.length > 0 ? ts : undefined);
    return {
      type: 'message',
      ts,
      text,
      user: user ?? 'U0ADA',
      ...(inThread === undefined ? {} : { thread_ts: inThread }),
      ...(replies.length === 0 ? {} : { reply_count: replies.length, latest_reply: replies.at(-1)?.ts }),
      ...(edited === true ? { edited: { user: 'U0ADA', ts: '1800000000.000000' } } : {}),
      ...more,
    };
  };

  const answer = (
    { response, path }: Call,
    fields: URLSearchParams,
    person: string,
    scopes: readonly string[],
  ): void => {
    const method = path.at(-1) ?? '';
    const hasScope = (type: EmulatedConversation['type'], access: 'read' | 'history'): boolean =>
      scopes.includes(`${SCOPES[type]}:${access}`);
    const refuseWith = (error: string): void => refuse(response, { status: 200, error });
    if (method === 'auth.revoke') {
      oauth.revoke(person);
      return sendJson(response, 200, { ok: true, revoked: true });
    }
    if (method === 'auth.test')
      return sendJson(response, 200, {
        ok: true,
        url: 'https://harbour.slack.com/',
        team: 'Harbour',
        team_id: TEAM,
        user: users.get(person) ?? person,
        user_id: person,
      });
    if (method === 'users.info') {
      const id = fields.get('user') ?? '';
      const name = users.get(id);
      if (!scopes.includes('users:read')) return refuseWith('missing_scope');
      return name === undefined
        ? refuseWith('user_not_found')
        : sendJson(response, 200, {
            ok: true,
            user: userJson(id, name),
          });
    }
    if (method === 'conversations.list') {
      const types = (fields.get('types') ?? 'public_channel').split(',') as EmulatedConversation['type'][];
      if (!types.every((type) => hasScope(type, 'read'))) return refuseWith('missing_scope');
      const all = [...conversations].filter(
        ([, conversation]) =>
          types.includes(conversation.type) &&
          !(fields.get('exclude_archived') === 'true' && conversation.isArchived === true),
      );
      return sendPage(
        response,
        fields,
        'channels',
        all.map(([id, conversation]) => conversationJson(id, conversation)),
      );
    }
    const conversation = conversations.get(fields.get('channel') ?? '');
    if (!conversation) return refuseWith('channel_not_found');
    if (method === 'conversations.info')
      return sendJson(response, 200, {
        ok: true,
        channel: conversationJson(fields.get('channel') ?? '', conversation),
      });
    if (!hasScope(conversation.type, 'history')) return refuseWith('missing_scope');
    if (conversation.isClosed === true) return refuseWith('not_in_channel');
    const { messages } = conversation;
    if (method === 'conversations.history') {
      const [oldest, latest] = [Number(fields.get('oldest') ?? 0), Number(fields.get('latest') ?? 1e11)];
      const isWithin =
        fields.get('inclusive') === 'true'
          ? (at: number) => oldest <= at && at <= latest
          : (at: number) => oldest < at && at < latest;
      const found = messages.filter(
        ({ ts, thread, more }) =>
          isWithin(Number(ts)) && (thread === undefined || more?.['subtype'] === 'thread_broadcast'),
      );
      const newestFirst = found.toSorted((a, b) => Number(b.ts) - Number(a.ts));
      return sendPage(
        response,
        fields,
        'messages',
        newestFirst.map((message) => messageJson(conversation, message)),
        { pin_count: 0, channel_actions_ts: null, channel_actions_count: 0 },
      );
    }
    if (method !== 'conversations.replies') return refuseWith('unknown_method');
    const parentTs = fields.get('ts');
    const [first] = messages.filter(({ ts }) => ts === parentTs);
    if (!first) return refuseWith('thread_not_found');
    const replies = messages
      .filter(({ thread }) => thread === parentTs)
      .toSorted((a, b) => Number(a.ts) - Number(b.ts));
    sendPage(
      response,
      fields,
      'messages',
      [first, ...replies].map((message) => messageJson(conversation, message)),
    );
  };

  const isConsent = (call: Call): boolean => Object.values(PATHS).includes(call.url.pathname);
  const emulator = await startEmulator<SlackRefused>({
    admit(call) {
      if (isConsent(call)) return true;
      const isValid = oauth.accessOf(call.request) !== null;
      if (!isValid)
        refuse(call.response, { status: 200, error: settings.rotates === true ? 'token_expired' : 'invalid_auth' });
      return isValid;
    },
    faultTargetOf: (call) => (isConsent(call) ? '' : `${call.path.at(-1)}?${call.body.toString()}`),
    refuse,
    async answer(call) {
      if (await oauth.take(replayable(call), call.response)) return;
      calls.push(`${call.path.at(-1)}?${call.body.toString()}`);
      const access = oauth.accessOf(call.request);
      answer(call, new URLSearchParams(call.body.toString()), access?.person.id ?? '', access?.scopes ?? []);
    },
  });
  const sourceUrl = (part: string, path: string) => `SLACK.${part}=${emulator.origin}${path}`;
  return {
    ...emulator,
    // Faults are not injected into requests for consent and tokens.
    injectFault: (how) => emulator.injectFault((place) => (place === '' ? null : how(place))),
    reset() {
      emulator.reset();
      calls.length = 0;
    },
    settings: [
      sourceUrl('api', '/api'),
      sourceUrl('authorize', PATHS.authorize),
      sourceUrl('token', PATHS.token),
      sourceUrl('revoke', '/api/auth.revoke'),
    ].join(','),
    oauth,
    conversations,
    users,
    calls,
  };
}
