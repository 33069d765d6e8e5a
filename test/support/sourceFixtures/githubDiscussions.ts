/** Issues, and pull requests with comments, commits and files, complete as GitHub returns them. */
import { commitJson, personJson as person, repositoryJson, type Row } from '../../emulators/githubJson.js';
import { newDiscussions, type Discussions } from '../../emulators/githubDiscussions.js';

const API = 'https://api.github.com/repos/ada/atlas';
const WEB = 'https://github.com/ada/atlas';
export const ADA = { id: 4_001, login: 'ada' };
const BEN = { id: 4_002, login: 'ben' };
const ATLAS = repositoryJson('ada/atlas', ADA, { id: 700, branch: 'main' });
const day = (number: number): string => `2026-03-${String(number).padStart(2, '0')}T10:00:00Z`;

/** @param number of the issue, also the day of March on which it was created @param fields further fields */
export const issueRow = (number: number, fields: Row = {}): Row => ({
  ...{ repository_url: API, labels_url: `${API}/issues/${number}/labels{/name}`, milestone: null, assignees: [] },
  ...{ comments_url: `${API}/issues/${number}/comments`, events_url: `${API}/issues/${number}/events` },
  ...{ id: 900 + number, node_id: `I_${number}`, number, title: `Issue ${number}`, body: `On ${number}.` },
  ...{ url: `${API}/issues/${number}`, html_url: `${WEB}/issues/${number}`, user: person(ADA), state: 'open' },
  labels: [
    { id: 5, node_id: 'L_5', url: `${API}/labels/bug`, name: 'bug', description: null, color: 'f00', default: true },
  ],
  ...{ locked: false, comments: 0, assignee: null },
  ...{ created_at: day(number), updated_at: day(number), closed_at: null, closed_by: null },
  ...fields,
});

const pullAddresses = (number: number): Row => {
  const [url, issue] = [`${API}/pulls/${number}`, `${API}/issues/${number}`];
  const addresses = {
    ...{ html: `${WEB}/pull/${number}`, issue, comments: `${issue}/comments`, commits: `${url}/commits`, self: url },
    ...{ review_comments: `${url}/comments`, review_comment: `${API}/pulls/comments{/number}` },
    statuses: `${API}/statuses/a${number}`,
  };
  const { self, ...otherAddresses } = addresses;
  return {
    ...Object.fromEntries(Object.entries(otherAddresses).map(([name, address]) => [`${name}_url`, address])),
    ...{ url: self, diff_url: `${addresses.html}.diff`, patch_url: `${addresses.html}.patch` },
    _links: Object.fromEntries(Object.entries(addresses).map(([name, href]) => [name, { href }])),
  };
};
const TEAM = {
  ...{ id: 6, node_id: 'T_6', name: 'Keepers', slug: 'keepers', description: null, permission: 'pull', parent: null },
  ...{ url: 'https://api.github.com/teams/6', html_url: 'https://github.com/orgs/harbour/teams/keepers' },
  members_url: 'https://api.github.com/teams/6/members{/member}',
  ...{ repositories_url: 'https://api.github.com/teams/6/repos', type: 'organization' },
};

export const pullRow = (number: number, fields: Row = {}): Row => ({
  ...pullAddresses(number),
  ...{ node_id: `PR_${number}`, milestone: null, assignee: null, merge_commit_sha: null, auto_merge: null },
  ...{ author_association: 'CONTRIBUTOR', mergeable: null, mergeable_state: 'unknown', merged_by: null },
  maintainer_can_modify: false,
  ...{ id: 800 + number, number, title: `Pull ${number}`, body: null, user: person(BEN), state: 'open', locked: false },
  ...{ draft: false, labels: [] },
  ...{ created_at: day(number), updated_at: day(number), closed_at: null, merged_at: null },
  requested_reviewers: [person(ADA)],
  requested_teams: [TEAM],
  head: { label: `ben:topic-${number}`, ref: `topic-${number}`, sha: `a${number}`, user: person(BEN), repo: null },
  base: { label: 'ada:main', ref: 'main', sha: 'b0', user: person(ADA), repo: ATLAS },
  ...{ merged: false, comments: 1, review_comments: 2, commits: 3, additions: 4, deletions: 5, changed_files: 6 },
  ...fields,
});

const comment = (number: number, fields: Row = {}): Row => ({
  ...{ id: 600 + number, pull_request_review_id: 60, url: `${API}/pulls/comments/${600 + number}`, path: 'boats.md' },
  ...{
    diff_hunk: '@@ -1 +1 @@',
    user: person(ADA),
    body: `Comment ${number}`,
    start_line: null,
    line: 7,
    side: 'RIGHT',
  },
  ...{ node_id: `PRRC_${number}`, commit_id: 'a2', original_commit_id: 'a2', author_association: 'OWNER' },
  ...{ html_url: `${WEB}/pull/2#discussion_r${600 + number}`, pull_request_url: `${API}/pulls/2` },
  _links: Object.fromEntries(['self', 'html', 'pull_request'].map((name) => [name, { href: `${API}/pulls/2` }])),
  ...{ created_at: day(number), updated_at: day(30 - number) },
  ...fields,
});

const commit = (sha: string, fields: Row = {}): Row => ({
  ...commitJson('ada/atlas', sha, { tree: `t${sha}`, message: `Commit ${sha}`, author: person(BEN), date: day(1) }),
  ...fields,
});

const changed = (filename: string, status: string): Row => ({
  ...{ sha: 'f1', filename, status, additions: 1, deletions: 2, changes: 3, patch: '@@' },
  ...{ blob_url: `${WEB}/blob/a2/${filename}`, raw_url: `${WEB}/raw/a2/${filename}` },
  contents_url: `${API}/contents/${filename}?ref=a2`,
});

/**
 * Returns issues 1, 3 and 4, of which 4 is closed, and pull requests 2 and 5. Pull request 2 has comments, commits and
 * files; 5 is merged, and its author is deleted.
 */
export function discussionsOfAtlas(): Discussions {
  const discussions = newDiscussions();
  const merged = { state: 'closed', closed_at: day(20), merged_at: day(20) };
  discussions.issues.push(
    issueRow(1, { comments: 9, updated_at: day(25) }),
    issueRow(2, {
      title: 'Pull 2',
      draft: true,
      body: null,
      pull_request: {
        ...{ url: `${API}/pulls/2`, html_url: `${WEB}/pull/2`, merged_at: null },
        ...{ diff_url: `${WEB}/pull/2.diff`, patch_url: `${WEB}/pull/2.patch` },
      },
    }),
    issueRow(3, { comments: 4 }),
    issueRow(4, { state: 'closed', closed_at: day(9), closed_by: person(BEN), locked: true }),
  );
  discussions.pulls.push(
    pullRow(2, { draft: true }),
    pullRow(5, {
      ...merged,
      user: null,
      base: { label: 'ada:release/1', ref: 'release/1', sha: 'b1', user: person(ADA), repo: ATLAS },
      merged: true,
    }),
  );
  discussions.comments[2] = [comment(1), comment(2, { start_line: 5, pull_request_review_id: null }), comment(3)];
  discussions.commits[2] = [commit('c1'), commit('c2', { author: {}, committer: person(ADA) })];
  discussions.files[2] = [changed('boats.md', 'renamed'), changed('a b#c.md', 'added'), changed('old.md', 'changed')];
  return discussions;
}
