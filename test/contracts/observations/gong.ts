import { onyx, type SourceObservations } from './observation.js';

const SUITE = 'test/connectors/gong.test.ts';

export const gong: SourceObservations = {
  source: 'Gong',
  observations: [
    {
      aspect: 'limits',
      statement:
        'A company has 3 requests per second and 10,000 per day; above these Gong answers 429 with Retry-After.',
      ...{ link: 'https://help.gong.io/apidocs/introduction-2', date: '2026-11' },
      evidence: {
        test: [
          'test/long/largeAccounts.test.ts',
          '$name: stays within the quota, loses at most a minute of work by a kill, and syncs everything',
        ],
      },
    },
    {
      aspect: 'limits',
      statement: 'Two requests per call use up the daily quota: a first sync of 5,000 calls fails.',
      ...{ link: 'https://github.com/airbytehq/airbyte/issues/78480', date: '2026-05-28' },
      evidence: {
        test: [SUITE, 'share their requests, so that the daily quota suffices for a first sync'],
        fixed: true,
      },
    },
    {
      aspect: 'limits',
      statement: 'A search for transcripts accepts up to 100 ids, and returns its results on pages.',
      ...{ link: 'https://github.com/airbytehq/airbyte/pull/82260', date: '2026-07-17' },
      evidence: {
        reason: 'A search has at most 20 ids, and its pages are read to the end.',
        file: 'connectors/gong/readCalls.ts',
      },
    },
    {
      aspect: 'limits',
      statement: 'Requests sent as fast as possible are refused repeatedly; connectors have to spread them.',
      ...{ link: onyx(8873), date: '2026-02-27' },
      evidence: {
        test: [
          'test/connectors/rateLimiter.test.ts',
          'spreads the requests of an account for ten minutes after a refusal, and does not delay them otherwise',
        ],
        fixed: true,
      },
    },
    {
      aspect: 'paging',
      statement: 'Cursors contain the time at which they expire.',
      ...{ link: 'https://visioneers.gong.io/developers-79/gong-api-pagination-limit-1036', date: '2024-02' },
      evidence: {
        reason: 'Any refusal of a request with a cursor restarts the listing.',
        file: 'connectors/gong/index.ts',
      },
    },
    {
      aspect: 'changes',
      statement: 'Transcripts are processed for hours after their call is listed, and must not be skipped for good.',
      ...{ link: 'https://github.com/dust-tt/dust/pull/12134', date: '2025-04-20' },
      evidence: { test: [SUITE, 'gives an old call the same version in every listing, and a recent one none'] },
    },
    {
      aspect: 'changes',
      statement: 'A call can be listed hours after it began: polls from the start of the newest known call miss it.',
      ...{ link: 'https://github.com/PipedreamHQ/pipedream/issues/21479', date: '2026-07-23' },
      evidence: { reason: 'Every listing begins before the first call.', file: 'connectors/gong/index.ts' },
    },
    {
      aspect: 'listing',
      statement:
        'The folders of the library are refused with 400 without a workspace, which the specification calls optional.',
      ...{ link: 'https://github.com/NangoHQ/integration-templates/pull/652', date: '2026-08-25' },
      evidence: {
        test: [SUITE, 'names the workspace in each request for folders, which Gong refuses with 400 otherwise'],
      },
    },
    {
      aspect: 'listing',
      statement: 'Accounts whose plan has no library get 401 for it, as for a token that has ended.',
      ...{ link: 'https://github.com/NangoHQ/integration-templates/pull/542', date: '2026-06-12' },
      evidence: { test: [SUITE, 'lists calls without folders if the library is refused with %d'], fixed: true },
    },
  ],
};
