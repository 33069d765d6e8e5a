/** Schemas of the operations on GitHub's issues and pull requests. */
import Joi from 'joi';

import { wholeRecord } from './answers.js';
import { integer, nullable, orNull } from './fields.js';
import { type Shape, typed } from './inferred.js';
import { extension, named } from './reference.js';
import { orderDirection } from './enums.js';
import { accountId, remoteData } from './integrations.js';

const text = (about: string) => Joi.string().allow('').description(about);
const maybe = (about: string) => nullable(text(about));
const count = (about: string) => integer().description(about);
const flag = (about: string) => Joi.boolean().description(about);
const number = () => integer().description('Id at GitHub, unique among all records of this kind.');
const apiUrl = () => text('Address of the record in the API of GitHub.');
const person = () =>
  named(
    'User',
    wholeRecord({
      id: integer().description('Number of the account at GitHub.'),
      login: text('Name with which the person signs in.'),
    }).description('Account of GitHub. A deleted one is `ghost`.'),
  );
const labels = () =>
  Joi.array()
    .items(
      named(
        'Label',
        wholeRecord({ id: number(), name: text('Word that users see on the issue.') }).description(
          'Label of a repository that is attached to issues.',
        ),
      ),
    )
    .description('Labels that are attached to it, in the order of GitHub.');
const teams = () =>
  Joi.array()
    .items(
      named(
        'Team',
        wholeRecord({ id: number(), name: text('Display form that users see.') }).description(
          'Team of an organization at GitHub.',
        ),
      ),
    )
    .description('Teams whose review is requested and pending.');
const state = () =>
  named(
    'PRState',
    Joi.string()
      .valid('closed', 'open')
      .description('Whether an issue or pull request is still open. A merged one is `closed`.'),
  );
const remote = {
  remote_data: nullable(Joi.object().unknown()).description(
    'The record as GitHub returned it. `null` without `include_remote_data`.',
  ),
};
const times = {
  created_at: text('When it was opened or written, ISO 8601.'),
  updated_at: text('When it last changed, ISO 8601.'),
};
const branch = () =>
  named(
    'HeadOrBase',
    wholeRecord({
      label: text('Owner and branch, `owner:branch`; the branch alone if its fork was deleted.'),
      ref: text('Name of the branch, without its owner.'),
      sha: text('Hash of the last commit of the branch.'),
    }).description('Branch that a pull request merges, or merges into.'),
  );
const signature = () =>
  nullable(
    named(
      'CommitUser',
      wholeRecord({
        name: text('Person as written in the commit.'),
        email: text('E-mail address as written in the commit.'),
      }).description('Signature of a commit, as git stores it. It need not belong to an account of GitHub.'),
    ),
  );

export const issue = named(
  'Issue',
  wholeRecord({
    id: number(),
    title: text('Heading that users see in lists.'),
    url: apiUrl(),
    html_url: text('Address of the page in the browser.'),
    number: count(
      'Number within the repository, `issue_number` of `GET /integrations/data/github/issues/{issue_number}`.',
    ),
    user: person(),
    labels: labels(),
    state: state(),
    locked: flag('Whether only members of the project can comment.'),
    num_comments: count('How many comments users have written below it.'),
    ...times,
    closed_at: maybe('When it was closed, ISO 8601. `null` while open.'),
    draft: flag('Whether it is a pull request that is not ready for review.'),
    body: text('Text in Markdown; empty if there is none.'),
    closed_by: nullable(person()),
    pull_request: nullable(
      named(
        'IssuePR',
        wholeRecord({
          url: apiUrl(),
          merged_at: maybe('When the pull request was merged, ISO 8601. `null` before.'),
        }).description('Pull request that an issue stands for.'),
      ),
    ),
    remote_data: extension(remote.remote_data),
  }).description('Issue of a repository. Pull requests are issues with `pull_request`.'),
);

const pullFields = {
  id: number(),
  url: apiUrl(),
  number: count('Number within the repository, `pull_number` of the operations for its comments, commits and files.'),
  state: state(),
  title: text('Heading that users see in lists.'),
  user: person(),
  ...times,
  closed_at: maybe('When it was closed or merged, ISO 8601. `null` while open.'),
  merged_at: maybe('When it was merged, ISO 8601. `null` if it was not.'),
  requested_reviewers: Joi.array().items(person()).description('People whose review is requested and pending.'),
  requested_teams: teams(),
  labels: labels(),
  draft: flag('Whether it is marked as not ready for review.'),
  head: branch(),
  base: branch(),
  ...remote,
};
export const pullRequest = named(
  'PullRequest',
  wholeRecord(pullFields).description('Pull request of a repository, without counts.'),
);
export const wholePullRequest = named(
  'PullRequestExtended',
  wholeRecord({
    ...pullFields,
    merged: flag('Whether its commits are in the base branch.'),
    num_comments: count('How many comments on it as a whole users have written.'),
    num_review_comments: count('How many comments on lines of its code there are.'),
    num_commits: count('How many commits it adds to the base branch.'),
    num_additions: count('Lines that were added, in all files.'),
    num_deletions: count('Lines that were removed, in all files.'),
    num_changed_files: count('How many files differ from the base branch.'),
  }).description('Pull request of a repository, with counts of comments, commits and lines.'),
);

