import { elastic, nango, onyx, type SourceObservations } from './observation.js';

const SUITE = 'test/connectors/slack.test.ts';
const REQUESTS = 'test/connectors/slackRequests.test.ts';

export const slack: SourceObservations = {
  source: 'Slack',
  observations: [
    {
      aspect: 'OAuth',
      statement: 'The token of a user is in `authed_user`, not at the top of the answer.',
      ...{ link: nango(4025), date: '2025-05-12' },
      evidence: {
        reason: 'Tokens are read from `authed_user`, or from the top of a refresh.',
        file: 'connectors/oauth/tokenRequests.ts',
      },
    },
    {
      aspect: 'OAuth',
      statement: 'With token rotation, tokens expire. oauth.v2.access, which exchanges the code, also refreshes them.',
      ...{ link: nango(6293), date: '2026-06-04' },
      evidence: {
        test: ['test/connectors/liveGrant.test.ts', 'a refresh stores the new grant under its claim'],
      },
    },
    {
      aspect: 'OAuth',
      statement: 'PKCE makes the consent of a confidential app fail.',
      ...{ link: nango(4640), date: '2025-09-11' },
      evidence: { reason: 'Its OAuthSpec has `pkce: false`.', file: 'connectors/slack/index.ts' },
    },
    {
      aspect: 'OAuth',
      statement: 'Scopes are separated by commas.',
      ...{ link: nango(3430), date: '2025-02-04' },
      evidence: { reason: "Its OAuthSpec has `scopeSeparator: ','`.", file: 'connectors/slack/index.ts' },
    },
    {
      aspect: 'OAuth',
      statement: 'account_inactive and token_revoked mean that the connection has ended.',
      ...{ link: onyx(10_694), date: '2026-04-28' },
      evidence: { test: [SUITE, 'reports %s as %s'] },
    },
    {
      aspect: 'limits',
      statement: 'Slack states the wait of a rate limit in Retry-After.',
      ...{ link: nango(3865), date: '2025-04-08' },
      evidence: {
        test: [
          'test/connectors/sourceClient.test.ts',
          'delays the retry by Retry-After or by the header of the source',
        ],
      },
    },
    {
      aspect: 'limits',
      statement: 'Names of deleted users are refused for each of their messages: repeated requests use up the limit.',
      ...{ link: onyx(10_550), date: '2026-04-24' },
      evidence: { test: [SUITE, 'resolves mentioned users and requests each once'] },
    },
    {
      aspect: 'paging',
      statement: 'The next page is named by response_metadata.next_cursor alone; has_more may be missing.',
      ...{ link: 'https://github.com/onyx-dot-app/onyx/commit/8fc74a4313', date: '2023-08-15' },
      evidence: { test: [SUITE, 'lists conversations of every type that the token may list, page by page'] },
    },
    {
      aspect: 'paging',
      statement:
        'The history is sorted from the newest message to the oldest: a position at the wrong end loses messages.',
      ...{ link: onyx(5427), date: '2025-09-18' },
      evidence: {
        test: [SUITE, 'lists a window once if it spans several pages, and identically if it is listed alone'],
      },
    },
    {
      aspect: 'deletions',
      statement:
        'With fractions of a second in `oldest` and `latest`, no messages were found; a client deleted its copies.',
      ...{ link: elastic(3997), date: '2026-05-19' },
      evidence: { test: [SUITE, 'lists from the window that contains the start time'] },
    },
    {
      aspect: 'listing',
      statement: 'Tokens of an organization (Enterprise Grid) must name the workspace in lists.',
      ...{ link: onyx(11_077), date: '2026-05-14' },
      evidence: {
        test: [REQUESTS, 'names the workspace when it lists conversations, which tokens of a whole organization need'],
        fixed: true,
      },
    },
    {
      aspect: 'listing',
      statement:
        'Direct messages have none of the flags of channels: is_private, is_channel, is_group and is_mpim are missing.',
      ...{
        link: 'https://github.com/slackapi/slack-api-specs/blob/bc08db49625630e3585bf2f1322128ea04f2a7f3/web-api/slack_web_openapi_v2.json',
        date: '2021-09-07',
      },
      evidence: {
        test: [SUITE, 'counts direct messages as private, although Slack marks only channels as private'],
        fixed: true,
      },
    },
    {
      aspect: 'listing',
      statement: 'Archived conversations cannot be joined; connectors that join must exclude them.',
      ...{ link: 'https://github.com/onyx-dot-app/onyx/commit/dac2fdc163', date: '2023-07-18' },
      evidence: {
        reason: 'A user token reads without joining, so archived conversations are listed.',
        file: 'connectors/slack/index.ts',
      },
    },
    {
      aspect: 'limits',
      statement:
        'Methods list team_added_to_org among their errors: the workspace is being moved into an organization.',
      ...{
        link: 'https://github.com/slackapi/slack-api-specs/blob/bc08db49625630e3585bf2f1322128ea04f2a7f3/web-api/slack_web_openapi_v2.json',
        date: '2021-09-07',
      },
      evidence: { test: [SUITE, 'reports %s as %s'], fixed: true },
    },
    {
      aspect: 'limits',
      statement:
        'Slack refuses with status 200 and `ok: false`; a client that reads only the status treats it as success.',
      ...{ link: elastic(3516), date: '2025-07-14' },
      evidence: {
        test: ['test/connectors/sourceClient.test.ts', 'for a rate limit is detected and retried after its delay'],
      },
    },
    {
      aspect: 'limits',
      statement:
        'Apps that are distributed outside the Marketplace have one request for history per minute, with 15 messages.',
      ...{
        link: 'https://docs.slack.dev/changelog/2025/05/29/rate-limit-changes-for-non-marketplace-apps',
        date: '2025-05-29',
      },
      evidence: {
        test: [
          'test/long/largeAccounts.test.ts',
          '$name: stays within the quota, loses at most a minute of work by a kill, and syncs everything',
        ],
      },
    },
  ],
};
