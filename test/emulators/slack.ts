/**
 * A stand-in for Slack's Web API on loopback, after its published reference: conversations, history and threads in pages,
 * users; refusals with 200. Consent and tokens are those of oauthProvider.ts, at Slack's own paths.
 */
import type { ServerResponse } from 'node:http';

import { again } from './consentEmulator.js';
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
  /** That of the message that it answers. */
  readonly thread?: string;
  edited?: boolean;
  /** Whatever else Slack would say of it. */
  readonly more?: Record<string, unknown>;
}

export interface EmulatedConversation {
  readonly name?: string;
  readonly type: 'public_channel' | 'private_channel' | 'mpim' | 'im';
  readonly isArchived?: boolean;
  /** Of direct messages: with whom. */
  readonly user?: string;
  readonly messages: EmulatedMessage[];
  /** Whether the connected user is in it; unset: yes. */
  readonly isClosed?: boolean;
}

/** Refuses with 200, or 429 where it is too many. */
type SlackRefused = Refused & { readonly error: string };

/** What `misbehave` is asked with is `method?field=value&…`. */
export interface SlackEmulator extends Emulator<SlackRefused> {
  /** The value of SOURCE_URLS. */
  readonly settings: string;
  readonly oauth: OAuthProvider;
  readonly conversations: Map<string, EmulatedConversation>;
  /** Names by id. */
  readonly users: Map<string, string>;
  /** Methods with what they were asked, in the order asked. */
  readonly asked: string[];
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

const conversationJson = (id: string, { name, type, isArchived = false, user }: EmulatedConversation) => ({
  id,
  ...(name === undefined ? {} : { name }),
  ...(user === undefined ? {} : { user }),
  is_channel: type === 'public_channel',
  is_group: type === 'private_channel',
  is_im: type === 'im',
  is_mpim: type === 'mpim',
  is_private: type !== 'public_channel',
  is_shared: false,
  is_archived: isArchived,
  created: 1_767_225_600,
});

/** @param perPage whatever a caller asks for */
export async function startSlack({
  perPage = 2,
  ...settings
}: { perPage?: number } & Partial<OAuthProviderSettings> = {}): Promise<SlackEmulator> {
  const conversations = new Map<string, EmulatedConversation>();
  const users = new Map<string, string>();
  const asked: string[] = [];
  const oauth = createOAuthProvider({
    name: 'Slack',
    paths: PATHS,
    people: SLACK_PEOPLE,
    scopeParameter: 'user_scope',
    tokensIn: 'authed_user',
    facts: () => ({ team: { id: TEAM, name: 'Harbour' } }),
    // Without token rotation, as most apps are.
    saysExpiry: false,
    refreshes: false,
    refusalStatus: 200,
    expiresIn: 1e9,
    ...settings,
  });

  /** A page of a list, with the cursor of the next one as Slack has them. */
  const send = (response: ServerResponse, fields: URLSearchParams, name: string, all: readonly unknown[]): void => {
    const from = Number(
      Buffer.from(fields.get('cursor') ?? '', 'base64')
        .toString()
        .replace('next:', '') || 0,
    );
    if (!Number.isSafeInteger(from)) return refuse(response, { status: 200, error: 'invalid_cursor' });
    const to = from + Math.min(perPage, Number(fields.get('limit') ?? 100));
    const next = to < all.length ? Buffer.from(`next:${to}`).toString('base64') : '';
    sendJson(response, 200, {
      ok: true,
      [name]: all.slice(from, to),
      has_more: next !== '',
      response_metadata: { next_cursor: next },
    });
  };
  const messageJson = (
    { messages }: EmulatedConversation,
    { ts, text, user, thread, edited, more }: EmulatedMessage,
  ) => {
    const answers = messages.filter((one) => one.thread === ts);
    const inThread = thread ?? (answers.length > 0 ? ts : undefined);
    return {
      type: 'message',
      ts,
      text,
      user: user ?? 'U0ADA',
      ...(inThread === undefined ? {} : { thread_ts: inThread }),
      ...(answers.length === 0 ? {} : { reply_count: answers.length, latest_reply: answers.at(-1)?.ts }),
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
    const may = (type: EmulatedConversation['type'], what: 'read' | 'history'): boolean =>
      scopes.includes(`${SCOPES[type]}:${what}`);
    const no = (error: string): void => refuse(response, { status: 200, error });
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
      if (!scopes.includes('users:read')) return no('missing_scope');
      return name === undefined
        ? no('user_not_found')
        : sendJson(response, 200, {
            ok: true,
            user: { id, name: name.toLowerCase(), profile: { display_name: name } },
          });
    }
    if (method === 'conversations.list') {
      const types = (fields.get('types') ?? 'public_channel').split(',') as EmulatedConversation['type'][];
      if (!types.every((type) => may(type, 'read'))) return no('missing_scope');
      const all = [...conversations].filter(
        ([, one]) =>
          types.includes(one.type) && !(fields.get('exclude_archived') === 'true' && one.isArchived === true),
      );
      return send(
        response,
        fields,
        'channels',
        all.map(([id, one]) => conversationJson(id, one)),
      );
    }
    const conversation = conversations.get(fields.get('channel') ?? '');
    if (!conversation) return no('channel_not_found');
    if (method === 'conversations.info')
      return sendJson(response, 200, {
        ok: true,
        channel: conversationJson(fields.get('channel') ?? '', conversation),
      });
    if (!may(conversation.type, 'history')) return no('missing_scope');
    if (conversation.isClosed === true) return no('not_in_channel');
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
      return send(
        response,
        fields,
        'messages',
        newestFirst.map((message) => messageJson(conversation, message)),
      );
    }
    if (method !== 'conversations.replies') return no('unknown_method');
    const of = fields.get('ts');
    const [first] = messages.filter(({ ts }) => ts === of);
    if (!first) return no('thread_not_found');
    const answers = messages.filter(({ thread }) => thread === of).toSorted((a, b) => Number(a.ts) - Number(b.ts));
    send(
      response,
      fields,
      'messages',
      [first, ...answers].map((message) => messageJson(conversation, message)),
    );
  };

  const isConsent = (call: Call): boolean => Object.values(PATHS).includes(call.url.pathname);
  const emulator = await startEmulator<SlackRefused>({
    admit(call) {
      if (isConsent(call)) return true;
      const isGood = oauth.accessOf(call.request) !== null;
      if (!isGood)
        refuse(call.response, { status: 200, error: settings.rotates === true ? 'token_expired' : 'invalid_auth' });
      return isGood;
    },
    placeOf: (call) => (isConsent(call) ? '' : `${call.path.at(-1)}?${call.body.toString()}`),
    refuse,
    async answer(call) {
      if (await oauth.take(again(call), call.response)) return;
      asked.push(`${call.path.at(-1)}?${call.body.toString()}`);
      const access = oauth.accessOf(call.request);
      answer(call, new URLSearchParams(call.body.toString()), access?.person.id ?? '', access?.scopes ?? []);
    },
  });
  const at = (part: string, path: string) => `SLACK.${part}=${emulator.origin}${path}`;
  return {
    ...emulator,
    // Consent and tokens go well always.
    misbehave: (how) => emulator.misbehave((place) => (place === '' ? null : how(place))),
    mend() {
      emulator.mend();
      asked.length = 0;
    },
    settings: [
      at('api', '/api'),
      at('authorize', PATHS.authorize),
      at('token', PATHS.token),
      at('revoke', '/api/auth.revoke'),
    ].join(','),
    oauth,
    conversations,
    users,
    asked,
  };
}
