import type { SourceObservations } from './observation.js';

const SUITE = 'test/connectors/freshdesk.test.ts';
const airbyte = (issue: number): string => `https://github.com/airbytehq/airbyte/issues/${issue}`;

export const freshdesk: SourceObservations = {
  source: 'Freshdesk',
  observations: [
    {
      aspect: 'paging',
      statement: 'Page 301 of the tickets is refused as invalid, after hours of reading the first 300.',
      ...{ link: airbyte(3858), date: '2021-06-03' },
      evidence: { test: [SUITE, 'continues from the last change, because a list ends after 300 pages'] },
    },
    {
      aspect: 'listing',
      statement: 'Without updated_since, tickets that are older than 30 days are missing, without an error.',
      ...{ link: airbyte(6133), date: '2021-09-16' },
      evidence: { test: [SUITE, 'continues from the last change, because a list ends after 300 pages'] },
    },
    {
      aspect: 'listing',
      statement: 'A listed ticket can be refused with 403, which ended the whole sync of a client.',
      ...{ link: 'https://github.com/singer-io/tap-freshdesk/pull/18', date: '2018-02-16' },
      evidence: {
        test: [SUITE, 'a listed ticket that cannot be opened does not end the listing, and is reported as refused'],
        fixed: true,
      },
    },
    {
      aspect: 'deletions',
      statement: 'Deleted tickets and spam disappear from the list without a reported change.',
      ...{ link: 'https://github.com/singer-io/tap-freshdesk/pull/26', date: '2018-11-02' },
      evidence: { test: [SUITE, 'gives changed items a new version and leaves out deleted items and spam'] },
    },
    {
      aspect: 'deletions',
      statement: 'Archived tickets need separate operations: the operations for tickets no longer find them.',
      ...{ link: 'https://github.com/DaveTCode/FreshdeskApiDotnet/issues/85', date: '2021-10-09' },
      evidence: {
        reason: 'They count as deleted, as docs/sources.md states.',
        file: 'connectors/freshdesk/index.ts',
      },
    },
    {
      aspect: 'formats',
      statement: 'In newer accounts, lists lack the description of a ticket, so its text was empty in a client.',
      ...{ link: 'https://github.com/singer-io/tap-freshdesk/pull/57', date: '2023-07-13' },
      evidence: { test: [SUITE, 'of a ticket is the conversation of all pages with its authors'] },
    },
    {
      aspect: 'formats',
      statement: 'A ticket embeds at most ten entries of its conversation; a separate list has all entries.',
      ...{ link: airbyte(1957), date: '2021-02-09' },
      evidence: { test: [SUITE, 'of a ticket is the conversation of all pages with its authors'] },
    },
    {
      aspect: 'listing',
      statement:
        'A list of tickets that embeds conversations is refused with 400: only a single ticket can embed them.',
      ...{ link: 'https://github.com/DaveTCode/FreshdeskApiDotnet/issues/274', date: '2025-01-14' },
      evidence: {
        reason: 'The connector requests lists without embedded objects; only a single ticket embeds its requester.',
        file: 'connectors/freshdesk/tickets.ts',
      },
    },
    {
      aspect: 'limits',
      statement: 'A client with one request per ticket exceeds the limit per minute, whatever rate it configures.',
      ...{ link: airbyte(33823), date: '2023-12-28' },
      evidence: { test: [SUITE, 'delays the retry by Retry-After'] },
    },
  ],
};
