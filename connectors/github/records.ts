/** Converts GitHub's issues, pull requests and related records to those of the contract. */
import type { components } from '@octokit/openapi-types';

import { type Answer, asAnswer, asList, asObject, asText, type Json } from '../json.js';

type Schemas = components['schemas'];
type Pull = Schemas['pull-request'];

const textOf = (value: unknown): string => asText(value) ?? '';
const integerOf = (value: unknown): number | null => (Number.isSafeInteger(value) ? Number(value) : null);
const countOf = (value: unknown): number => integerOf(value) ?? 0;

interface Person {
  readonly id: number;
  readonly login: string;
}
/** GitHub's placeholder for deleted accounts. */
const GHOST: Person = { id: 10_137, login: 'ghost' };

const personOf = (value: unknown): Person | null => {
  const { id, login } = asAnswer<Schemas['simple-user']>(value);
  const [number, name] = [integerOf(id), asText(login)];
  return number === null || name === null ? null : { id: number, login: name };
};
const peopleOf = (value: unknown): readonly Person[] => asList(value).flatMap((person) => personOf(person) ?? []);
const namedOf = (value: unknown): readonly Json[] =>
  asList(value)
    .map(asObject)
    .map(({ id, name }) => ({ id: countOf(id), name: textOf(name) }));
const stateOf = ({ state }: Answer<Pick<Pull, 'state'>>): string => (state === 'open' ? 'open' : 'closed');
const times = (row: Answer<Pick<Pull, 'created_at' | 'updated_at'>>) => ({
  created_at: textOf(row['created_at']),
  updated_at: textOf(row['updated_at']),
});

/** Converts an issue into the contract's record. */
export function issueOf(row: Answer<Schemas['issue']>): Json {
  const pull = asAnswer<NonNullable<Schemas['issue']['pull_request']>>(row['pull_request']);
  return {
    id: countOf(row['id']),
    title: textOf(row['title']),
    url: textOf(row['url']),
    html_url: textOf(row['html_url']),
    number: countOf(row['number']),
    user: personOf(row['user']) ?? GHOST,
    labels: namedOf(row['labels']),
    state: stateOf(row),
    locked: row['locked'] === true,
    num_comments: countOf(row['comments']),
    ...times(row),
    closed_at: asText(row['closed_at']),
    draft: row['draft'] === true,
    // GitHub returns pull requests as issues with an additional field.
    pull_request: asText(pull['url']) === null ? null : { url: pull['url'], merged_at: asText(pull['merged_at']) },
    body: textOf(row['body']),
    closed_by: personOf(row['closed_by']),
  };
}

const branchOf = (value: unknown): Json => {
  const { label, ref, sha } = asAnswer<Pull['head']>(value);
  // The label is missing if the fork was deleted.
  return { label: asText(label) ?? textOf(ref), ref: textOf(ref), sha: textOf(sha) };
};

/** Converts a pull request into the contract's record. */
export const pullOf = (row: Answer<Pull>): Json => ({
  id: countOf(row['id']),
  url: textOf(row['url']),
  number: countOf(row['number']),
  state: stateOf(row),
  title: textOf(row['title']),
  user: personOf(row['user']) ?? GHOST,
  ...times(row),
  closed_at: asText(row['closed_at']),
  merged_at: asText(row['merged_at']),
  requested_reviewers: peopleOf(row['requested_reviewers']),
  requested_teams: namedOf(row['requested_teams']),
  labels: namedOf(row['labels']),
  draft: row['draft'] === true,
  head: branchOf(row['head']),
  base: branchOf(row['base']),
});

/** Converts a pull request with the counts that GitHub returns for single ones only. */
export const wholePullOf = (row: Answer<Pull>): Json => ({
  ...pullOf(row),
  merged: row['merged'] === true,
  num_comments: countOf(row['comments']),
  num_review_comments: countOf(row['review_comments']),
  num_commits: countOf(row['commits']),
  num_additions: countOf(row['additions']),
  num_deletions: countOf(row['deletions']),
  num_changed_files: countOf(row['changed_files']),
});

/** Converts a review comment into the contract's record. */
export const commentOf = (row: Answer<Schemas['pull-request-review-comment']>): Json => ({
  id: countOf(row['id']),
  pull_request_review_id: integerOf(row['pull_request_review_id']),
  url: textOf(row['url']),
  diff_hunk: textOf(row['diff_hunk']),
  path: textOf(row['path']),
  user: personOf(row['user']) ?? GHOST,
  body: textOf(row['body']),
  ...times(row),
  start_line: integerOf(row['start_line']),
  line: integerOf(row['line']),
});

const signatureOf = (value: unknown): Json | null => {
  const { name, email } = asAnswer<Schemas['simple-user']>(value);
  return name === undefined && email === undefined ? null : { name: textOf(name), email: textOf(email) };
};

/** Converts a commit into the contract's record. */
export function commitOf(row: Answer<Schemas['commit']>): Json {
  const commit = asAnswer<Schemas['commit']['commit']>(row['commit']);
  const tree = asAnswer<Schemas['commit']['commit']['tree']>(commit['tree']);
  return {
    commit: {
      author: signatureOf(commit['author']),
      committer: signatureOf(commit['committer']),
      message: textOf(commit['message']),
      tree: { sha: textOf(tree['sha']), url: textOf(tree['url']) },
      url: textOf(commit['url']),
      comment_count: countOf(commit['comment_count']),
    },
    url: textOf(row['url']),
    // GitHub sends null, or an empty object, if the mail address belongs to no GitHub account.
    author: personOf(row['author']),
    committer: personOf(row['committer']),
  };
}

/** The file statuses of the contract. */
const FILE_STATUSES: ReadonlySet<unknown> = new Set(
  'added removed modified renamed copied changed unchanged'.split(' '),
);

/** Converts a changed file into the contract's record. */
export const changedFileOf = (row: Answer<Schemas['diff-entry']>): Json => ({
  sha: textOf(row['sha']),
  filename: textOf(row['filename']),
  status: FILE_STATUSES.has(row['status']) ? row['status'] : 'changed',
  additions: countOf(row['additions']),
  deletions: countOf(row['deletions']),
  changes: countOf(row['changes']),
  blob_url: textOf(row['blob_url']),
  raw_url: textOf(row['raw_url']),
  contents_url: textOf(row['contents_url']),
});
