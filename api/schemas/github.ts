/** Schemas of GitHub's issues and pull requests in answers. */
import Joi from 'joi';

import { wholeRecord } from './answers.js';
import { integer, nullable } from './fields.js';
import { extension, named } from './reference.js';

const text = (description: string) => Joi.string().allow('').description(description);
const nullableText = (description: string) => nullable(text(description));
const count = (description: string) => integer().description(description);
const flag = (description: string) => Joi.boolean().description(description);
const number = () =>
  integer().description('Id at GitHub, unique among the records of this kind in all repositories. It never changes.');
const apiUrl = () =>
  text(
    'URL of the record in the REST API of GitHub, such as `https://api.github.com/repos/octocat/hello-world/issues/7`. Your own requests to it need a GitHub token if the repository is private.',
  );
const person = () =>
  named(
    'User',
    wholeRecord({
      id: integer().description(
        'Id of the account at GitHub, such as `583231`. A change of its login does not change it.',
      ),
      login: text('Name of the account, unique at GitHub. Its user can change it, so recognize the account by `id`.'),
    }).description('Account of GitHub, of a person or an app. A deleted one is `ghost`, with the id 10137.'),
  );
const labels = () =>
  Joi.array()
    .items(
      named(
        'Label',
        wholeRecord({
          id: number(),
          name: text('Text of the label, such as `bug`, unique within its repository.'),
        }).description('Label that a repository defines, and that is attached to issues and pull requests.'),
      ),
    )
    .description('Labels that are attached to it, in the order of GitHub. Empty if it has none.');
const teams = () =>
  Joi.array()
    .items(
      named(
        'Team',
        wholeRecord({
          id: number(),
          name: text('Display name of the team. Its organization can change it, so recognize the team by `id`.'),
        }).description(
          'Team of an organization at GitHub whose review is requested. Its members are not in the response.',
        ),
      ),
    )
    .description('Teams whose review is requested and pending. After the review, a team is no longer listed.');
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
  created_at: text('When it was created at GitHub: date and time in ISO 8601, such as `2026-01-15T09:30:00Z`.'),
  updated_at: text('When it was last changed at GitHub: date and time in ISO 8601, such as `2026-01-15T09:30:00Z`.'),
};
const branch = () =>
  named(
    'HeadOrBase',
    wholeRecord({
      label: text('Owner and branch, `owner:branch`; the branch alone if its fork was deleted.'),
      ref: text('Name of the branch, without the owner of its repository.'),
      sha: text(
        'SHA-1 hash (40 hexadecimal digits) of the commit of the branch that GitHub has recorded for the pull request. A push to the branch in `head` changes it.',
      ),
    }).description(
      'Branch of a pull request: the one with the changes (`head`), or the one that receives them (`base`).',
    ),
  );
const signature = () =>
  nullable(
    named(
      'CommitUser',
      wholeRecord({
        name: text(
          'Name as written in the commit, such as `Ada Lovelace`. It may differ from the name of the GitHub account.',
        ),
        email: text(
          'E-mail address as written in the commit. GitHub may have replaced it by one of its own, such as `1234+octocat@users.noreply.github.com`.',
        ),
      }).description('Author or committer as written in a git commit. The person need not have a GitHub account.'),
    ),
  );

