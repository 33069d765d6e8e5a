import Joi from 'joi';

import { HttpError } from '../../http/errors.js';
import { type Operation, operation } from '../../http/operation.js';
import { pathId } from '../../http/pathId.js';
import { integer, nullable } from '../../schemas/fields.js';
import {
  changedFile,
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

const PLACE = '/integrations/data/github';
const absent = (what: string): HttpError =>
  new HttpError(404, `GitHub has no such repository for the connected account, or no such ${what} in it.`);

/** Returns a page of records of a kind, read from GitHub at the time of the call. */
const list = (kind: GitHubList, path: string, summary: string, record: Joi.Schema): Operation =>
  operation({
    method: 'post',
    path: `${PLACE}/${path}`,
    auth: 'user',
    summary,
    body: gitHubListing(kind),
    answer: Joi.object({
      data: Joi.array().items(record).required(),
      next_cursor: nullable(Joi.string()).required(),
    }),
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
const one = (kind: 'issues' | 'pull_requests', name: string, what: string, record: Joi.Schema): Operation =>
  operation({
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
export const gitHubLiveReads: readonly Operation[] = [
  list('issues', 'issues', 'Lists the issues of a repository of a connected GitHub.', issue),
  one('issues', 'issue_number', 'issue', issue),
  list('pull_requests', 'pull_requests', 'Lists the pull requests of a repository of a connected GitHub.', pullRequest),
  one('pull_requests', 'pull_number', 'pull request', wholePullRequest),
  list('comments', 'pull_requests/comments', 'Lists the comments on the code of a pull request.', pullComment),
  list('commits', 'pull_requests/commits', 'Lists the commits of a pull request.', pullCommit),
  list('files', 'pull_requests/files', 'Lists the files that a pull request changes.', changedFile),
];
