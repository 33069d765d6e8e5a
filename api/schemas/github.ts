/** Schemas of the operations on GitHub's issues and pull requests. */
import Joi from 'joi';

import { wholeRecord } from './answers.js';
import { integer, nullable, orNull } from './fields.js';
import { type Shape, typed } from './inferred.js';
import { extension, named } from './reference.js';
import { orderDirection } from './enums.js';

const text = () => Joi.string().allow('');
const maybe = () => nullable(text());
const person = () => named('User', wholeRecord({ id: integer(), login: text() }));
const labels = () => Joi.array().items(named('Label', wholeRecord({ id: integer(), name: text() })));
const teams = () => Joi.array().items(named('Team', wholeRecord({ id: integer(), name: text() })));
const state = () => named('PRState', Joi.string().valid('closed', 'open'));
const remote = { remote_data: nullable(Joi.object().unknown()) };
const times = { created_at: text(), updated_at: text() };
const branch = () => named('HeadOrBase', wholeRecord({ label: text(), ref: text(), sha: text() }));
const signature = () => nullable(named('CommitUser', wholeRecord({ name: text(), email: text() })));

export const issue = named(
  'Issue',
  wholeRecord({
    ...{ id: integer(), title: text(), url: text(), html_url: text(), number: integer(), user: person() },
    ...{ labels: labels(), state: state(), locked: Joi.boolean(), num_comments: integer(), ...times },
    ...{ closed_at: maybe(), draft: Joi.boolean(), body: text(), closed_by: nullable(person()) },
    pull_request: nullable(named('IssuePR', wholeRecord({ url: text(), merged_at: maybe() }))),
    remote_data: extension(remote.remote_data),
  }),
);

const pullFields = {
  ...{ id: integer(), url: text(), number: integer(), state: state(), title: text(), user: person(), ...times },
  ...{ closed_at: maybe(), merged_at: maybe(), requested_reviewers: Joi.array().items(person()) },
  ...{ requested_teams: teams(), labels: labels(), draft: Joi.boolean(), head: branch(), base: branch() },
  ...remote,
};
export const pullRequest = named('PullRequest', wholeRecord(pullFields));
export const wholePullRequest = named(
  'PullRequestExtended',
  wholeRecord({
    ...pullFields,
    ...{ merged: Joi.boolean(), num_comments: integer(), num_review_comments: integer(), num_commits: integer() },
    ...{ num_additions: integer(), num_deletions: integer(), num_changed_files: integer() },
  }),
);

export const pullComment = named(
  'PRComment',
  wholeRecord({
    ...{ id: integer(), pull_request_review_id: nullable(integer()), url: text(), diff_hunk: text(), path: text() },
    ...{
      user: person(),
      body: text(),
      ...times,
      start_line: nullable(integer()),
      line: nullable(integer()),
      ...remote,
    },
  }),
);

export const pullCommit = named(
  'PRCommit',
  wholeRecord({
    commit: named(
      'Commit',
      wholeRecord({
        ...{ author: signature(), committer: signature(), message: text(), url: text(), comment_count: integer() },
        tree: named('Tree', wholeRecord({ sha: text(), url: text() })),
      }),
    ),
    ...{ url: text(), author: nullable(person()), committer: nullable(person()), ...remote },
  }),
);

export const changedFile = named(
  'PRFile',
  wholeRecord({
    ...{ sha: text(), filename: text(), additions: integer(), deletions: integer(), changes: integer() },
    status: named(
      'FileStatus',
      Joi.string().valid('added', 'removed', 'modified', 'renamed', 'copied', 'changed', 'unchanged'),
    ),
    ...{ blob_url: text(), raw_url: text(), contents_url: text(), ...remote },
  }),
);

/** Maximum length of a repository's name or URL, and of a branch name. */
const MAX_NAME = 2_048;
const MAX_CURSOR = 4_096;
export const repository = () => text().max(MAX_NAME);

const filters = <M extends Record<string, Joi.Schema>>(name: string, more: M) =>
  named(
    name,
    Joi.object({
      state: named('PRStateInput', Joi.string().valid('closed', 'open', 'all')).default('open'),
      ...more,
    }),
  ).default({ state: 'open' });

const orderedBy = (name: string, ...orders: readonly string[]) => ({
  order_by: named(name, Joi.string().valid(...orders)).default('created'),
  order_dir: orNull(orderDirection(), 'asc'),
});
const pull_number = integer().required();

/** Filters and orders of the lists, and the records of a pull request. */
const OWN = {
  issues: { filters: filters('IssuesFilter', {}), ...orderedBy('IssuesOrderBy', 'created', 'updated', 'comments') },
  pull_requests: {
    filters: filters('PullRequestFilters', { base: orNull(text().max(MAX_NAME)), head: orNull(text().max(MAX_NAME)) }),
    ...orderedBy('PROrderBy', 'created', 'updated', 'popularity'),
  },
  comments: { pull_number, ...orderedBy('CommentsOrderBy', 'created', 'updated') },
  commits: { pull_number },
  files: { pull_number },
} as const satisfies Record<string, Record<string, Joi.Schema>>;
export type GitHubList = keyof typeof OWN;

/** Names of the requests and pages of each list in the reference. */
export const GITHUB_NAMES: Readonly<Record<GitHubList, { readonly request: string; readonly page: string }>> = {
  issues: { request: 'IssuesInput', page: 'IssuesResponse' },
  pull_requests: { request: 'PullRequestsInput', page: 'PullRequestResponse' },
  comments: { request: 'CommentsInput', page: 'CommentsResponse' },
  commits: { request: 'CommitsInput', page: 'CommitsResponse' },
  files: { request: 'FilesInput', page: 'FilesResponse' },
};

const listingFields = () => ({
  data_source_id: integer().required(),
  include_remote_data: Joi.boolean().default(false),
  repository: repository().required(),
  page: integer().min(1).default(1),
  page_size: integer().min(1).max(100).default(30),
  next_cursor: orNull(text().max(MAX_CURSOR)),
});

/** Fields of some lists only. */
interface OwnFields {
  pull_number?: number;
  filters?: { state: string; base?: string; head?: string };
  order_by?: string;
  order_dir?: 'asc' | 'desc';
}

export const gitHubListing = (kind: GitHubList) =>
  typed<Shape<ReturnType<typeof listingFields>> & OwnFields>(
    named(GITHUB_NAMES[kind].request, Joi.object({ ...listingFields(), ...OWN[kind] })),
  );
