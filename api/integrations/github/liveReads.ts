import Joi from 'joi';

import { HttpError } from '../../http/errors.js';
import { type Documentation, type DocumentedOperation, operation } from '../../http/operation.js';
import { pathId } from '../../http/pathId.js';
import { integer, nullable } from '../../schemas/fields.js';
import {
  changedFile,
  GITHUB_NAMES,
  gitHubListing,
  type GitHubList,
  issue,
  pullComment,
  pullCommit,
  pullRequest,
  repository,
  wholePullRequest,
} from '../../schemas/github.js';
import { callSource } from '../callSource.js';
import { accountOf, connectedSourceOf, onlySourceOf } from '../dataSourceOf.js';
import { named } from '../../schemas/reference.js';

const PLACE = '/integrations/data/github';
const absent = (what: string): HttpError =>
  new HttpError(404, `GitHub has no such repository for the connected account, or no such ${what} in it.`);

/** Returns a page of records of a kind, read from GitHub at the time of the call. */
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
        data: Joi.array().items(record).required(),
        next_cursor: nullable(Joi.string()).required(),
      }),
    ),
    async handle({ caller, body, deps }) {
      const source = await connectedSourceOf(caller, body.data_source_id, deps.store, 'GITHUB');
      const asked = {
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
      const found = await callSource('GitHub', (signal) => account.read(kind, asked, signal));
      if (found === null) throw absent('pull request');
      return found;
    },
  });

/** Returns one record by its number, read from GitHub at the time of the call. */
const one = (
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
    summary: `Answers one ${what} of a connected GitHub.`,
    query: Joi.object({
      include_remote_data: Joi.boolean().default(false),
      data_source_id: integer(),
      repository: repository(),
    }),
    answer: record,
    async handle({ caller, params, query, deps }) {
      const number = pathId(params, name);
      const source = await onlySourceOf(caller, query.data_source_id, deps.store, 'GITHUB');
      const asked = { number, repository: query.repository || null, remote: query.include_remote_data };
      const account = accountOf(source, deps);
      const found = await callSource('GitHub', (signal) => account.read(`one of ${kind}`, asked, signal));
      if (found === null) throw absent(what);
      return found;
    },
  });

/** /integrations/data/github/…: issues and pull requests with their comments, commits and files. */
export const gitHubLiveReads: readonly DocumentedOperation[] = [
  list('issues', 'issues', issue, {
    operationId: 'issues_integrations_data_github_issues_post',
    summary: 'Lists the issues of a repository of a connected GitHub.',
    description: [],
  }),
  one('issues', 'issue_number', 'issue', issue, {
    operationId: 'issue_integrations_data_github_issues__issue_number__get',
    description: [],
  }),
  list('pull_requests', 'pull_requests', pullRequest, {
    operationId: 'get_prs_integrations_data_github_pull_requests_post',
    summary: 'Lists the pull requests of a repository of a connected GitHub.',
    description: [],
  }),
  one('pull_requests', 'pull_number', 'pull request', wholePullRequest, {
    operationId: 'get_pr_integrations_data_github_pull_requests__pull_number__get',
    description: [],
  }),
  list('comments', 'pull_requests/comments', pullComment, {
    operationId: 'pr_comments_integrations_data_github_pull_requests_comments_post',
    summary: 'Lists the comments on the code of a pull request.',
    description: [],
  }),
  list('commits', 'pull_requests/commits', pullCommit, {
    operationId: 'pr_commits_integrations_data_github_pull_requests_commits_post',
    summary: 'Lists the commits of a pull request.',
    description: [],
  }),
  list('files', 'pull_requests/files', changedFile, {
    operationId: 'pr_files_integrations_data_github_pull_requests_files_post',
    summary: 'Lists the files that a pull request changes.',
    description: [],
  }),
];
