import { nango, onyx, type SourceObservations } from './observation.js';

const SUITE = 'test/connectors/zendesk.test.ts';
const airbyte = (issue: number): string => `https://github.com/airbytehq/airbyte/issues/${issue}`;

export const zendesk: SourceObservations = {
  source: 'Zendesk',
  facts: [
    {
      about: 'OAuth',
      fact: 'OAuth clients from before refresh tokens get none unless the token request has expires_in.',
      ...{ seen: nango(6763), date: '2026-07-21' },
      ours: {
        test: [SUITE, 'requests tokens that expire, since Zendesk gives older clients no refresh token otherwise'],
        fixed: true,
      },
    },
    {
      about: 'OAuth',
      fact: 'From 2027-04-01 all clients must refresh; each refresh deletes both old tokens.',
      ...{
        seen: 'https://support.zendesk.com/hc/en-us/articles/9182123625370-Announcing-support-for-OAuth-refresh-token-grant-type-and-OAuth-access-and-refresh-token-expirations',
        date: '2025-04-30',
      },
      ours: {
        test: [SUITE, 'requests tokens that expire, since Zendesk gives older clients no refresh token otherwise'],
      },
    },
    {
      about: 'paging',
      fact: 'Lists by offset end with an error after 100 pages.',
      ...{ seen: 'https://github.com/cloudbees-oss/zendesk-java-client/issues/732', date: '2024-12-14' },
      ours: { test: [SUITE, 'is listed by category and section, without drafts'] },
    },
    {
      about: 'paging',
      fact: 'A list without page[size] has numbered pages and no `meta`; its next page is in next_page.',
      ...{ seen: airbyte(26_055), date: '2023-05-14' },
      ours: { test: [SUITE, 'reads all pages of lists that have no cursors, only numbers'], fixed: true },
    },
    {
      about: 'paging',
      fact: 'Exports of articles have no end_of_stream: the missing next_page is their end.',
      ...{ seen: 'https://github.com/airbytehq/airbyte/pull/33680', date: '2023-12-20' },
      ours: { test: [SUITE, 'reads all pages of lists that have no cursors, only numbers'] },
    },
    {
      about: 'changes',
      fact: 'After the first request of the export, only its cursor may be used: a start time skips tickets.',
      ...{ seen: airbyte(28_173), date: '2023-07-11' },
      ours: { test: [SUITE, 'are reported by the change feed to administrators, with a full listing after 50 syncs'] },
    },
    {
      about: 'listing',
      fact: 'Tickets are archived 120 days after their solution, and lists omit them; the export does not.',
      ...{ seen: airbyte(10_613), date: '2022-02-24' },
      ours: { test: [SUITE, 'are listed without archived ones if the account may not export'] },
    },
    {
      about: 'limits',
      fact: 'Long pages of exports are answered with 504.',
      ...{ seen: 'https://github.com/airbytehq/airbyte/pull/33435', date: '2023-12-13' },
      ours: {
        safe: 'Pages of the export have 500 tickets of the 1,000 that Zendesk allows, without comments; 504 is retried.',
        in: 'connectors/zendesk/tickets.ts',
      },
    },
    {
      about: 'limits',
      fact: '429 names its wait in Retry-After.',
      ...{ seen: airbyte(11_899), date: '2022-04-12' },
      ours: {
        test: [
          'test/connectors/sourceClient.test.ts',
          'delays the retry by Retry-After or by the header of the source',
        ],
      },
    },
    {
      about: 'limits',
      fact: 'Since 2023-08-22 Zendesk limits lists by offset more strictly than those by cursor.',
      ...{ seen: airbyte(26_353), date: '2023-05-22' },
      ours: { safe: 'Every list requests a cursor first (page[size]).', in: 'connectors/zendesk/api.ts' },
    },
    {
      about: 'deletions',
      fact: 'Drafts are listed with published articles.',
      ...{ seen: 'https://github.com/onyx-dot-app/onyx/commit/2a8e53c94f', date: '2024-03-11' },
      ours: { test: [SUITE, 'is listed by category and section, without drafts'] },
    },
    {
      about: 'formats',
      fact: 'The author of a comment may be a deleted user, or -1; a request for it is answered with 400 or 404.',
      ...{ seen: onyx(3168), date: '2024-11-23' },
      ours: {
        safe: 'Authors come with the comments (include=users); an unknown one has no name.',
        in: 'connectors/zendesk/tickets.ts',
      },
    },
  ],
};
