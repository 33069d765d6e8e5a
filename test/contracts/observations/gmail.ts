import { onyx, type SourceObservations } from './observation.js';

const SUITE = 'test/connectors/gmail.test.ts';

export const gmail: SourceObservations = {
  source: 'Gmail',
  observations: [
    {
      aspect: 'OAuth',
      statement: 'A Google account without a mailbox answers 400 failedPrecondition, "Mail service not enabled".',
      ...{ link: onyx(5506), date: '2025-09-25' },
      evidence: {
        test: [SUITE, 'of a user without a mailbox are access_denied, not an error of the configuration'],
        fixed: true,
      },
    },
    {
      aspect: 'OAuth',
      statement: 'Refusals have a list of errors, each with its reason, and a canonical status.',
      ...{ link: 'https://github.com/googleworkspace/cli/issues/174', date: '2026-03-05' },
      evidence: {
        reason: 'The reason comes from the list of errors, else from ErrorInfo; the status is not read.',
        file: 'connectors/google/api.ts',
      },
    },
    {
      aspect: 'changes',
      statement: 'History that is too old is answered with 404, and requires a complete listing.',
      ...{ link: 'https://github.com/relaticle/relaticle/pull/610', date: '2026-09-02' },
      evidence: { test: [SUITE, 'report a cursor older than the history of Gmail as stale'] },
    },
    {
      aspect: 'changes',
      statement: 'Pages of the history may lack the list `history` although a next page exists.',
      ...{ link: 'https://github.com/gauteh/lieer/issues/24', date: '2017-05-30' },
      evidence: {
        reason: 'A page without the list is empty if it has a historyId, and its nextPageToken is followed.',
        file: 'connectors/google/gmail/changes.ts',
      },
    },
    {
      aspect: 'changes',
      statement: 'The values of historyTypes are singular (labelAdded); the plural names of the answer are refused.',
      ...{ link: 'https://github.com/relaticle/relaticle/issues/612', date: '2026-09-02' },
      evidence: {
        reason: 'No historyTypes are sent, and requests are compared with the specification.',
        file: 'test/contracts/tables/gmail.ts',
      },
    },
    {
      aspect: 'changes',
      statement: 'A history id from an old message is refused again in each sync.',
      ...{ link: 'https://github.com/gauteh/lieer/issues/301', date: '2025-03-13' },
      evidence: {
        reason: 'The cursor comes from the profile and from the history itself, never from a message.',
        file: 'connectors/google/gmail/changes.ts',
      },
    },
    {
      aspect: 'changes',
      statement: 'A history with more entries than one page is lost if only the first page is read.',
      ...{ link: 'https://github.com/elie222/inbox-zero/pull/1174', date: '2026-01-02' },
      evidence: { test: [SUITE, 'report new, relabelled and deleted messages of all pages'] },
    },
    {
      aspect: 'listing',
      statement: 'A deleted label is answered with 404, and must not end the sync of the other labels.',
      ...{ link: 'https://github.com/rtCamp/frappe-gmail-thread/pull/37', date: '2025-09-28' },
      evidence: {
        reason: 'Each label is a root of its own; only a missing label itself is not_found.',
        file: 'activities/connected/walk.ts',
      },
    },
    {
      aspect: 'formats',
      statement: 'Old mailboxes contain Date headers that violate the standard.',
      ...{ link: onyx(10_290), date: '2026-04-16' },
      evidence: {
        reason: 'Times come from internalDate, not from the header.',
        file: 'connectors/google/gmail/adapter.ts',
      },
    },
    {
      aspect: 'listing',
      statement: 'Messages without a subject exist; an empty name breaks search.',
      ...{ link: onyx(4922), date: '2025-06-20' },
      evidence: {
        reason: 'Such messages are called "(no subject)".',
        file: 'connectors/google/gmail/adapter.ts',
      },
    },
    {
      aspect: 'formats',
      statement: 'Large parts inside of messages use up the memory.',
      ...{ link: onyx(5948), date: '2025-10-27' },
      evidence: { test: [SUITE, 'is rejected for trash, labels, missing messages and messages above the size limit'] },
    },
    {
      aspect: 'limits',
      statement: 'Requests for labels alone reach the limit of bursts per user (429).',
      ...{ link: 'https://github.com/n8n-io/n8n/issues/24495', date: '2026-01-18' },
      evidence: { test: [SUITE, 'of HTTP %s %s are rate limits until the time in their message'] },
    },
    {
      aspect: 'limits',
      statement: 'The end of a rate limit is a time in the error message, up to hours away.',
      ...{ link: 'https://github.com/levz0r/gmail-tester/issues/23', date: '2020-01-21' },
      evidence: { test: [SUITE, 'of HTTP %s %s are rate limits until the time in their message'] },
    },
    {
      aspect: 'OAuth',
      statement: 'Refresh tokens of an OAuth client in test mode end after seven days with invalid_grant.',
      ...{ link: 'https://github.com/googleapis/google-api-nodejs-client/issues/2886', date: '2023-04-23' },
      evidence: {
        test: [
          'test/connectors/tokenEndpoints.test.ts',
          'a refused grant, client or request is final at every token endpoint',
        ],
      },
    },
    {
      aspect: 'deletions',
      statement: 'Whether spam and trash are listed is a choice of the caller (includeSpamTrash).',
      ...{ link: 'https://github.com/elastic/connectors/pull/1547', date: '2023-08-30' },
      evidence: {
        test: [SUITE, 'lists every message outside trash and spam below the roots, each with a single parent'],
      },
    },
    {
      aspect: 'limits',
      statement:
        'Projects since May 2026 have 6,000 quota units per user and minute, and a message costs 20 of them: 300 messages.',
      ...{
        link: 'https://developers.google.com/workspace/gmail/api/reference/quota',
        date: '2026-05-01',
      },
      evidence: {
        test: [
          'test/long/largeAccounts.test.ts',
          '$name: stays within the quota, loses at most a minute of work by a kill, and syncs everything',
        ],
        fixed: true,
      },
    },
  ],
};
