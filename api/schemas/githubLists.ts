/** Schemas of requests for lists of GitHub's issues and pull requests. */
import Joi from 'joi';

import { orderDirection } from './enums.js';
import { integer, orNull } from './fields.js';
import { type Shape, typed } from './inferred.js';
import { accountId, remoteData } from './integrations.js';
import { named } from './reference.js';

const text = (about: string) => Joi.string().allow('').description(about);

/** Maximum length of a repository's name or URL, and of a branch name. */
const MAX_NAME = 2_048;
const MAX_CURSOR = 4_096;
/** Returns the schema of a repository's name in a request. */
export const repository = () =>
  Joi.string()
    .allow('')
    .max(MAX_NAME)
    .description(
      '`owner/name`, the address of the repository, or the name alone for one of the connected user. Absent: the only repository of the account; 400 if there are several.',
    );

const filters = <M extends Record<string, Joi.Schema>>(name: string, more: M) =>
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
        .description('Only records in this state; `all` includes both. Merged pull requests are `closed`.'),
      ...more,
    }).description('Conditions for the records to list. All conditions must hold.'),
  )
    .default({ state: 'open' })
    .description('Which records to list. All conditions must hold; without them, open ones are listed.');

const orderedBy = (name: string, ...orders: readonly string[]) => ({
  order_by: named(
    name,
    Joi.string()
      .valid(...orders)
      .description('Order of a list: by time, or by the number of comments (`comments`, `popularity`).'),
  )
    .default('created')
    .description('Value by which GitHub sorts the list: a time, or the number of comments.'),
  order_dir: orNull(orderDirection(), 'asc').description(
    '`asc`: the oldest or least first; `desc`: the latest or most first. Null: `asc`.',
  ),
});
const pull_number = integer()
  .required()
  .description('Number of the pull request within its repository, as in the address of its page: `/pull/7`.');

const branchName = (about: string) => orNull(text(about).max(MAX_NAME));

/** Filters and orders of the lists, and the records of a pull request. */
const OWN = {
  issues: { filters: filters('IssuesFilter', {}), ...orderedBy('IssuesOrderBy', 'created', 'updated', 'comments') },
  pull_requests: {
    filters: filters('PullRequestFilters', {
      base: branchName('Branch that the pull requests merge into. Absent, null or empty: any.'),
      head: branchName(
        'Branch that the pull requests merge: `owner:branch`, or a branch of the repository itself. Absent, null or empty: any.',
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
    text('`next_cursor` of the previous response. Absent, null or empty: `page` determines the page.').max(MAX_CURSOR),
  ),
});

/** Fields of some lists only. */
interface OwnFields {
  pull_number?: number;
  filters?: { state: string; base?: string; head?: string };
  order_by?: string;
  order_dir?: 'asc' | 'desc';
}

/** Returns the schema of the body of a live list of a repository's records. */
export const gitHubListing = (kind: GitHubList) =>
  typed<Shape<ReturnType<typeof listingFields>> & OwnFields>(
    named(
      GITHUB_NAMES[kind].request,
      Joi.object({ ...listingFields(), ...OWN[kind] }).description(
        'Records of a repository to list, with their filters, order and page.',
      ),
    ),
  );
