import type { SourceObservations } from './observation.js';

const SUITE = 'test/connectors/zotero.test.ts';

export const zotero: SourceObservations = {
  source: 'Zotero',
  observations: [
    {
      aspect: 'formats',
      statement: 'Files on a WebDAV server have the link mode of stored files, but a request for the file returns 404.',
      ...{ link: 'https://github.com/davidswelt/zot_bib_web/issues/16', date: '2021-07-21' },
      evidence: {
        test: [SUITE, 'gives the reason why a file that is stored on a server of the user has no content'],
        fixed: true,
      },
    },
    {
      aspect: 'listing',
      statement: 'Highlights and comments in files are separate items, which Zotero introduced without documentation.',
      ...{ link: 'https://github.com/urschrei/pyzotero/issues/148', date: '2021-12-16' },
      evidence: {
        test: [
          SUITE,
          'of a library contains the collections and items of all pages with their parents, without annotations',
        ],
      },
    },
    {
      aspect: 'deletions',
      statement: 'Collections in the trash stay in the list of collections, with a mark.',
      ...{ link: 'https://github.com/zotero/web-library/issues/545', date: '2024-06-17' },
      evidence: {
        reason: 'They stay folders until they are deleted; items in the trash have a mark of their own.',
        file: 'connectors/zotero/adapter.ts',
      },
    },
    {
      aspect: 'changes',
      statement: 'An incremental sync needs the list of deletions: the list of changed items has no deleted ones.',
      ...{ link: 'https://github.com/urschrei/pyzotero/pull/49', date: '2015-06-15' },
      evidence: { test: [SUITE, 'reports changed, deleted and trashed items of each library, across all pages'] },
    },
    {
      aspect: 'limits',
      statement: 'Successful answers may also ask for a wait, which a client ignored.',
      ...{ link: 'https://github.com/urschrei/pyzotero/issues/98', date: '2019-06-07' },
      evidence: {
        test: [SUITE, 'delays the next request of the account after a Backoff header in a successful response'],
      },
    },
    {
      aspect: 'limits',
      statement: 'A client showed 429 to its users as a fatal error instead of waiting for Retry-After.',
      ...{ link: 'https://github.com/zotero/zotero-android/issues/308', date: '2026-05-08' },
      evidence: { test: [SUITE, 'delays the retry by Retry-After of 429 and 503, up to the maximum wait'] },
    },
    {
      aspect: 'limits',
      statement: 'Requests that ask for several formats of 100 items at once end with 504.',
      ...{ link: 'https://github.com/whiskyechobravo/kerkoapp/issues/42', date: '2023-11-05' },
      evidence: { reason: 'Lists ask for the data only.', file: 'connectors/zotero/api.ts' },
    },
  ],
};