export const issue = named(
  'Issue',
  wholeRecord({
    id: number(),
    title: text('Title as GitHub shows it, such as `Fix login`: one line of plain text, not Markdown.'),
    url: apiUrl(),
    html_url: text('Address of its page at GitHub, for a browser. A private repository requires a login.'),
    number: count(
      'Number within the repository, as in its address (`/issues/7`): `issue_number` of `GET /integrations/data/github/issues/{issue_number}`.',
    ),
    user: person().description('Account that opened the issue; `ghost` (id 10137) if it was deleted.'),
    labels: labels(),
    state: state().description('`open` or `closed`. The reason of closing is `state_reason` in `remote_data`.'),
    locked: flag('Whether the conversation is locked, so that only accounts with write access can comment.'),
    num_comments: count('Number of comments on the issue, without comments on lines of code of a pull request.'),
    ...times,
    closed_at: nullableText('When it was last closed, ISO 8601. `null` while it is open, also after it was reopened.'),
    draft: flag('Whether it is a pull request that is not ready for review. Always `false` for other issues.'),
    body: text('Text of the issue in Markdown, not rendered. Empty if its author wrote none.'),
    closed_by: nullable(person()).description(
      'Account that closed it. Null while it is open, or if GitHub names no account.',
    ),
    pull_request: nullable(
      named(
        'IssuePR',
        wholeRecord({
          url: apiUrl(),
          merged_at: nullableText(
            'When the pull request was merged, ISO 8601. `null` if it is open, or was closed without a merge.',
          ),
        }).description(
          'Pull request that has the same number as the issue. `GET /integrations/data/github/pull_requests/{pull_number}` returns it.',
        ),
      ),
    ).description('Present if the issue is a pull request, which GitHub counts as an issue too. Null for all others.'),
    remote_data: extension(remote.remote_data),
  }).description(
    'Issue of a GitHub repository. GitHub counts pull requests as issues too: `pull_request` is set only for them.',
  ),
);

const pullFields = {
  id: number(),
  url: apiUrl(),
  number: count(
    'Number within the repository, as in its address (`/pull/7`). Operations for its comments, commits and files take it as `pull_number`.',
  ),
  state: state().description('`open` or `closed`; `merged_at` says whether a closed one was merged.'),
  title: text('Title as GitHub shows it, such as `Fix login`: one line of plain text, not Markdown.'),
  user: person().description('Account that opened the pull request; `ghost` (id 10137) if it was deleted.'),
  ...times,
  closed_at: nullableText(
    'When it was last closed or merged, ISO 8601. `null` while it is open, also after it was reopened.',
  ),
  merged_at: nullableText('When it was merged, ISO 8601. `null` if it is open, or was closed without a merge.'),
  requested_reviewers: Joi.array()
    .items(person())
    .description('Accounts whose review is requested and pending. After its review, an account is no longer listed.'),
  requested_teams: teams(),
  labels: labels(),
  draft: flag('Whether it is marked as not ready for review. GitHub does not merge drafts.'),
  head: branch().description('Branch with the changes. It may be in a fork, whose owner is in `label`.'),
  base: branch().description('Branch of the repository itself that the changes are to be merged into, such as `main`.'),
  ...remote,
};
export const pullRequest = named(
  'PullRequest',
  wholeRecord(pullFields).description(
    'Pull request as lists return it. A single one also has counts of commits and lines.',
  ),
);
export const wholePullRequest = named(
  'PullRequestExtended',
  wholeRecord({
    ...pullFields,
    merged: flag('Whether it was merged, also by a squash or rebase. `merged_at` has the time.'),
    num_comments: count('Number of comments on the pull request as a whole, without those on lines of its code.'),
    num_review_comments: count(
      'Number of comments on lines of its code. The operation for comments of pull requests lists them.',
    ),
    num_commits: count(
      'Number of commits that it adds to the base branch. Lists of its commits have at most 250 of them.',
    ),
    num_additions: count(
      'Number of lines added in all files. A changed line counts as one added and one removed line.',
    ),
    num_deletions: count(
      'Number of lines removed in all files. A changed line counts as one added and one removed line.',
    ),
    num_changed_files: count(
      'Number of files that it changes. `POST /integrations/data/github/pull_requests/files` lists up to 3,000 of them.',
    ),
  }).description('Pull request of a repository, with counts of comments, commits and lines.'),
);

