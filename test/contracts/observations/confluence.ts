import { onyx, type SourceObservations } from './observation.js';

const SUITE = 'test/connectors/confluence.test.ts';
const commit = (hash: string): string => `https://github.com/onyx-dot-app/onyx/commit/${hash}`;

export const confluence: SourceObservations = {
  source: 'Confluence',
  facts: [
    {
      about: 'listing',
      fact: 'The schema of a folder names no space: only the pages and folders in it do.',
      ...{ seen: 'https://developer.atlassian.com/cloud/confluence/rest/v2/api-group-folder/', date: '2026-11' },
      ours: {
        test: [SUITE, 'of an empty folder is not found, because only its contents name its space'],
        fixed: true,
      },
    },
    {
      about: 'OAuth',
      fact: 'Version 2 of the API needs granular scopes, such as read:page:confluence; without them it answers 401.',
      ...{ seen: 'https://github.com/sooperset/mcp-atlassian/pull/766', date: '2025-11-26' },
      ours: {
        test: ['test/connectors/scopes.test.ts', 'requests exactly the scopes that the calls of each source need'],
      },
    },
    {
      about: 'OAuth',
      fact: 'Lists of spaces in version 1 no longer work with OAuth.',
      ...{ seen: onyx(5962), date: '2025-10-28' },
      ours: { safe: 'All requests use version 2.', in: 'connectors/confluence/api.ts' },
    },
    {
      about: 'paging',
      fact: 'A page shorter than the limit may not be the last one; only a missing next link marks the end.',
      ...{ seen: onyx(11_291), date: '2026-05-21' },
      ours: { safe: 'Only a missing next link ends a list.', in: 'connectors/confluence/api.ts' },
    },
    {
      about: 'paging',
      fact: 'A next link may lead to empty results again and again.',
      ...{ seen: onyx(11_291), date: '2026-05-21' },
      ours: {
        test: [SUITE, 'fails instead of reading a page again and again if its next link is its own'],
        fixed: true,
      },
    },
    {
      about: 'limits',
      fact: 'Long pages of lists with contents are answered with 504.',
      ...{ seen: onyx(10_147), date: '2026-04-13' },
      ours: {
        safe: 'Lists request no bodies; each page is read separately.',
        in: 'connectors/confluence/tree.ts',
      },
    },
    {
      about: 'limits',
      fact: 'A rate limit was observed with another status than 429, and with its text in the body.',
      ...{ seen: commit('8e89d00e32'), date: '2024-03-14' },
      ours: {
        safe: 'Other refusals are faults of the request, which are reported or retried; none counts as the end of a list.',
        in: 'connectors/confluence/api.ts',
      },
    },
    {
      about: 'listing',
      fact: 'Drafts of other users are answered with 404 although the list contains them.',
      ...{ seen: onyx(11_468), date: '2026-05-28' },
      ours: { safe: 'Lists request the status `current` only.', in: 'connectors/confluence/tree.ts' },
    },
    {
      about: 'deletions',
      fact: 'Archived pages are listed unless the request asks for current ones.',
      ...{ seen: onyx(1348), date: '2024-05-03' },
      ours: { safe: 'Lists request the status `current` only.', in: 'connectors/confluence/tree.ts' },
    },
    {
      about: 'changes',
      fact: 'CQL reads times in the time zone of the user, which no API returns.',
      ...{ seen: onyx(3265), date: '2024-12-02' },
      ours: {
        safe: 'CQL is not used: changes are found by version numbers in listings.',
        in: 'connectors/confluence/adapter.ts',
      },
    },
    {
      about: 'listing',
      fact: '/children lists pages only; folders and other contents need /direct-children.',
      ...{ seen: 'https://github.com/pchuri/confluence-cli/pull/224', date: '2026-08-06' },
      ours: { test: [SUITE, 'of a page or a folder contains its descendants only'] },
    },
    {
      about: 'listing',
      fact: 'Sites have other hosts than *.atlassian.net too, such as *.jira.com.',
      ...{ seen: onyx(1244), date: '2024-03-23' },
      ours: {
        safe: 'The site is found by its id in the list of accessible resources; the host is only part of links.',
        in: 'connectors/confluence/api.ts',
      },
    },
    {
      about: 'formats',
      fact: 'Mentions of users may lack the attribute that names the user.',
      ...{ seen: commit('f9733f9870'), date: '2024-02-18' },
      ours: { test: [SUITE, 'converts %s'] },
    },
    {
      about: 'formats',
      fact: 'Dates are elements of their own, whose text is lost with the element.',
      ...{ seen: onyx(10_488), date: '2026-04-23' },
      ours: { test: [SUITE, 'converts %s'] },
    },
    {
      about: 'listing',
      fact: 'The author of a version may be null.',
      ...{ seen: commit('dcbb7b85d9'), date: '2023-10-26' },
      ours: { safe: 'Authors are not read.', in: 'connectors/confluence/adapter.ts' },
    },
  ],
};
