import { nango, onyx, type SourceObservations } from './observation.js';

const SUITE = 'test/connectors/zendesk.test.ts';
const airbyte = (issue: number): string => `https://github.com/airbytehq/airbyte/issues/${issue}`;

export const zendesk: SourceObservations = {
  source: 'Zendesk',
  observations: [
    {
      aspect: 'OAuth',
      statement: 'OAuth clients older than refresh tokens get none unless the token request has expires_in.',
      ...{ link: nango(6763), date: '2026-07-21' },
      evidence: {
        test: [SUITE, 'requests tokens that expire, since Zendesk gives older clients no refresh token otherwise'],
        fixed: true,
      },
    },
    {
      aspect: 'OAuth',
      statement: 'From 2027-04-01 all clients must refresh; each refresh deletes both old tokens.',
      ...{
        link: 'https://support.zendesk.com/hc/en-us/articles/9182123625370-Announcing-support-for-OAuth-refresh-token-grant-type-and-OAuth-access-and-refresh-token-expirations',
        date: '2025-04-30',
      },
      evidence: {
        test: [SUITE, 'requests tokens that expire, since Zendesk gives older clients no refresh token otherwise'],
      },
    },
    {
      aspect: 'paging',
      statement: 'Lists by offset end with an error after 100 pages.',
      ...{ link: 'https://github.com/cloudbees-oss/zendesk-java-client/issues/732', date: '2024-12-14' },
      evidence: { test: [SUITE, 'is listed by category and section, without drafts'] },
    },
    {
      aspect: 'paging',
      statement: 'A list without page[size] has numbered pages and no `meta`; its next page is in next_page.',
      ...{ link: airbyte(26_055), date: '2023-05-14' },
      evidence: { test: [SUITE, 'reads all pages of lists that support only page numbers, no cursors'], fixed: true },
    },
    {
      aspect: 'paging',
      statement: 'Exports of articles have no end_of_stream: the missing next_page is their end.',
      ...{ link: 'https://github.com/airbytehq/airbyte/pull/33680', date: '2023-12-20' },
      evidence: { test: [SUITE, 'reads all pages of lists that support only page numbers, no cursors'] },
    },
    {
      aspect: 'changes',
      statement: 'After the first request of the export, only its cursor may be used: a start time skips tickets.',
      ...{ link: airbyte(28_173), date: '2023-07-11' },
      evidence: {
        test: [SUITE, 'are reported by the change feed to administrators; after 50 syncs, its cursor is stale'],
      },
    },
    {
      aspect: 'listing',
      statement: 'Tickets are archived 120 days after their solution, and lists omit them; the export does not.',
      ...{ link: airbyte(10_613), date: '2022-02-24' },
      evidence: { test: [SUITE, 'are listed without archived ones if the account may not export'] },
    },
    {
      aspect: 'limits',
      statement: 'Long pages of exports are answered with 504.',
      ...{ link: 'https://github.com/airbytehq/airbyte/pull/33435', date: '2023-12-13' },
      evidence: {
        reason:
          'Pages of the export have 500 tickets of the 1,000 that Zendesk allows, without comments; 504 is retried.',
        file: 'connectors/zendesk/tickets.ts',
      },
    },
    {
      aspect: 'limits',
      statement: 'A 429 states its wait in Retry-After.',
      ...{ link: airbyte(11_899), date: '2022-04-12' },
      evidence: {
        test: [
          'test/connectors/sourceClient.test.ts',
          'delays the retry by Retry-After or by the header of the source',
        ],
      },
    },
    {
      aspect: 'limits',
      statement: 'Since 2023-08-22 Zendesk limits lists by offset more strictly than those by cursor.',
      ...{ link: airbyte(26_353), date: '2023-05-22' },
      evidence: { reason: 'Every list requests a cursor first (page[size]).', file: 'connectors/zendesk/api.ts' },
    },
    {
      aspect: 'deletions',
      statement: 'Drafts are listed with published articles.',
      ...{ link: 'https://github.com/onyx-dot-app/onyx/commit/2a8e53c94f', date: '2024-03-11' },
      evidence: { test: [SUITE, 'is listed by category and section, without drafts'] },
    },
    {
      aspect: 'formats',
      statement: 'The author of a comment may be a deleted user, or -1; a request for it is answered with 400 or 404.',
      ...{ link: onyx(3168), date: '2024-11-23' },
      evidence: {
        reason: 'Authors come with the comments (include=users); an unknown one has no name.',
        file: 'connectors/zendesk/tickets.ts',
      },
    },
  ],
};
