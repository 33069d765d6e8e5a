import type { SourceObservations } from './observation.js';

const SUITE = 'test/connectors/microsoft/outlook.test.ts';
const FOLDERS =
  'https://github.com/microsoftgraph/microsoft-graph-docs-contrib/blob/0f0835cb23c7a1d48cb729cd2cd15965d44a479c/api-reference/v1.0/api/user-list-mailfolders.md';
const DELTA =
  'https://github.com/microsoftgraph/microsoft-graph-docs-contrib/blob/042f6274807ad0e0e3e6bbfbd80940bb5625288d/api-reference/v1.0/api/message-delta.md';

export const outlook: SourceObservations = {
  source: 'Outlook',
  observations: [
    {
      aspect: 'changes',
      statement:
        'With immutable ids, a message that is moved away and back is reported as removed, but never as added again.',
      ...{ link: 'https://github.com/microsoftgraph/microsoft-graph-docs/issues/21752', date: '2023-06-21' },
      evidence: {
        reason: 'Each removed message is requested; if it exists outside of Deleted Items, it is kept.',
        file: 'connectors/microsoft/outlook/changes.ts',
      },
    },
    {
      aspect: 'changes',
      statement: 'With immutable ids, a move is reported in the old folder only.',
      ...{ link: 'https://github.com/wisecom-oy/atlas/issues/48', date: '2026-07-14' },
      evidence: {
        test: [SUITE, 'follows a moved message in any order of folders, and reports one in Deleted Items as deleted'],
      },
    },
    {
      aspect: 'changes',
      statement:
        'Default ids change with each move: after a rule has moved a message, a request for its stored id gets 404.',
      ...{ link: 'https://github.com/kellylford/QuickMail/issues/366', date: '2026-07-25' },
      evidence: {
        reason: 'All requests for messages require immutable ids (PREFER).',
        file: 'connectors/microsoft/outlook/messages.ts',
      },
    },
    {
      aspect: 'listing',
      statement:
        'The list of folders has ten entries per page and only direct children, so a client without paging misses folders.',
      ...{ link: 'https://github.com/n8n-io/n8n/issues/17078', date: '2025-07-07' },
      evidence: { test: [SUITE, 'are all listed, each after its parent'] },
    },
    {
      aspect: 'listing',
      statement: 'Hidden folders, which users do not see in Outlook, are listed only with includeHiddenFolders.',
      ...{ link: FOLDERS, date: '2026-11-26' },
      evidence: {
        test: [SUITE, 'of folders contain their descendants, without Deleted Items, search folders and hidden folders'],
        fixed: true,
      },
    },
    {
      aspect: 'listing',
      statement: 'Search folders are listed as folders, and contain messages of other folders.',
      ...{ link: FOLDERS, date: '2026-11-26' },
      evidence: {
        test: [SUITE, 'of folders contain their descendants, without Deleted Items, search folders and hidden folders'],
      },
    },
    {
      aspect: 'paging',
      statement:
        'A change feed accepts only few filters and sort orders. Its page size is set by the Prefer header only.',
      ...{ link: DELTA, date: '2026-11-26' },
      evidence: {
        reason: 'The feed is requested with $select and this header only; filters are sent to the list of messages.',
        file: 'connectors/microsoft/outlook/messages.ts',
      },
    },
    {
      aspect: 'changes',
      statement: 'Each folder has its own change feed; there is none for a whole mailbox.',
      ...{ link: DELTA, date: '2026-11-26' },
      evidence: { test: [SUITE, 'reads new folders from the beginning, and reports removed folders'] },
    },
    {
      aspect: 'formats',
      statement: 'A request for a message together with very many attachments is answered with 503.',
      ...{ link: 'https://github.com/alcionai/corso/issues/4991', date: '2024-01-08' },
      evidence: {
        reason:
          'Attachments are listed without contents and downloaded separately, so a failure concerns one file only.',
        file: 'connectors/microsoft/outlook/messages.ts',
      },
    },
    {
      aspect: 'formats',
      statement: 'Bodies are HTML unless the request asks for text.',
      ...{ link: 'https://github.com/NangoHQ/nango/commit/f861997671', date: '2024-10-09' },
      evidence: { test: [SUITE, 'that arrive as HTML, although text was requested, are HTML'] },
    },
    {
      aspect: 'formats',
      statement: '`sender` is an object, and may be missing, for example in drafts.',
      ...{ link: 'https://github.com/NangoHQ/nango/commit/0ce981ac4a', date: '2024-11-18' },
      evidence: {
        reason: '`from` is used, otherwise `sender`; a message without both has no sender.',
        file: 'connectors/microsoft/outlook/adapter.ts',
      },
    },
    {
      aspect: 'listing',
      statement:
        'Ids of a shared mailbox are unknown in the mailbox of the signed-in user (ErrorInvalidMailboxItemId).',
      ...{ link: 'https://github.com/openai/codex/issues/31900', date: '2026-07-09' },
      evidence: {
        reason: 'Only the mailbox of the signed-in user is listed (/me), and only its ids are requested.',
        file: 'connectors/microsoft/outlook/folders.ts',
      },
    },
    {
      aspect: 'limits',
      statement: 'An app may send 10,000 requests per mailbox in ten minutes, and four at the same time.',
      ...{
        link: 'https://learn.microsoft.com/graph/throttling-limits#outlook-service-limits',
        date: '2026-11',
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