export const pullComment = named(
  'PRComment',
  wholeRecord({
    id: number(),
    pull_request_review_id: nullable(integer()).description(
      'Id at GitHub of the review that the comment is part of. `null` for a comment without a review.',
    ),
    url: apiUrl(),
    diff_hunk: text(
      'Part of the diff that the comment belongs to, in unified format. It ends with the commented line.',
    ),
    path: text('Path of the commented file within the repository, as in `filename` of the changed files.'),
    user: person().description('Account that wrote the comment; `ghost` (id 10137) if it was deleted.'),
    body: text(
      'Text of the comment in Markdown, not rendered. A proposed change is a code block of the kind `suggestion`.',
    ),
    ...times,
    start_line: nullable(integer()).description('First line of a comment on several lines; `null` for one line.'),
    line: nullable(integer()).description(
      'Line of the file that is commented on, the last one of several. `null` if the code has changed since.',
    ),
    ...remote,
  }).description(
    'Review comment on lines of code of a pull request. Comments on the pull request as a whole are not returned.',
  ),
);

export const pullCommit = named(
  'PRCommit',
  wholeRecord({
    commit: named(
      'Commit',
      wholeRecord({
        author: signature().description(
          'Author of the change: name and e-mail address as in the git commit. Null if the commit has none.',
        ),
        committer: signature().description(
          'Name and e-mail address of the person who created the commit, for example by a rebase. Null if the commit has none.',
        ),
        message: text('Whole message: the subject in the first line, then an empty line and the body if there is one.'),
        url: apiUrl(),
        comment_count: count('Number of comments on the commit itself. Comments on its pull request are not included.'),
        tree: named(
          'Tree',
          wholeRecord({
            sha: text(
              'SHA-1 hash of the directory tree in git, 40 hexadecimal digits. GitHub returns the entries of the tree at `url`.',
            ),
            url: apiUrl(),
          }).description(
            'Reference to the root directory of the repository as of a commit. The files are not in the response.',
          ),
        ).description('Git tree of the commit: the hash of the root directory after the commit.'),
      }).description(
        'Commit as git stores it: message, author, committer and tree. The hash of the commit is the last part of `url`.',
      ),
    ).description('The commit as git stores it. The other fields of the record come from GitHub.'),
    url: apiUrl(),
    author: nullable(person()).description('GitHub account of the author; null if the e-mail address belongs to none.'),
    committer: nullable(person()).description(
      'GitHub account of the committer; null if the e-mail address belongs to none.',
    ),
    ...remote,
  }).description(
    'Commit of a pull request. `author` and `committer` are the GitHub accounts of these people, if GitHub knows them.',
  ),
);

export const changedFile = named(
  'PRFile',
  wholeRecord({
    sha: text(
      'Hash of the content in git (SHA-1 of the blob), 40 hexadecimal digits. Equal contents have equal hashes.',
    ),
    filename: text('Path of the file within the repository, after the change: a renamed file has its new path.'),
    additions: count(
      'Number of lines added to the file. A changed line counts here and in `deletions`; a binary file has 0.',
    ),
    deletions: count(
      'Number of lines removed from the file. A changed line counts here and in `additions`; a binary file has 0.',
    ),
    changes: count('Number of changed lines: `additions` and `deletions` together.'),
    status: named(
      'FileStatus',
      Joi.string()
        .valid('added', 'removed', 'modified', 'renamed', 'copied', 'changed', 'unchanged')
        .description(
          'What a pull request does with a file, as GitHub names it. Values that are not in this list become `changed`.',
        ),
    ).description(
      'What the pull request does with the file, such as `added` or `renamed`. An unknown value of GitHub becomes `changed`.',
    ),
    blob_url: text(
      'Address of the web page at GitHub that shows this version of the file. A private repository requires a login.',
    ),
    raw_url: text(
      'Address from which GitHub returns the bytes of this version of the file. A private repository requires a login.',
    ),
    contents_url: text(
      'Address of the file in the REST API of GitHub (`https://api.github.com/…`), which returns its metadata and content. A private repository requires a GitHub token.',
    ),
    ...remote,
  }).description('File that a pull request changes, with counts of lines. `raw_url` is the address of its content.'),
);
