/** Schemas of GitHub's issues and pull requests in answers. */
import Joi from 'joi';

import { wholeRecord } from './answers.js';
import { integer, nullable } from './fields.js';
import { extension, named } from './reference.js';

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
      id: integer().description('Number of the account, which stays if its login changes.'),
      login: text('Name of the account, which its user can change.'),
    }).description('Account of GitHub. A deleted one is `ghost`.'),
  );
const labels = () =>
  Joi.array()
    .items(
      named(
        'Label',
        wholeRecord({ id: number(), name: text('Text of the label, such as `bug`.') }).description(
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
        wholeRecord({ id: number(), name: text('Name of the team as GitHub shows it.') }).description(
          'Team of an organization at GitHub that can be asked for a review.',
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
  created_at: text('When it was opened or written at GitHub: date and time, ISO 8601.'),
  updated_at: text('When it was last changed at GitHub: date and time, ISO 8601.'),
};
const branch = () =>
  named(
    'HeadOrBase',
    wholeRecord({
      label: text('Owner and branch, `owner:branch`; the branch alone if its fork was deleted.'),
      ref: text('Name of the branch, without the owner of its repository.'),
      sha: text('Hash of the last commit of the branch.'),
    }).description('Branch that a pull request merges, or merges into.'),
  );
const signature = () =>
  nullable(
    named(
      'CommitUser',
      wholeRecord({
        name: text('Name of the person as written in the commit, which may differ from that at GitHub.'),
        email: text('E-mail address as written in the commit. It may be one that GitHub hides behind its own.'),
      }).description('Signature of a commit, as git stores it. It need not belong to an account of GitHub.'),
    ),
  );

export const issue = named(
  'Issue',
  wholeRecord({
    id: number(),
    title: text('Title: the heading in lists and on its page.'),
    url: apiUrl(),
    html_url: text('Address of the page that GitHub shows in a browser.'),
    number: count(
      'Number within the repository, `issue_number` of `GET /integrations/data/github/issues/{issue_number}`.',
    ),
    user: person().description('Account that opened it.'),
    labels: labels(),
    state: state().description('`open` or `closed`, whatever the reason.'),
    locked: flag('Whether only members of the project can comment.'),
    num_comments: count('How many comments it has, without comments on lines of code.'),
    ...times,
    closed_at: maybe('When it was closed, ISO 8601. `null` while open.'),
    draft: flag('Whether it is a pull request that is not ready for review.'),
    body: text('Text in Markdown; empty if there is none.'),
    closed_by: nullable(person()).description('Account that closed it; null while it is open.'),
    pull_request: nullable(
      named(
        'IssuePR',
        wholeRecord({
          url: apiUrl(),
          merged_at: maybe('When the pull request was merged, ISO 8601. `null` before.'),
        }).description('Pull request that has the same number as the issue, and when it was merged.'),
      ),
    ).description('Present if the issue is a pull request; null for all others.'),
    remote_data: extension(remote.remote_data),
  }).description('Issue of a repository. Pull requests are issues with `pull_request`.'),
);

const pullFields = {
  id: number(),
  url: apiUrl(),
  number: count('Number within the repository, `pull_number` of the operations for its comments, commits and files.'),
  state: state().description('`open` or `closed`; `merged_at` says whether a closed one was merged.'),
  title: text('Title: the heading in lists and on its page.'),
  user: person().description('Account that opened the pull request.'),
  ...times,
  closed_at: maybe('When it was closed or merged, ISO 8601. `null` while open.'),
  merged_at: maybe('When it was merged, ISO 8601. `null` if it was not.'),
  requested_reviewers: Joi.array().items(person()).description('People whose review is requested and pending.'),
  requested_teams: teams(),
  labels: labels(),
  draft: flag('Whether it is marked as not ready for review.'),
  head: branch().description('Branch with the changes, which may be in a fork.'),
  base: branch().description('Branch that the changes are to be merged into.'),
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
    diff_hunk: text('Part of the diff that the comment belongs to.'),
    path: text('File that is commented on, within the repository.'),
    user: person().description('Account that wrote the comment.'),
    body: text('What the comment says, in Markdown.'),
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
        author: signature().description('Who wrote the change; null if git has no signature.'),
        committer: signature().description(
          'Who created the commit, for example by a rebase. Null if git has no signature.',
        ),
        message: text('Subject and body, separated by an empty line.'),
        url: apiUrl(),
        comment_count: count('How many comments on it were written at GitHub.'),
        tree: named(
          'Tree',
          wholeRecord({
            sha: text('Hash that identifies the tree in git.'),
            url: apiUrl(),
          }).description('All files of the repository at a commit, as git stores them.'),
        ).description('Files of the repository as they are after the commit.'),
      }).description('Commit as git stores it: message, signatures and tree.'),
    ).description('The commit itself: message, signatures and tree.'),
    url: apiUrl(),
    author: nullable(person()).description('GitHub account of the author; null if the e-mail address belongs to none.'),
    committer: nullable(person()).description(
      'GitHub account of the committer; null if the e-mail address belongs to none.',
    ),
    ...remote,
  }).description('Commit of a pull request, with the accounts of its author and committer if GitHub knows them.'),
);

export const changedFile = named(
  'PRFile',
  wholeRecord({
    sha: text('Hash of the content (blob) in git.'),
    filename: text('Path of the file within the repository, after the change.'),
    additions: count('Number of lines that the pull request adds to the file.'),
    deletions: count('Number of lines that the pull request removes from the file.'),
    changes: count('Number of changed lines: `additions` and `deletions` together.'),
    status: named(
      'FileStatus',
      Joi.string()
        .valid('added', 'removed', 'modified', 'renamed', 'copied', 'changed', 'unchanged')
        .description('Whether a pull request adds, changes, moves or removes a file.'),
    ).description('Whether the pull request adds, changes, renames or removes the file.'),
    blob_url: text('Page that shows the file in the browser.'),
    raw_url: text('Address from which GitHub returns the content of the file.'),
    contents_url: text('Where the API of GitHub returns the file.'),
    ...remote,
  }).description('File that a pull request changes, with counts of lines.'),
);
