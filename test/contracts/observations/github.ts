import { elastic, onyx, type SourceObservations } from './observation.js';

const SUITE = 'test/connectors/github.test.ts';

export const github: SourceObservations = {
  source: 'GitHub',
  facts: [
    {
      about: 'listing',
      fact: 'Trees of a repository without commits are answered with 409, "Git Repository is empty".',
      ...{ seen: onyx(13_065), date: '2026-07-16' },
      ours: { test: [SUITE, 'of a repository without commits are empty'] },
    },
    {
      about: 'listing',
      fact: 'The specification does not mention that 409.',
      ...{ seen: 'https://github.com/github/rest-api-description/issues/637', date: '2021-10-21' },
      ours: { test: [SUITE, 'of a repository without commits are empty'] },
    },
    {
      about: 'formats',
      fact: 'The repository of a pull request is null in `head` if its fork was deleted, which the specification excludes.',
      ...{ seen: 'https://github.com/github/rest-api-description/issues/1811', date: '2022-11-04' },
      ours: {
        safe: 'Of `head`, only label, ref and sha are read.',
        in: 'connectors/github/records.ts',
      },
    },
    {
      about: 'formats',
      fact: 'The label and user of `head` are null if the owner of the fork was deleted; only ref and sha are always there.',
      ...{ seen: 'https://github.com/github/rest-api-description/issues/5562', date: '2025-11-04' },
      ours: { test: [SUITE, 'names a branch by its ref if its fork was deleted'] },
    },
    {
      about: 'paging',
      fact: 'A recursive tree ends at 100,000 entries or 7 MB, with `truncated`.',
      ...{ seen: 'https://github.com/dogu-team/dogu/issues/160', date: '2023-07-17' },
      ours: { test: [SUITE, 'that GitHub truncates are listed in parts with the same items'] },
    },
    {
      about: 'paging',
      fact: 'Large repositories are read completely only by their subtrees.',
      ...{ seen: 'https://github.com/getsentry/seer/pull/2326', date: '2025-03-31' },
      ours: { test: [SUITE, 'that GitHub truncates are listed in parts with the same items'] },
    },
    {
      about: 'limits',
      fact: 'The rate limit is 403; the header x-ratelimit-remaining distinguishes it from a missing permission.',
      ...{ seen: elastic(2711), date: '2024-08-12' },
      ours: { test: [SUITE, 'of %s become a Fault of the matching kind and delay'] },
    },
    {
      about: 'OAuth',
      fact: 'Organizations with SAML refuse tokens that were not authorized for them, with 403.',
      ...{ seen: 'https://github.com/cli/cli/issues/7881', date: '2023-08-21' },
      ours: { test: [SUITE, 'of %s become a Fault of the matching kind and delay'] },
    },
    {
      about: 'OAuth',
      fact: 'Such an authorization expires, and its 403 must not be treated as a missing directory.',
      ...{ seen: 'https://github.com/github/app/issues/2079', date: '2026-07-16' },
      ours: {
        safe: '403 is access_denied, which keeps the known contents; only 404 counts as missing.',
        in: 'connectors/errorClasses.ts',
      },
    },
    {
      about: 'paging',
      fact: 'Cursors of lists can be refused later, and a client that restarts may loop endlessly.',
      ...{ seen: onyx(4673), date: '2025-05-09' },
      ours: { safe: 'Lists use page numbers, in the order of creation.', in: 'connectors/github/paging.ts' },
    },
    {
      about: 'deletions',
      fact: 'If errors are ignored while a repository is listed, its files look deleted.',
      ...{ seen: elastic(4119), date: '2026-07-07' },
      ours: { test: [SUITE, 'never treats a broken response as the end of a list'] },
    },
    {
      about: 'changes',
      fact: 'Changes become visible with a delay of up to hours, so a filter by time loses some.',
      ...{ seen: onyx(1073), date: '2024-02-11' },
      ours: { safe: 'Files are compared by the hash of their blob, not by time.', in: 'connectors/github/walkTree.ts' },
    },
    {
      about: 'OAuth',
      fact: 'A check of the header X-OAuth-Scopes by text refuses tokens that have wider scopes.',
      ...{ seen: elastic(1997), date: '2024-01-09' },
      ours: {
        safe: 'The header is not read: fine-grained tokens have none. A missing scope is access_denied.',
        in: 'connectors/github/index.ts',
      },
    },
    {
      about: 'limits',
      fact: 'Requests beyond the limit are refused; a client has to wait until its end.',
      ...{ seen: 'https://github.com/onyx-dot-app/onyx/commit/c2b34f623c', date: '2024-01-23' },
      ours: { test: [SUITE, 'of %s become a Fault of the matching kind and delay'] },
    },
  ],
};
