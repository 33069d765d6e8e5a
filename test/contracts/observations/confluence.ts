import { onyx, type SourceObservations } from './observation.js';

const SUITE = 'test/connectors/confluence.test.ts';
const commit = (hash: string): string => `https://github.com/onyx-dot-app/onyx/commit/${hash}`;

export const confluence: SourceObservations = {
  source: 'Confluence',
  observations: [
    {
      aspect: 'listing',
      statement: 'The schema of a folder has no spaceId: only the pages and folders in it have one.',
      ...{ link: 'https://developer.atlassian.com/cloud/confluence/rest/v2/api-group-folder/', date: '2026-11' },
      evidence: {
        test: [SUITE, 'of an empty folder is not found, because only its contents name its space'],
        fixed: true,
      },
    },
    {
      aspect: 'OAuth',
      statement:
        'Version 2 of the API needs granular scopes, such as read:page:confluence; without them it answers 401.',
      ...{ link: 'https://github.com/sooperset/mcp-atlassian/pull/766', date: '2025-11-26' },
      evidence: {
        test: ['test/connectors/scopes.test.ts', 'requests exactly the scopes that the calls of each source need'],
      },
    },
    {
      aspect: 'OAuth',
      statement: 'Lists of spaces in version 1 no longer work with OAuth.',
      ...{ link: onyx(5962), date: '2025-10-28' },
      evidence: { reason: 'All requests use version 2.', file: 'connectors/confluence/api.ts' },
    },
    {
      aspect: 'paging',
      statement: 'A page shorter than the limit may not be the last one; only a missing next link marks the end.',
      ...{ link: onyx(11_291), date: '2026-05-21' },
      evidence: { reason: 'Only a missing next link ends a list.', file: 'connectors/confluence/api.ts' },
    },
    {
      aspect: 'paging',
      statement: 'Next links may lead to empty results endlessly.',
      ...{ link: onyx(11_291), date: '2026-05-21' },
      evidence: {
        test: [SUITE, 'fails if a page links to itself as the next page, instead of reading it forever'],
        fixed: true,
      },
    },
    {
      aspect: 'limits',
      statement: 'Long pages of lists with contents are answered with 504.',
      ...{ link: onyx(10_147), date: '2026-04-13' },
      evidence: {
        reason: 'Lists request no bodies; each page is read separately.',
        file: 'connectors/confluence/tree.ts',
      },
    },
    {
      aspect: 'limits',
      statement: 'A refusal by the rate limit was observed with another status than 429; its body named the limit.',
      ...{ link: commit('8e89d00e32'), date: '2024-03-14' },
      evidence: {
        reason: 'A refusal with any status fails the request, which is retried or reported; none ends a list.',
        file: 'connectors/confluence/api.ts',
      },
    },
    {
      aspect: 'listing',
      statement: 'Drafts of other users are answered with 404 although the list contains them.',
      ...{ link: onyx(11_468), date: '2026-05-28' },
      evidence: { reason: 'Lists request the status `current` only.', file: 'connectors/confluence/tree.ts' },
    },
    {
      aspect: 'deletions',
      statement: 'Archived pages are listed unless the request asks for current ones.',
      ...{ link: onyx(1348), date: '2024-05-03' },
      evidence: { reason: 'Lists request the status `current` only.', file: 'connectors/confluence/tree.ts' },
    },
    {
      aspect: 'changes',
      statement: 'CQL reads times in the time zone of the user, which no API returns.',
      ...{ link: onyx(3265), date: '2024-12-02' },
      evidence: {
        reason: 'CQL is not used: changes are found by version numbers in listings.',
        file: 'connectors/confluence/adapter.ts',
      },
    },
    {
      aspect: 'listing',
      statement: '/children lists pages only; folders and other contents need /direct-children.',
      ...{ link: 'https://github.com/pchuri/confluence-cli/pull/224', date: '2026-08-06' },
      evidence: { test: [SUITE, 'of a page or a folder contains its descendants only'] },
    },
    {
      aspect: 'listing',
      statement: 'Sites have other hosts than *.atlassian.net too, such as *.jira.com.',
      ...{ link: onyx(1244), date: '2024-03-23' },
      evidence: {
        reason: 'Requests contain the id of the site from the list of accessible resources, not its host.',
        file: 'connectors/confluence/api.ts',
      },
    },
    {
      aspect: 'formats',
      statement: 'Mentions of users may lack the attribute that names the user.',
      ...{ link: commit('f9733f9870'), date: '2024-02-18' },
      evidence: { test: [SUITE, 'converts %s'] },
    },
    {
      aspect: 'formats',
      statement: 'Dates are separate elements: a client that drops these elements loses the text of the dates.',
      ...{ link: onyx(10_488), date: '2026-04-23' },
      evidence: { test: [SUITE, 'converts %s'] },
    },
    {
      aspect: 'listing',
      statement: 'The author of a version may be null.',
      ...{ link: commit('dcbb7b85d9'), date: '2023-10-26' },
      evidence: { reason: 'Authors are not read.', file: 'connectors/confluence/adapter.ts' },
    },
  ],
};
