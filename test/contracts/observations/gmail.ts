import { onyx, type SourceObservations } from './observation.js';

const SUITE = 'test/connectors/gmail.test.ts';

export const gmail: SourceObservations = {
  source: 'Gmail',
  facts: [
    {
      about: 'OAuth',
      fact: 'A Google account without a mailbox answers 400 failedPrecondition, "Mail service not enabled".',
      ...{ seen: onyx(5506), date: '2025-09-25' },
      ours: {
        test: [SUITE, 'of a user without a mailbox are access_denied, and do not blame the operator'],
        fixed: true,
      },
    },
    {
      about: 'OAuth',
      fact: 'Refusals have a list of errors, each with its reason, besides a canonical status.',
      ...{ seen: 'https://github.com/googleworkspace/cli/issues/174', date: '2026-03-05' },
      ours: {
        safe: 'The reason comes from the list of errors, else from ErrorInfo; the status is not read.',
        in: 'connectors/google/api.ts',
      },
    },
    {
      about: 'changes',
      fact: 'History that is too old is answered with 404, and requires a complete listing.',
      ...{ seen: 'https://github.com/relaticle/relaticle/pull/610', date: '2026-09-02' },
      ours: { test: [SUITE, 'report a cursor older than the history of Gmail as stale'] },
    },
    {
      about: 'changes',
      fact: 'Pages of the history may lack the list `history` although a next page exists.',
      ...{ seen: 'https://github.com/gauteh/lieer/issues/24', date: '2017-05-30' },
      ours: {
        safe: 'A page without the list is empty if it has a historyId, and its nextPageToken is followed.',
        in: 'connectors/google/gmail/changes.ts',
      },
    },
    {
      about: 'changes',
      fact: 'The values of historyTypes are singular (labelAdded); the plural names of the answer are refused.',
      ...{ seen: 'https://github.com/relaticle/relaticle/issues/612', date: '2026-09-02' },
      ours: {
        safe: 'No historyTypes are sent, and requests are compared with the specification.',
        in: 'test/contracts/tables/gmail.ts',
      },
    },
    {
      about: 'changes',
      fact: 'An id of the history that came from an old message is refused again in each sync.',
      ...{ seen: 'https://github.com/gauteh/lieer/issues/301', date: '2025-03-13' },
      ours: {
        safe: 'The cursor comes from the profile and from the history itself, never from a message.',
        in: 'connectors/google/gmail/changes.ts',
      },
    },
    {
      about: 'changes',
      fact: 'A history with more entries than one page is lost if only the first page is read.',
      ...{ seen: 'https://github.com/elie222/inbox-zero/pull/1174', date: '2026-01-02' },
      ours: { test: [SUITE, 'report new, relabelled and deleted messages of all pages'] },
    },
    {
      about: 'listing',
      fact: 'A deleted label is answered with 404, and must not end the sync of the other labels.',
      ...{ seen: 'https://github.com/rtCamp/frappe-gmail-thread/pull/37', date: '2025-09-28' },
      ours: {
        safe: 'Each label is a root of its own; only a missing label itself is not_found.',
        in: 'activities/connected/walk.ts',
      },
    },
    {
      about: 'formats',
      fact: 'Old mailboxes contain Date headers that violate the standard.',
      ...{ seen: onyx(10_290), date: '2026-04-16' },
      ours: {
        safe: 'Times come from internalDate, not from the header.',
        in: 'connectors/google/gmail/adapter.ts',
      },
    },
    {
      about: 'listing',
      fact: 'Messages without a subject exist; an empty name breaks search.',
      ...{ seen: onyx(4922), date: '2025-06-20' },
      ours: {
        safe: 'Such messages are called "(no subject)".',
        in: 'connectors/google/gmail/adapter.ts',
      },
    },
    {
      about: 'formats',
      fact: 'Large parts inside of messages use up the memory.',
      ...{ seen: onyx(5948), date: '2025-10-27' },
      ours: { test: [SUITE, 'is rejected for trash, labels, missing messages and messages above the size limit'] },
    },
    {
      about: 'limits',
      fact: 'Requests for labels alone reach the limit of bursts per user (429).',
      ...{ seen: 'https://github.com/n8n-io/n8n/issues/24495', date: '2026-01-18' },
      ours: { test: [SUITE, 'of HTTP %s %s are rate limits until the time in their message'] },
    },
    {
      about: 'limits',
      fact: 'The end of a rate limit is a time in the error message, up to hours away.',
      ...{ seen: 'https://github.com/levz0r/gmail-tester/issues/23', date: '2020-01-21' },
      ours: { test: [SUITE, 'of HTTP %s %s are rate limits until the time in their message'] },
    },
    {
      about: 'OAuth',
      fact: 'Refresh tokens of an OAuth client in test mode end after seven days with invalid_grant.',
      ...{ seen: 'https://github.com/googleapis/google-api-nodejs-client/issues/2886', date: '2023-04-23' },
      ours: {
        test: [
          'test/connectors/tokenEndpoints.test.ts',
          'a refused grant, client or request is final at every token endpoint',
        ],
      },
    },
    {
      about: 'deletions',
      fact: 'Whether spam and trash are listed is a choice of the caller (includeSpamTrash).',
      ...{ seen: 'https://github.com/elastic/connectors/pull/1547', date: '2023-08-30' },
      ours: {
        test: [SUITE, 'lists every message outside trash and spam below the roots, each with a single parent'],
      },
    },
    {
      about: 'limits',
      fact: 'Projects since May 2026 have 6,000 quota units per user and minute, and a message costs 20 of them: 300 messages.',
      ...{
        seen: 'https://developers.google.com/workspace/gmail/api/reference/quota',
        date: '2026-05-01',
      },
      ours: {
        test: [
          'test/long/largeAccounts.test.ts',
          '$name: within the quota, a checkpoint after at most a minute of work, complete after kill -9',
        ],
        fixed: true,
      },
    },
  ],
};