export const pullComment = named(
  'PRComment',
  wholeRecord({
    id: number(),
    pull_request_review_id: nullable(integer()).description('Review that the comment is part of; `null` if none.'),
    url: apiUrl(),
    diff_hunk: text('Part of the diff that the comment stands below.'),
    path: text('File that is commented on, within the repository.'),
    user: person(),
    body: text('Text of the comment, in Markdown.'),
    ...times,
    start_line: nullable(integer()).description('First line of a comment on several lines; `null` for one line.'),
    line: nullable(integer()).description(
      'Line of the file that is commented on, the last one of several. `null` if the code has changed since.',
    ),
    ...remote,
  }).description('Comment on lines of the code of a pull request.'),
);

export const pullCommit = named(
  'PRCommit',
  wholeRecord({
    commit: named(
      'Commit',
      wholeRecord({
        author: signature(),
        committer: signature(),
        message: text('Subject and body, separated by an empty line.'),
        url: apiUrl(),
        comment_count: count('How many comments on it were written at GitHub.'),
        tree: named(
          'Tree',
          wholeRecord({
            sha: text('Hash of the tree object in git.'),
            url: apiUrl(),
          }).description('Content of the repository at a commit.'),
        ),
      }).description('Commit as git stores it.'),
    ),
    url: apiUrl(),
    author: nullable(person()),
    committer: nullable(person()),
    ...remote,
  }).description('Commit of a pull request, with the accounts of its author and committer if GitHub knows them.'),
);

export const changedFile = named(
  'PRFile',
  wholeRecord({
    sha: text('Hash of the content (blob) in git.'),
    filename: text('Path within the repository, after the change.'),
    additions: count('How many lines were added.'),
    deletions: count('How many lines were removed.'),
    changes: count('Added and removed lines together.'),
    status: named(
      'FileStatus',
      Joi.string()
        .valid('added', 'removed', 'modified', 'renamed', 'copied', 'changed', 'unchanged')
        .description('What a pull request does with a file.'),
    ),
    blob_url: text('Page that shows the file in the browser.'),
    raw_url: text('Address of the raw content at GitHub.'),
    contents_url: text('Where the API of GitHub returns the file.'),
    ...remote,
  }).description('File that a pull request changes, with counts of lines.'),
);

/** Maximum length of a repository's name or URL, and of a branch name. */
const MAX_NAME = 2_048;
const MAX_CURSOR = 4_096;
/** How a request names a repository. */
export const repository = () =>
  Joi.string()
    .allow('')
    .max(MAX_NAME)
    .description(
      '`owner/name`, the address of the repository, or the name alone for one of the connected user. Without it, the only repository of the account is used; several are 400.',
    );

const filters = <M extends Record<string, Joi.Schema>>(name: string, more: M) =>
  named(
    name,
    Joi.object({
      state: named(
        'PRStateInput',
        Joi.string().valid('closed', 'open', 'all').description('Which records are listed, by their state.'),
      ).default('open'),
      ...more,
    }).description('Conditions for the records to list. All conditions must hold.'),
  ).default({ state: 'open' });

const orderedBy = (name: string, ...orders: readonly string[]) => ({
  order_by: named(
    name,
    Joi.string()
      .valid(...orders)
      .description('Order of a list: by time, or by how much users take part.'),
  ).default('created'),
  order_dir: orNull(orderDirection(), 'asc'),
});
const pull_number = integer().required().description('Number of the pull request within its repository.');

const branchName = (about: string) => orNull(text(about).max(MAX_NAME));

/** Filters and orders of the lists, and the records of a pull request. */
const OWN = {
  issues: { filters: filters('IssuesFilter', {}), ...orderedBy('IssuesOrderBy', 'created', 'updated', 'comments') },
  pull_requests: {
    filters: filters('PullRequestFilters', {
      base: branchName('Branch that the pull requests merge into. Absent or empty: any.'),
      head: branchName(
        'Branch that the pull requests merge: `owner:branch`, or a branch of the repository itself. Absent or empty: any.',
      ),
    }),
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
  data_source_id: accountId(),
  include_remote_data: remoteData(),
  repository: repository()
    .required()
    .description('`owner/name`, the address of the repository, or the name alone for one of the connected user.'),
  page: integer()
    .min(1)
    .default(1)
    .description(
      'Number of the page, from 1 on; `next_cursor` takes precedence. GitHub rejects numbers far into a long list.',
    ),
  page_size: integer().min(1).max(100).default(30).description('Maximum number of records on a page, 100 at most.'),
  next_cursor: orNull(
    text('Value of `next_cursor` of the page before. Absent or empty: `page` decides.').max(MAX_CURSOR),
  ),
});

/** Fields of some lists only. */
interface OwnFields {
  pull_number?: number;
  filters?: { state: string; base?: string; head?: string };
  order_by?: string;
  order_dir?: 'asc' | 'desc';
}

/** The body of a live list of a repository's records. */
export const gitHubListing = (kind: GitHubList) =>
  typed<Shape<ReturnType<typeof listingFields>> & OwnFields>(
    named(
      GITHUB_NAMES[kind].request,
      Joi.object({ ...listingFields(), ...OWN[kind] }).description('What to list of a repository, and in which pages.'),
    ),
  );
