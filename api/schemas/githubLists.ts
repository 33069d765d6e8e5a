/** Schemas of requests for lists of GitHub's issues and pull requests. */
import Joi from 'joi';

import { orderDirection } from './enums.js';
import { integer, orNull } from './fields.js';
import { type Shape, typed } from './inferred.js';
import { accountId, remoteData } from './integrations.js';
import { named } from './reference.js';

const text = (description: string) => Joi.string().allow('').description(description);

/** Maximum length of a repository's name or URL, and of a branch name. */
const MAX_NAME = 2_048;
const MAX_CURSOR = 4_096;
/** Returns the schema of a repository's name in a request. */
export const repository = () =>
  Joi.string()
    .allow('')
    .max(MAX_NAME)
    .description(
      'Repository as `owner/name`, such as `octocat/hello-world`, or its URL. The name alone is enough if the connected user owns it. Absent: the only repository of the account; 400 if there are several.',
    );

const filters = <M extends Record<string, Joi.Schema>>(name: string, kind: string, by: string, extraFilters: M) =>
  named(
    name,
    Joi.object({
      state: named(
        'PRStateInput',
        Joi.string()
          .valid('closed', 'open', 'all')
          .description(
            'State of the records to list: `open`, `closed`, or `all` for both. Merged pull requests are `closed`.',
          ),
      )
        .default('open')
        .description(
          `Only ${kind} in this state; \`all\` includes open and closed ones. Merged pull requests are \`closed\`.`,
        ),
      ...extraFilters,
    }).description(`Which ${kind} to list: ${by}.`),
  )
    .default({ state: 'open' })
    .description(`Filters of the ${kind} to list. Without them, all open ones are listed.`);

/** @param orders the orders, with what each means */
const orderedBy = (name: string, kind: string, orders: Readonly<Record<string, string>>) => ({
  order_by: named(
    name,
    Joi.string()
      .valid(...Object.keys(orders))
      .description(
        `Order of ${kind}. ${Object.entries(orders)
          .map(([order, meaning]) => `\`${order}\`: ${meaning}.`)
          .join(' ')}`,
      ),
  )
    .default('created')
    .description(`Value by which GitHub sorts the ${kind}. Default: \`created\`, the time of creation.`),
  order_dir: orNull(orderDirection(), 'asc').description(
    `\`asc\`: the oldest ${kind}, or those with the lowest number, first. \`desc\`: the reverse. Null: \`asc\`.`,
  ),
});
const pull_number = integer()
  .required()
  .description('Number of the pull request within its repository, as in the address of its page: `/pull/7`.');

const branchName = (description: string) => orNull(text(description).max(MAX_NAME));

const TIMES = { created: 'time of creation', updated: 'time of the last change' };

/** Filters and orders of the lists, and the records of a pull request. */
const LIST_FIELDS = {
  issues: {
    filters: filters('IssuesFilter', 'issues', 'open ones, closed ones or both', {}),
    ...orderedBy('IssuesOrderBy', 'issues', { ...TIMES, comments: 'number of comments' }),
  },
  pull_requests: {
    filters: filters('PullRequestFilters', 'pull requests', 'by state and by branches, which must all match', {
      base: branchName(
        'Only pull requests that are to be merged into this branch, such as `main`. Absent, null or empty: any.',
      ),
      head: branchName(
        'Only pull requests whose changes are in this branch: `owner:branch`, or `branch` for one of the repository itself. Absent, null or empty: any.',
      ),
    }),
    ...orderedBy('PROrderBy', 'pull requests', { ...TIMES, popularity: 'number of comments' }),
  },
  comments: { pull_number, ...orderedBy('CommentsOrderBy', 'comments', TIMES) },
  commits: { pull_number },
  files: { pull_number },
} as const satisfies Record<string, Record<string, Joi.Schema>>;
export type GitHubList = keyof typeof LIST_FIELDS;

/** Names of the request and the page of a list in the reference, and what it lists. */
interface GitHubNames {
  readonly request: string;
  readonly page: string;
  readonly records: string;
}

/** Names of the requests and pages of each list in the reference. */
export const GITHUB_NAMES: Readonly<Record<GitHubList, GitHubNames>> = {
  issues: { request: 'IssuesInput', page: 'IssuesResponse', records: 'issues of a repository' },
  pull_requests: {
    request: 'PullRequestsInput',
    page: 'PullRequestResponse',
    records: 'pull requests of a repository',
  },
  comments: { request: 'CommentsInput', page: 'CommentsResponse', records: 'review comments of a pull request' },
  commits: { request: 'CommitsInput', page: 'CommitsResponse', records: 'commits of a pull request' },
  files: { request: 'FilesInput', page: 'FilesResponse', records: 'files that a pull request changes' },
};

const listingFields = () => ({
  data_source_id: accountId(),
  include_remote_data: remoteData(),
  repository: repository()
    .required()
    .description(
      'Repository as `owner/name`, such as `octocat/hello-world`, or its URL. The name alone is enough if the connected user owns it.',
    ),
  page: integer()
    .min(1)
    .default(1)
    .description(
      'Number of the page, from 1 on; `next_cursor` takes precedence. GitHub rejects numbers far into a long list.',
    ),
  page_size: integer()
    .min(1)
    .max(100)
    .default(30)
    .description('Maximum number of records on a page: 30 by default, 100 at most.'),
  next_cursor: orNull(
    text('`next_cursor` of the previous response. Absent, null or empty: `page` determines the page.').max(MAX_CURSOR),
  ),
});

/** Fields of some lists only. */
interface OptionalFields {
  pull_number?: number;
  filters?: { state: string; base?: string; head?: string };
  order_by?: string;
  order_dir?: 'asc' | 'desc';
}

/** Returns the schema of the body of a live list of a repository's records. */
export const gitHubListing = (kind: GitHubList) =>
  typed<Shape<ReturnType<typeof listingFields>> & OptionalFields>(
    named(
      GITHUB_NAMES[kind].request,
      Joi.object({ ...listingFields(), ...LIST_FIELDS[kind] }).description(
        `Which page of the list (${GITHUB_NAMES[kind].records}) to return${'filters' in LIST_FIELDS[kind] || 'order_by' in LIST_FIELDS[kind] ? ', and in which order' : ''}.`,
      ),
    ),
  );
