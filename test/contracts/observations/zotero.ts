import type { SourceObservations } from './observation.js';

const SUITE = 'test/connectors/zotero.test.ts';

export const zotero: SourceObservations = {
  source: 'Zotero',
  facts: [
    {
      about: 'formats',
      fact: 'Files that users keep on a WebDAV server are stored attachments like others, but their file is 404.',
      ...{ seen: 'https://github.com/davidswelt/zot_bib_web/issues/16', date: '2021-07-21' },
      ours: {
        test: [SUITE, 'gives the reason why a file that is stored on a server of the user has no content'],
        fixed: true,
      },
    },
    {
      about: 'listing',
      fact: 'Highlights and comments in files are items of their own, which came without documentation.',
      ...{ seen: 'https://github.com/urschrei/pyzotero/issues/148', date: '2021-12-16' },
      ours: {
        test: [
          SUITE,
          'of a library contains the collections and items of all pages with their parents, without annotations',
        ],
      },
    },
    {
      about: 'deletions',
      fact: 'Collections in the trash stay in the list of collections, with a mark.',
      ...{ seen: 'https://github.com/zotero/web-library/issues/545', date: '2024-06-17' },
      ours: {
        safe: 'They stay folders until they are deleted; items in the trash have a mark of their own.',
        in: 'connectors/zotero/adapter.ts',
      },
    },
    {
      about: 'changes',
      fact: 'An incremental sync needs the list of deletions: changed items do not show what is gone.',
      ...{ seen: 'https://github.com/urschrei/pyzotero/pull/49', date: '2015-06-15' },
      ours: { test: [SUITE, 'reports changed, deleted and trashed items of each library, across all pages'] },
    },
    {
      about: 'limits',
      fact: 'Successful answers may also ask for a wait, which a client ignored.',
      ...{ seen: 'https://github.com/urschrei/pyzotero/issues/98', date: '2019-06-07' },
      ours: {
        test: [SUITE, 'delays the next request of the account after a Backoff header in a successful response'],
      },
    },
    {
      about: 'limits',
      fact: 'A client showed 429 to its users as a fatal error instead of waiting as Retry-After says.',
      ...{ seen: 'https://github.com/zotero/zotero-android/issues/308', date: '2026-05-08' },
      ours: { test: [SUITE, 'delays the retry by Retry-After of 429 and 503, up to the maximum wait'] },
    },
    {
      about: 'limits',
      fact: 'Requests that ask for several formats of 100 items at once end with 504.',
      ...{ seen: 'https://github.com/whiskyechobravo/kerkoapp/issues/42', date: '2023-11-05' },
      ours: { safe: 'Lists ask for the data only.', in: 'connectors/zotero/api.ts' },
    },
  ],
};
