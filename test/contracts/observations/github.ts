import { elastic, onyx, type SourceObservations } from './observation.js';

const SUITE = 'test/connectors/github.test.ts';

export const github: SourceObservations = {
  source: 'GitHub',
  observations: [
    {
      aspect: 'listing',
      statement: 'Trees of a repository without commits are answered with 409, "Git Repository is empty".',
      ...{ link: onyx(13_065), date: '2026-07-16' },
      evidence: { test: [SUITE, 'of a repository without commits are empty'] },
    },
    {
      aspect: 'listing',
      statement: 'The specification does not mention the 409 for an empty repository.',
      ...{ link: 'https://github.com/github/rest-api-description/issues/637', date: '2021-10-21' },
      evidence: { test: [SUITE, 'of a repository without commits are empty'] },
    },
    {
      aspect: 'formats',
      statement:
        '`head.repo` of a pull request from a deleted fork is null, although the specification does not allow null.',
      ...{ link: 'https://github.com/github/rest-api-description/issues/1811', date: '2022-11-04' },
      evidence: {
        reason: 'Of `head`, only label, ref and sha are read.',
        file: 'connectors/github/records.ts',
      },
    },
    {
      aspect: 'formats',
      statement:
        'The label and user of `head` are null if the owner of the fork was deleted; only ref and sha are always present.',
      ...{ link: 'https://github.com/github/rest-api-description/issues/5562', date: '2025-11-04' },
      evidence: { test: [SUITE, 'names a branch by its ref if its fork was deleted'] },
    },
    {
      aspect: 'paging',
      statement: 'A recursive tree ends at 100,000 entries or 7 MB, with `truncated`.',
      ...{ link: 'https://github.com/dogu-team/dogu/issues/160', date: '2023-07-17' },
      evidence: { test: [SUITE, 'that GitHub truncates are listed in parts with the same items'] },
    },
    {
      aspect: 'paging',
      statement: 'Large repositories are read completely only by their subtrees.',
      ...{ link: 'https://github.com/getsentry/seer/pull/2326', date: '2025-03-31' },
      evidence: { test: [SUITE, 'that GitHub truncates are listed in parts with the same items'] },
    },
    {
      aspect: 'limits',
      statement:
        'Requests beyond the rate limit are answered with 403; the header x-ratelimit-remaining distinguishes it from a missing permission.',
      ...{ link: elastic(2711), date: '2024-08-12' },
      evidence: { test: [SUITE, 'of %s become a Fault of the matching kind and delay'] },
    },
    {
      aspect: 'OAuth',
      statement: 'Organizations with SAML refuse tokens that were not authorized for them, with 403.',
      ...{ link: 'https://github.com/cli/cli/issues/7881', date: '2023-08-21' },
      evidence: { test: [SUITE, 'of %s become a Fault of the matching kind and delay'] },
    },
    {
      aspect: 'OAuth',
      statement: 'The SAML authorization of a token expires; the 403 must not be treated as a missing directory.',
      ...{ link: 'https://github.com/github/app/issues/2079', date: '2026-07-16' },
      evidence: {
        reason: '403 is access_denied, which keeps the known contents; only 404 counts as missing.',
        file: 'connectors/errorClasses.ts',
      },
    },
    {
      aspect: 'paging',
      statement:
        'Cursors of lists can be refused later, and a client that then starts the list again may loop endlessly.',
      ...{ link: onyx(4673), date: '2025-05-09' },
      evidence: { reason: 'Lists use page numbers, in the order of creation.', file: 'connectors/github/paging.ts' },
    },
    {
      aspect: 'deletions',
      statement: 'If errors are ignored while a repository is listed, its files look deleted.',
      ...{ link: elastic(4119), date: '2026-07-07' },
      evidence: { test: [SUITE, 'never treats a broken response as the end of a list'] },
    },
    {
      aspect: 'changes',
      statement: 'Changes become visible with a delay of up to hours, so a filter by time loses some.',
      ...{ link: onyx(1073), date: '2024-02-11' },
      evidence: {
        reason: 'Files are compared by the hash of their blob, not by time.',
        file: 'connectors/github/walkTree.ts',
      },
    },
    {
      aspect: 'OAuth',
      statement:
        'A literal comparison of scope names with the header X-OAuth-Scopes refuses tokens with a wider scope.',
      ...{ link: elastic(1997), date: '2024-01-09' },
      evidence: {
        reason: 'The header is not read: fine-grained tokens have none. A missing scope is access_denied.',
        file: 'connectors/github/index.ts',
      },
    },
    {
      aspect: 'limits',
      statement: 'Requests beyond the limit are refused; a client has to wait until the limit is reset.',
      ...{ link: 'https://github.com/onyx-dot-app/onyx/commit/c2b34f623c', date: '2024-01-23' },
      evidence: { test: [SUITE, 'of %s become a Fault of the matching kind and delay'] },
    },
  ],
};
