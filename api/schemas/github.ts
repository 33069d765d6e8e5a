/** Schemas of the operations on GitHub's issues and pull requests. */
import Joi from 'joi';

import { wholeRecord } from './answers.js';
import { integer, nullable, orNull } from './fields.js';
import { type Shape, typed } from './inferred.js';

const text = () => Joi.string().allow('');
const maybe = () => nullable(text());
const person = () => wholeRecord({ id: integer(), login: text() });
const named = () => Joi.array().items(wholeRecord({ id: integer(), name: text() }));
const state = () => Joi.string().valid('closed', 'open');
const remote = { remote_data: nullable(Joi.object().unknown()) };
const times = { created_at: text(), updated_at: text() };
const branch = () => wholeRecord({ label: text(), ref: text(), sha: text() });
const signature = () => nullable(wholeRecord({ name: text(), email: text() }));

export const issue = wholeRecord({
  ...{ id: integer(), title: text(), url: text(), html_url: text(), number: integer(), user: person() },
  ...{ labels: named(), state: state(), locked: Joi.boolean(), num_comments: integer(), ...times },
  ...{ closed_at: maybe(), draft: Joi.boolean(), body: text(), closed_by: nullable(person()) },
  pull_request: nullable(wholeRecord({ url: text(), merged_at: maybe() })),
  ...remote,
});

const pullFields = {
  ...{ id: integer(), url: text(), number: integer(), state: state(), title: text(), user: person(), ...times },
  ...{ closed_at: maybe(), merged_at: maybe(), requested_reviewers: Joi.array().items(person()) },
  ...{ requested_teams: named(), labels: named(), draft: Joi.boolean(), head: branch(), base: branch() },
  ...remote,
};
export const pullRequest = wholeRecord(pullFields);
export const wholePullRequest = wholeRecord({
  ...pullFields,
  ...{ merged: Joi.boolean(), num_comments: integer(), num_review_comments: integer(), num_commits: integer() },
  ...{ num_additions: integer(), num_deletions: integer(), num_changed_files: integer() },
});

export const pullComment = wholeRecord({
  ...{ id: integer(), pull_request_review_id: nullable(integer()), url: text(), diff_hunk: text(), path: text() },
  ...{ user: person(), body: text(), ...times, start_line: nullable(integer()), line: nullable(integer()), ...remote },
});

export const pullCommit = wholeRecord({
  commit: wholeRecord({
    ...{ author: signature(), committer: signature(), message: text(), url: text(), comment_count: integer() },
    tree: wholeRecord({ sha: text(), url: text() }),
  }),
  ...{ url: text(), author: nullable(person()), committer: nullable(person()), ...remote },
});

export const changedFile = wholeRecord({
  ...{ sha: text(), filename: text(), additions: integer(), deletions: integer(), changes: integer() },
  status: Joi.string().valid('added', 'removed', 'modified', 'renamed', 'copied', 'changed', 'unchanged'),
  ...{ blob_url: text(), raw_url: text(), contents_url: text(), ...remote },
});

/** Maximum length of a repository's name or URL, and of a branch name. */
const MAX_NAME = 2_048;
const MAX_CURSOR = 4_096;
export const repository = () => text().max(MAX_NAME);

const filters = <M extends Record<string, Joi.Schema>>(more: M) =>
  Joi.object({ state: Joi.string().valid('closed', 'open', 'all').default('open'), ...more }).default({
    state: 'open',
  });

const orderedBy = (...orders: readonly string[]) => ({
  order_by: Joi.string()
    .valid(...orders)
    .default('created'),
  order_dir: orNull(Joi.string().valid('asc', 'desc'), 'asc'),
});
const pull_number = integer().required();

/** Filters and orders of the lists, and the records of a pull request. */
const OWN = {
  issues: { filters: filters({}), ...orderedBy('created', 'updated', 'comments') },
  pull_requests: {
    filters: filters({ base: orNull(text().max(MAX_NAME)), head: orNull(text().max(MAX_NAME)) }),
    ...orderedBy('created', 'updated', 'popularity'),
  },
  comments: { pull_number, ...orderedBy('created', 'updated') },
  commits: { pull_number },
  files: { pull_number },
} as const satisfies Record<string, Record<string, Joi.Schema>>;
export type GitHubList = keyof typeof OWN;

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
  typed<Shape<ReturnType<typeof listingFields>> & OwnFields>(Joi.object({ ...listingFields(), ...OWN[kind] }));
