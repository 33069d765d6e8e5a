import type { SourceObservations } from './observation.js';

const SUITE = 'test/connectors/freshdesk.test.ts';
const airbyte = (issue: number): string => `https://github.com/airbytehq/airbyte/issues/${issue}`;

export const freshdesk: SourceObservations = {
  source: 'Freshdesk',
  facts: [
    {
      about: 'paging',
      fact: 'Page 301 of the tickets is refused as invalid, after hours of reading the first 300.',
      ...{ seen: airbyte(3858), date: '2021-06-03' },
      ours: { test: [SUITE, 'continues from the last change, because a list ends after 300 pages'] },
    },
    {
      about: 'listing',
      fact: 'Without updated_since, tickets that are older than 30 days are missing, without an error.',
      ...{ seen: airbyte(6133), date: '2021-09-16' },
      ours: { test: [SUITE, 'continues from the last change, because a list ends after 300 pages'] },
    },
    {
      about: 'listing',
      fact: 'A ticket of the list can be refused with 403, which ended the whole sync.',
      ...{ seen: 'https://github.com/singer-io/tap-freshdesk/pull/18', date: '2018-02-16' },
      ours: {
        test: [SUITE, 'a ticket that is listed but refused does not end the listing, and its attachments are unknown'],
        fixed: true,
      },
    },
    {
      about: 'deletions',
      fact: 'Deleted tickets and spam vanish from the list without an update that tells so.',
      ...{ seen: 'https://github.com/singer-io/tap-freshdesk/pull/26', date: '2018-11-02' },
      ours: { test: [SUITE, 'gives changed items a new version and leaves out deleted items and spam'] },
    },
    {
      about: 'deletions',
      fact: 'Archived tickets need operations of their own; those for tickets no longer find them.',
      ...{ seen: 'https://github.com/DaveTCode/FreshdeskApiDotnet/issues/85', date: '2021-10-09' },
      ours: { safe: 'They count as deleted, which the page of sources states.', in: 'connectors/freshdesk/index.ts' },
    },
    {
      about: 'formats',
      fact: 'Lists of newer accounts have no description of a ticket, so its text was empty.',
      ...{ seen: 'https://github.com/singer-io/tap-freshdesk/pull/57', date: '2023-07-13' },
      ours: { test: [SUITE, 'of a ticket is the conversation of all pages with its authors'] },
    },
    {
      about: 'formats',
      fact: 'A ticket embeds at most ten entries of its conversation; the rest is in a list of its own.',
      ...{ seen: airbyte(1957), date: '2021-02-09' },
      ours: { test: [SUITE, 'of a ticket is the conversation of all pages with its authors'] },
    },
    {
      about: 'listing',
      fact: 'A list of tickets that embeds conversations is refused with 400: only a single ticket can.',
      ...{ seen: 'https://github.com/DaveTCode/FreshdeskApiDotnet/issues/274', date: '2025-01-14' },
      ours: { safe: 'Lists embed nothing; a ticket embeds its requester.', in: 'connectors/freshdesk/tickets.ts' },
    },
    {
      about: 'limits',
      fact: 'One request per ticket reaches the limit of the minute, whatever rate is configured.',
      ...{ seen: airbyte(33823), date: '2023-12-28' },
      ours: { test: [SUITE, 'delays the retry by Retry-After'] },
    },
  ],
};
