import { onyx, type SourceObservations } from './observation.js';

const SUITE = 'test/connectors/googleDrive.test.ts';

export const googleDrive: SourceObservations = {
  source: 'Google Drive',
  observations: [
    {
      aspect: 'listing',
      statement:
        'A shared drive does not exist for accounts that see only a folder of it: a search with its driveId is refused.',
      ...{ link: 'https://github.com/tidyverse/googledrive/issues/439', date: '2023-07-18' },
      evidence: {
        test: [SUITE, 'lists folders that are shared from a shared drive of which the account is not a member'],
        fixed: true,
      },
    },
    {
      aspect: 'paging',
      statement: 'An empty list is in the answer, as `files: []`, also if `fields` selects it alone.',
      ...{ link: 'https://github.com/googleapis/google-api-python-client/issues/2502', date: '2024-10-17' },
      evidence: { test: [SUITE, 'never treats a broken response as the end of a list'] },
    },
    {
      aspect: 'listing',
      statement: 'Without `fields`, a list has only kind, id, name and mimeType of its files.',
      ...{ link: 'https://github.com/googleapis/google-api-nodejs-client/issues/1011', date: '2018-02-21' },
      evidence: {
        reason: 'Each request names `fields`; without `fields`, the emulator returns only the default fields.',
        file: 'test/contracts/answers/google/drive.ts',
      },
    },
    {
      aspect: 'listing',
      statement: 'The target of a shortcut may need a resource key, which only the shortcut names.',
      ...{ link: onyx(12_446), date: '2026-06-25' },
      evidence: { test: [SUITE, 'sends the resource key of a shortcut for its target'], fixed: true },
    },
    {
      aspect: 'limits',
      statement: 'Rate limits of the API have status 403, with their reason in the body.',
      ...{ link: onyx(8762), date: '2026-02-25' },
      evidence: { test: [SUITE, 'retries HTTP %s %s after Retry-After'] },
    },
    {
      aspect: 'paging',
      statement: 'A list whose `fields` omit nextPageToken ends after one page without an error.',
      ...{ link: onyx(4505), date: '2025-04-11' },
      evidence: { test: [SUITE, 'lists My Drive, shared items and shared drives as roots, across all pages'] },
    },
    {
      aspect: 'listing',
      statement: 'Some files have no webViewLink.',
      ...{ link: onyx(5952), date: '2025-10-27' },
      evidence: { test: [SUITE, 'ignores fields of a file that have an unexpected type'] },
    },
    {
      aspect: 'listing',
      statement: 'Entries without an id or a time of change occur. They must not end the listing of the others.',
      ...{ link: onyx(6262), date: '2025-11-14' },
      evidence: { test: [SUITE, 'ignores fields of a file that have an unexpected type'] },
    },
    {
      aspect: 'paging',
      statement: 'Connections break in the middle of long listings (resets, closed TLS sessions).',
      ...{ link: onyx(12_562), date: '2026-06-30' },
      evidence: {
        reason: 'A network error is retried, and a listing continues at the cursor of its last page.',
        file: 'activities/connected/listPage.ts',
      },
    },
    {
      aspect: 'paging',
      statement:
        'A client that resumes a listing by `modifiedTime` at the time of the last file can loop. If that file is the ' +
        'target of a shortcut, its time can be much earlier, and the page token does not match the new query.',
      ...{ link: onyx(13_501), date: '2026-07-28' },
      evidence: {
        reason:
          'Queries order by creation time and contain no time. If a page token expires, the folders are listed again.',
        file: 'connectors/google/drive/walk.ts',
      },
    },
    {
      aspect: 'listing',
      statement: 'Without includeItemsFromAllDrives, lists omit shared drives.',
      ...{ link: 'https://github.com/NangoHQ/integration-templates/pull/87', date: '2024-10-30' },
      evidence: {
        reason: 'All lists send supportsAllDrives and includeItemsFromAllDrives (ALL_DRIVES).',
        file: 'connectors/google/drive/walk.ts',
      },
    },
    {
      aspect: 'listing',
      statement: 'Users expect shortcuts to folders to be followed; shortcuts may form a cycle.',
      ...{ link: onyx(12_176), date: '2026-06-18' },
      evidence: {
        test: [SUITE, 'reads the target of a shortcut, and lists the contents of a linked folder only if selected'],
      },
    },
    {
      aspect: 'formats',
      statement: 'A long Google document that is parsed without a limit uses up the memory of the process.',
      ...{ link: onyx(12_223), date: '2026-06-19' },
      evidence: {
        reason: 'Contents have a maximum size, and documents are parsed in processes with a memory limit.',
        file: 'connectors/transport.ts',
      },
    },
    {
      aspect: 'formats',
      statement: 'An encrypted PDF file must fail alone, not with all others.',
      ...{ link: onyx(362), date: '2023-08-31' },
      evidence: {
        test: [
          'test/documents/formats/everyFormat.test.ts',
          'is rejected with a request for an unencrypted file if it is encrypted',
        ],
      },
    },
    {
      aspect: 'changes',
      statement: 'A sync that starts at the end of the last one loses changes made during the last one.',
      ...{ link: onyx(250), date: '2023-07-28' },
      evidence: {
        reason: 'The cursor of the feed is read before a complete listing begins.',
        file: 'activities/connected/listPage.ts',
      },
    },
    {
      aspect: 'OAuth',
      statement:
        'Refresh tokens of Google expire for several reasons, such as six months without use or a consent screen in testing mode.',
      ...{ link: 'https://github.com/NangoHQ/nango/commit/191650e9e2', date: '2023-08-01' },
      evidence: {
        test: [
          'test/connectors/tokenEndpoints.test.ts',
          'a refused grant, client or request is final at every token endpoint',
        ],
      },
    },
    {
      aspect: 'limits',
      statement:
        'Projects since May 2026 have 325,000 quota units per user and minute, and a page of a list costs 100 of them.',
      ...{
        link: 'https://developers.google.com/workspace/drive/api/guides/limits',
        date: '2026-05-01',
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
