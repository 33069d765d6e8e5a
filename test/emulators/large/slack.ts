/**
 * A Slack channel with a message in each of thousands of quarter-hours. https://docs.slack.dev/apis/web-api/rate-limits
 */
import { WINDOW_SECONDS } from '../../../contract/sources/slackIds.js';
import { type Call, type Refused, sendJson } from '../emulator.js';
import { conversationJson, userJson } from '../slack.js';
import { type LargeAccount, range, startLarge } from './largeAccount.js';
import { type Limit, MINUTE_MS, retryAfter } from './quota.js';

const TIERS = 'https://docs.slack.dev/apis/web-api/rate-limits';
/** Page about the limits of apps that are not distributed by the Slack Marketplace. */
const NON_MARKETPLACE = 'https://docs.slack.dev/changelog/2025/05/29/rate-limit-changes-for-non-marketplace-apps';
const limit = (method: string, perMinute: number, page = TIERS): Limit => ({
  name: method,
  ...{ max: perMinute, perMs: MINUTE_MS, page },
  unitsOf: ({ path }) => (path.at(-1) === method ? 1 : 0),
});
const LIMITS: readonly Limit[] = [
  limit('conversations.history', 1, NON_MARKETPLACE),
  limit('conversations.list', 20),
  limit('conversations.info', 50),
  limit('users.info', 100),
  limit('auth.test', 100),
];
const MAX_MESSAGES = 15;
const CONVERSATION = 'C0LARGE';
const FIRST = Date.parse('2025-01-01T00:00:00Z') / 1000;

const channel = conversationJson(CONVERSATION, { name: 'harbour', type: 'public_channel', messages: [] });
const messageOf = (number: number) => ({
  ...{ type: 'message', ts: `${FIRST + number * WINDOW_SECONDS}.000100` },
  ...{ text: `Message ${number}.`, user: 'U0ADA' },
});

/** @param windows number of quarter-hours */
export const startLargeSlack = (windows: number): Promise<LargeAccount> =>
  startLarge<Refused & { readonly error: string }>({
    source: 'SLACK',
    files: windows,
    facts: { team: 'T0HARBOUR' },
    limits: LIMITS,
    path: '/api',
    refuse: (response, { status, error, headers = {} }) => sendJson(response, status, { ok: false, error }, headers),
    refusalOf: (_limit, waitMs) => ({ status: 429, error: 'ratelimited', headers: retryAfter(waitMs) }),
    answer({ path, body, response }: Call) {
      const fields = new URLSearchParams(body.toString());
      const send = (answer: object): void => sendJson(response, 200, { ok: true, ...answer });
      const method = path.at(-1);
      if (method === 'auth.test')
        return send({
          url: 'https://harbour.slack.com/',
          team_id: 'T0HARBOUR',
          user_id: 'U0ADA',
          team: 'H',
          user: 'ada',
        });
      if (method === 'users.info') return send({ user: userJson('U0ADA', 'Ada') });
      if (method === 'conversations.info') return send({ channel });
      if (method === 'conversations.list')
        return send({
          channels: fields.get('types') === 'public_channel' ? [channel] : [],
          response_metadata: { next_cursor: '' },
        });
      if (method !== 'conversations.history') return sendJson(response, 200, { ok: false, error: 'unknown_method' });
      // The newest message that the request allows.
      const newest = Math.min(windows - 1, Math.floor((Number(fields.get('latest')) - FIRST) / WINDOW_SECONDS));
      const from = fields.get('cursor') === null ? newest : Number(fields.get('cursor'));
      const count = Math.min(MAX_MESSAGES, Number(fields.get('limit') ?? MAX_MESSAGES), from + 1);
      const next = from - count >= 0 ? String(from - count) : '';
      send({
        messages: range(0, count).map((step) => messageOf(from - step)),
        ...{ has_more: next !== '', pin_count: 0, response_metadata: { next_cursor: next } },
      });
    },
  });
