import Joi from 'joi';

import { HttpError } from '../../http/errors.js';
import { type Documentation, type DocumentedOperation, operation } from '../../http/operation.js';
import { pathId } from '../../http/pathId.js';
import { nullable } from '../../schemas/fields.js';
import { optionalAccountId, remoteData } from '../../schemas/integrations.js';
import { changedFile, issue, pullComment, pullCommit, pullRequest, wholePullRequest } from '../../schemas/github.js';
import { GITHUB_NAMES, gitHubListing, type GitHubList, repository } from '../../schemas/githubLists.js';
import { callSource, LIVE } from '../callSource.js';
import { accountOf, connectedSourceOf, onlySourceOf } from '../dataSourceOf.js';
import { named } from '../../schemas/reference.js';

/** Text in the descriptions of all list operations. */
const PAGES = `Follow \`next_cursor\` to the last page. A repository or pull request that does not exist, or that the token cannot read, returns 404. ${LIVE}`;
const PLACE = '/integrations/data/github';
const absent = (what: string): HttpError =>
  new HttpError(404, `GitHub has no such repository for the connected account, or no such ${what} in it.`);

/** Creates the operation that returns a page of records of a kind, read from GitHub during the request. */
const list = (
  kind: GitHubList,
  path: string,
  record: Joi.Schema,
  documented: Omit<Documentation, 'tag'> & { readonly summary: string },
): DocumentedOperation =>
  operation({
    ...documented,
    tag: 'Github',
    method: 'post',
    path: `${PLACE}/${path}`,
    auth: 'user',
    body: gitHubListing(kind),
    answer: named(
      GITHUB_NAMES[kind].page,
      Joi.object({
        data: Joi.array()
          .items(record)
          .required()
          .description(
            `The ${GITHUB_NAMES[kind].records} on this page, as GitHub has them now. Empty after the last page.`,
          ),
        next_cursor: nullable(Joi.string())
          .required()
          .description(
            'Cursor of the next page: send it as `next_cursor` in the next request. `null` after the last page.',
          ),
      }).description(
        `One page of the ${GITHUB_NAMES[kind].records}, read from GitHub during the request, and the cursor of the next page.`,
      ),
    ),
    async handle({ caller, body, deps }) {
      const source = await connectedSourceOf(caller, body.data_source_id, deps.store, 'GITHUB');
      const readQuery = {
        repository: body.repository,
        number: body.pull_number ?? null,
        filters: body.filters ?? {},
        orderBy: body.order_by ?? null,
        orderDir: body.order_dir ?? 'asc',
        page: body.page,
        pageSize: body.page_size,
        cursor: body.next_cursor || null,
        remote: body.include_remote_data,
      };
      const account = accountOf(source, deps);
      const found = await callSource('GitHub', (signal) => account.read(kind, readQuery, signal));
      if (found === null) throw absent('pull request');
      return found;
    },
  });

/** Creates the operation that returns one record by its number, read from GitHub during the request. */
const singleRead = (
  kind: 'issues' | 'pull_requests',
  name: string,
  what: string,
  record: Joi.Schema,
  documented: Omit<Documentation, 'tag'>,
): DocumentedOperation =>
  operation({
    ...documented,
    tag: 'Github',
    method: 'get',
    path: `${PLACE}/${kind}/{${name}}`,
    auth: 'user',
    summary: `Get ${what === 'issue' ? 'an issue' : 'a pull request'} of a connected GitHub account`,
    query: Joi.object({
      include_remote_data: remoteData(),
      data_source_id: optionalAccountId(),
      repository: repository(),
    }),
    answer: record,
    async handle({ caller, params, query, deps }) {
      const number = pathId(params, name);
      const source = await onlySourceOf(caller, query.data_source_id, deps.store, 'GITHUB');
      const readQuery = { number, repository: query.repository || null, remote: query.include_remote_data };
      const account = accountOf(source, deps);
      const found = await callSource('GitHub', (signal) => account.read(`one of ${kind}`, readQuery, signal));
      if (found === null) throw absent(what);
      return found;
    },
  });

/** /integrations/data/github/…: issues and pull requests with their comments, commits and files. */
export const gitHubLiveReads: readonly DocumentedOperation[] = [
  list('issues', 'issues', issue, {
    operationId: 'issues_integrations_data_github_issues_post',
    summary: 'List issues of a connected GitHub account',
    description: [
      `Returns a page of the issues of a repository, by default the open ones. GitHub counts pull requests as issues: they have \`pull_request\`. ${PAGES}`,
    ],
    returns: 'One page of issues as GitHub has them now, and the cursor of the next page.',
  }),
  singleRead('issues', 'issue_number', 'issue', issue, {
    operationId: 'issue_integrations_data_github_issues__issue_number__get',
    description: [
      `Returns an issue by its number within its repository. A pull request is an issue too. An issue that does not exist, or that the token cannot read, returns 404. ${LIVE}`,
    ],
    returns: 'The issue as GitHub has it now, with `remote_data` on request. Its comments are not included.',
  }),
  list('pull_requests', 'pull_requests', pullRequest, {
    operationId: 'get_prs_integrations_data_github_pull_requests_post',
    summary: 'List pull requests of a connected GitHub account',
    description: [
      `Returns a page of the pull requests of a repository, by default the open ones. Counts of commits and changed lines are in \`GET /integrations/data/github/pull_requests/{pull_number}\` only. ${PAGES}`,
    ],
    returns:
      'One page of pull requests as GitHub has them now, without numbers of changed lines, and the cursor of the next page.',
  }),
  singleRead('pull_requests', 'pull_number', 'pull request', wholePullRequest, {
    operationId: 'get_pr_integrations_data_github_pull_requests__pull_number__get',
    description: [
      `Returns a pull request by its number, with counts of its comments, commits and changed lines. A pull request that does not exist, or that the token cannot read, returns 404. ${LIVE}`,
    ],
    returns: 'The pull request as GitHub has it now, with its numbers of comments, commits, files and changed lines.',
  }),
  list('comments', 'pull_requests/comments', pullComment, {
    operationId: 'pr_comments_integrations_data_github_pull_requests_comments_post',
    summary: 'List review comments of a pull request',
    description: [
      `Returns a page of the comments on lines of the code. Comments on the pull request as a whole are not included. ${PAGES}`,
    ],
    returns: 'One page of the review comments of the pull request, and the cursor of the next page.',
  }),
  list('commits', 'pull_requests/commits', pullCommit, {
    operationId: 'pr_commits_integrations_data_github_pull_requests_commits_post',
    summary: 'List the commits of a pull request',
    description: [
      `Returns a page of the commits with their authors and hashes. GitHub returns at most 250 commits of a pull request. ${PAGES}`,
    ],
    returns: 'One page of the commits of the pull request, and the cursor of the next page.',
  }),
  list('files', 'pull_requests/files', changedFile, {
    operationId: 'pr_files_integrations_data_github_pull_requests_files_post',
    summary: 'List the files that a pull request changes',
    description: [
      `Returns a page of the changed files with their numbers of added and removed lines. GitHub returns at most 3,000 files of a pull request. ${PAGES}`,
    ],
    returns:
      'One page of the changed files with their numbers of added and removed lines, and the cursor of the next page.',
  }),
];
