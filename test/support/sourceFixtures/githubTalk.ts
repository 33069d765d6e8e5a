/** Issues, and pull requests with comments, commits and files, complete as GitHub returns them. */
import { newTalk, type Row, type Talk } from '../../emulators/githubTalk.js';

const API = 'https://api.github.com/repos/ada/atlas';
const WEB = 'https://github.com/ada/atlas';
export const ADA = { id: 4_001, login: 'ada' };
const BEN = { id: 4_002, login: 'ben' };
const person = (account: typeof ADA): Row => ({
  ...account,
  node_id: `U_${account.id}`,
  type: 'User',
  site_admin: false,
});
const day = (number: number): string => `2026-03-${String(number).padStart(2, '0')}T10:00:00Z`;

/** @param number of the issue, also the day of March on which it was created @param more further fields */
export const issueRow = (number: number, more: Row = {}): Row => ({
  ...{ id: 900 + number, node_id: `I_${number}`, number, title: `Issue ${number}`, body: `On ${number}.` },
  ...{ url: `${API}/issues/${number}`, html_url: `${WEB}/issues/${number}`, user: person(ADA), state: 'open' },
  ...{ labels: [{ id: 5, name: 'bug', color: 'f00', default: true }], locked: false, comments: 0, assignee: null },
  ...{ created_at: day(number), updated_at: day(number), closed_at: null, closed_by: null },
  ...more,
});

export const pullRow = (number: number, more: Row = {}): Row => ({
  ...{ id: 800 + number, number, title: `Pull ${number}`, body: null, user: person(BEN), state: 'open', locked: false },
  ...{ url: `${API}/pulls/${number}`, html_url: `${WEB}/pull/${number}`, draft: false, labels: [] },
  ...{ created_at: day(number), updated_at: day(number), closed_at: null, merged_at: null },
  requested_reviewers: [person(ADA)],
  requested_teams: [{ id: 6, name: 'Keepers', slug: 'keepers' }],
  head: { label: `ben:topic-${number}`, ref: `topic-${number}`, sha: `a${number}`, user: person(BEN), repo: null },
  base: { label: 'ada:main', ref: 'main', sha: 'b0', user: person(ADA), repo: { id: 700 } },
  ...{ merged: false, comments: 1, review_comments: 2, commits: 3, additions: 4, deletions: 5, changed_files: 6 },
  ...more,
});

const comment = (number: number, more: Row = {}): Row => ({
  ...{ id: 600 + number, pull_request_review_id: 60, url: `${API}/pulls/comments/${600 + number}`, path: 'boats.md' },
  ...{
    diff_hunk: '@@ -1 +1 @@',
    user: person(ADA),
    body: `Comment ${number}`,
    start_line: null,
    line: 7,
    side: 'RIGHT',
  },
  ...{ created_at: day(number), updated_at: day(30 - number) },
  ...more,
});

const commit = (sha: string, more: Row = {}): Row => ({
  ...{ sha, url: `${API}/commits/${sha}`, author: person(BEN), committer: null, parents: [] },
  commit: {
    author: { name: 'Ben', email: 'ben@harbour.example', date: day(1) },
    committer: null,
    ...{ message: `Commit ${sha}`, tree: { sha: `t${sha}`, url: `${API}/git/trees/t${sha}` } },
    ...{ url: `${API}/git/commits/${sha}`, comment_count: 0, verification: { verified: false } },
  },
  ...more,
});

const changed = (filename: string, status: string): Row => ({
  ...{ sha: 'f1', filename, status, additions: 1, deletions: 2, changes: 3, patch: '@@' },
  ...{ blob_url: `${WEB}/blob/a2/${filename}`, raw_url: `${WEB}/raw/a2/${filename}` },
  contents_url: `${API}/contents/${filename}?ref=a2`,
});

/**
 * Returns issues 1, 3 and 4 (closed), and pull requests 2 (with comments, commits and files) and 5 (merged, by a deleted
 * user).
 */
export function talkOfAtlas(): Talk {
  const talk = newTalk();
  const merged = { state: 'closed', closed_at: day(20), merged_at: day(20) };
  talk.issues.push(
    issueRow(1, { comments: 9, updated_at: day(25) }),
    issueRow(2, { title: 'Pull 2', draft: true, body: null, pull_request: { url: `${API}/pulls/2`, merged_at: null } }),
    issueRow(3, { comments: 4 }),
    issueRow(4, { state: 'closed', closed_at: day(9), closed_by: person(BEN), locked: true }),
  );
  talk.pulls.push(
    pullRow(2, { draft: true }),
    pullRow(5, { ...merged, user: null, base: { label: 'ada:release/1', ref: 'release/1', sha: 'b1' }, merged: true }),
  );
  talk.comments[2] = [comment(1), comment(2, { start_line: 5, pull_request_review_id: null }), comment(3)];
  talk.commits[2] = [commit('c1'), commit('c2', { author: {}, committer: person(ADA) })];
  talk.files[2] = [changed('boats.md', 'renamed'), changed('a b#c.md', 'added'), changed('old.md', 'unknown')];
  return talk;
}
