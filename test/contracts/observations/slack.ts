import { elastic, nango, onyx, type SourceObservations } from './observation.js';

const SUITE = 'test/connectors/slack.test.ts';
const REQUESTS = 'test/connectors/slackRequests.test.ts';

export const slack: SourceObservations = {
  source: 'Slack',
  facts: [
    {
      about: 'OAuth',
      fact: 'The token of a user is in `authed_user`, not at the top of the answer.',
      ...{ seen: nango(4025), date: '2025-05-12' },
      ours: {
        safe: 'Tokens are read from `authed_user`, or from the top of a refresh.',
        in: 'connectors/oauth/tokenRequests.ts',
      },
    },
    {
      about: 'OAuth',
      fact: 'Tokens of apps with rotation expire, and are refreshed at the same address.',
      ...{ seen: nango(6293), date: '2026-06-04' },
      ours: {
        test: ['test/connectors/liveGrant.test.ts', 'a refresh stores the new grant under its claim'],
      },
    },
    {
      about: 'OAuth',
      fact: 'PKCE makes the consent of a confidential app fail.',
      ...{ seen: nango(4640), date: '2025-09-11' },
      ours: { safe: 'Its OAuthSpec has `pkce: false`.', in: 'connectors/slack/index.ts' },
    },
    {
      about: 'OAuth',
      fact: 'Scopes are separated by commas.',
      ...{ seen: nango(3430), date: '2025-02-04' },
      ours: { safe: "Its OAuthSpec has `scopeSeparator: ','`.", in: 'connectors/slack/index.ts' },
    },
    {
      about: 'OAuth',
      fact: 'account_inactive and token_revoked mean that the connection has ended.',
      ...{ seen: onyx(10_694), date: '2026-04-28' },
      ours: { test: [SUITE, 'reports %s as %s'] },
    },
    {
      about: 'limits',
      fact: 'Slack names the end of a rate limit in Retry-After.',
      ...{ seen: nango(3865), date: '2025-04-08' },
      ours: {
        test: [
          'test/connectors/sourceClient.test.ts',
          'delays the retry by Retry-After or by the header of the source',
        ],
      },
    },
    {
      about: 'limits',
      fact: 'Names of deleted users are refused for each of their messages: repeated requests use up the limit.',
      ...{ seen: onyx(10_550), date: '2026-04-24' },
      ours: { test: [SUITE, 'resolves mentioned users and requests each once'] },
    },
    {
      about: 'paging',
      fact: 'The next page is named by response_metadata.next_cursor alone; has_more may be missing.',
      ...{ seen: 'https://github.com/onyx-dot-app/onyx/commit/8fc74a4313', date: '2023-08-15' },
      ours: { test: [SUITE, 'lists conversations of every type that the token may list, page by page'] },
    },
    {
      about: 'paging',
      fact: 'The history is sorted from the newest message to the oldest: a position at the wrong end loses messages.',
      ...{ seen: onyx(5427), date: '2025-09-18' },
      ours: { test: [SUITE, 'lists a window once if it spans several pages, and identically if it is listed alone'] },
    },
    {
      about: 'deletions',
      fact: 'Times with fractions of a second in `oldest` and `latest` returned no messages, which were then deleted.',
      ...{ seen: elastic(3997), date: '2026-05-19' },
      ours: { test: [SUITE, 'lists from the window that contains the start time'] },
    },
    {
      about: 'listing',
      fact: 'Tokens of an organization (Enterprise Grid) must name the workspace in lists.',
      ...{ seen: onyx(11_077), date: '2026-05-14' },
      ours: {
        test: [REQUESTS, 'names the workspace when it lists conversations, which tokens of a whole organization need'],
        fixed: true,
      },
    },
    {
      about: 'listing',
      fact: 'Direct messages have none of the flags of channels: is_private, is_channel, is_group and is_mpim are missing.',
      ...{
        seen: 'https://github.com/slackapi/slack-api-specs/blob/bc08db49625630e3585bf2f1322128ea04f2a7f3/web-api/slack_web_openapi_v2.json',
        date: '2021-09-07',
      },
      ours: {
        test: [SUITE, 'counts direct messages as private, of which Slack says it only for channels'],
        fixed: true,
      },
    },
    {
      about: 'listing',
      fact: 'Archived conversations cannot be joined; connectors that join must exclude them.',
      ...{ seen: 'https://github.com/onyx-dot-app/onyx/commit/dac2fdc163', date: '2023-07-18' },
      ours: {
        safe: 'A user token reads without joining, so archived conversations are listed.',
        in: 'connectors/slack/index.ts',
      },
    },
    {
      about: 'limits',
      fact: 'Methods list team_added_to_org among their errors: the workspace is being moved into an organization.',
      ...{
        seen: 'https://github.com/slackapi/slack-api-specs/blob/bc08db49625630e3585bf2f1322128ea04f2a7f3/web-api/slack_web_openapi_v2.json',
        date: '2021-09-07',
      },
      ours: { test: [SUITE, 'reports %s as %s'], fixed: true },
    },
    {
      about: 'limits',
      fact: 'Slack refuses with status 200 and `ok: false`; a client that reads only the status treats it as success.',
      ...{ seen: elastic(3516), date: '2025-07-14' },
      ours: { test: ['test/connectors/sourceClient.test.ts', 'is detected and retried after its delay'] },
    },
    {
      about: 'limits',
      fact: 'Apps that are distributed outside the Marketplace have one request for history per minute, with 15 messages.',
      ...{
        seen: 'https://docs.slack.dev/changelog/2025/05/29/rate-limit-changes-for-non-marketplace-apps',
        date: '2025-05-29',
      },
      ours: {
        test: [
          'test/long/largeAccounts.test.ts',
          '$name: within the quota, a checkpoint after at most a minute of work, complete after kill -9',
        ],
      },
    },
  ],
};
