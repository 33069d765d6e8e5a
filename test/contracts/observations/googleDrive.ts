import { onyx, type SourceObservations } from './observation.js';

const SUITE = 'test/connectors/googleDrive.test.ts';

export const googleDrive: SourceObservations = {
  source: 'Google Drive',
  facts: [
    {
      about: 'listing',
      fact: 'A shared drive does not exist for accounts that see only a folder of it: a search with its driveId is refused.',
      ...{ seen: 'https://github.com/tidyverse/googledrive/issues/439', date: '2023-07-18' },
      ours: {
        test: [SUITE, 'lists folders that are shared from a shared drive of which the account is not a member'],
        fixed: true,
      },
    },
    {
      about: 'paging',
      fact: 'An empty list is in the answer, as `files: []`, also if `fields` selects it alone.',
      ...{ seen: 'https://github.com/googleapis/google-api-python-client/issues/2502', date: '2024-10-17' },
      ours: { test: [SUITE, 'never treats a broken response as the end of a list'] },
    },
    {
      about: 'listing',
      fact: 'Without `fields`, a list has only kind, id, name and mimeType of its files.',
      ...{ seen: 'https://github.com/googleapis/google-api-nodejs-client/issues/1011', date: '2018-02-21' },
      ours: {
        safe: 'Each read of files names its fields; answers of the emulator without them have the default ones only.',
        in: 'test/contracts/answers/google/drive.ts',
      },
    },
    {
      about: 'listing',
      fact: 'The target of a shortcut may need a resource key, which only the shortcut names.',
      ...{ seen: onyx(12_446), date: '2026-06-25' },
      ours: { test: [SUITE, 'sends the resource key of a shortcut for its target'], fixed: true },
    },
    {
      about: 'limits',
      fact: 'Rate limits of the API have status 403, with their reason in the body.',
      ...{ seen: onyx(8762), date: '2026-02-25' },
      ours: { test: [SUITE, 'retries HTTP %s %s after Retry-After'] },
    },
    {
      about: 'paging',
      fact: 'A list whose `fields` omit nextPageToken ends after one page without an error.',
      ...{ seen: onyx(4505), date: '2025-04-11' },
      ours: { test: [SUITE, 'lists My Drive, shared items and shared drives as roots, across all pages'] },
    },
    {
      about: 'listing',
      fact: 'Some files have no webViewLink.',
      ...{ seen: onyx(5952), date: '2025-10-27' },
      ours: { test: [SUITE, 'ignores fields of a file that have an unexpected type'] },
    },
    {
      about: 'listing',
      fact: 'Entries without an id or a time of change occur. They must not end the listing of the others.',
      ...{ seen: onyx(6262), date: '2025-11-14' },
      ours: { test: [SUITE, 'ignores fields of a file that have an unexpected type'] },
    },
    {
      about: 'paging',
      fact: 'Connections break in the middle of long listings (resets, ends of TLS).',
      ...{ seen: onyx(12_562), date: '2026-06-30' },
      ours: {
        safe: 'A network error is retried, and a listing continues at the cursor of its last page.',
        in: 'activities/connected/listPage.ts',
      },
    },
    {
      about: 'paging',
      fact: 'A position by time of change can move backwards with shortcuts, which invalidates the page token and causes an endless loop.',
      ...{ seen: onyx(13_501), date: '2026-07-28' },
      ours: {
        safe: 'Positions are page tokens of a fixed query, ordered by time of creation; an expired one restarts only its group of folders.',
        in: 'connectors/google/drive/walk.ts',
      },
    },
    {
      about: 'listing',
      fact: 'Without includeItemsFromAllDrives, lists omit shared drives.',
      ...{ seen: 'https://github.com/NangoHQ/integration-templates/pull/87', date: '2024-10-30' },
      ours: {
        safe: 'All lists send supportsAllDrives and includeItemsFromAllDrives (ALL_DRIVES).',
        in: 'connectors/google/drive/walk.ts',
      },
    },
    {
      about: 'listing',
      fact: 'Users expect shortcuts to folders to be followed; shortcuts may form a cycle.',
      ...{ seen: onyx(12_176), date: '2026-06-18' },
      ours: {
        test: [SUITE, 'reads the target of a shortcut, and lists a shortcut to a folder only if it is selected'],
      },
    },
    {
      about: 'formats',
      fact: 'A long Google document that is parsed without a limit uses up the memory of the process.',
      ...{ seen: onyx(12_223), date: '2026-06-19' },
      ours: {
        safe: 'Contents have a maximum size, and documents are parsed in processes with a memory limit.',
        in: 'connectors/transport.ts',
      },
    },
    {
      about: 'formats',
      fact: 'An encrypted PDF file must fail alone, not with all others.',
      ...{ seen: onyx(362), date: '2023-08-31' },
      ours: {
        test: [
          'test/documents/formats/everyFormat.test.ts',
          'is rejected with a request for one without a password if it is encrypted',
        ],
      },
    },
    {
      about: 'changes',
      fact: 'A sync that starts at the end of the last one loses changes made during the last one.',
      ...{ seen: onyx(250), date: '2023-07-28' },
      ours: {
        safe: 'The cursor of the feed is read before a complete listing begins.',
        in: 'activities/connected/listPage.ts',
      },
    },
    {
      about: 'OAuth',
      fact: 'Refresh tokens of Google end for several reasons, such as six months without use or a test consent screen.',
      ...{ seen: 'https://github.com/NangoHQ/nango/commit/191650e9e2', date: '2023-08-01' },
      ours: {
        test: [
          'test/connectors/tokenEndpoints.test.ts',
          'a refused grant, client or request is final at every token endpoint',
        ],
      },
    },
    {
      about: 'limits',
      fact: 'Projects since May 2026 have 325,000 quota units per user and minute, and a page of a list costs 100 of them.',
      ...{
        seen: 'https://developers.google.com/workspace/drive/api/guides/limits',
        date: '2026-05-01',
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
