import { beforeAll, describe, expect, test } from '@jest/globals';

import { answerFault } from '../../../support/contract.js';
import type { GitHubFixture } from '../../../support/sourceFixtures/github.js';
import { ADA, issueRow, discussionsOfAtlas } from '../../../support/sourceFixtures/githubDiscussions.js';
import { type Catalogue, Customer } from '../../../support/sourceFixtures/catalogue.js';

type Row = Readonly<Record<string, unknown>>;
interface Page {
  readonly data: readonly Row[];
  readonly next_cursor: string | null;
}
const BASE_PATH = '/integrations/data/github';

export function defineGithubReadTests(catalogue: Catalogue): void {
  const customer = new Customer(catalogue, 'GITHUB');
  const github = () => (customer.fixture as GitHubFixture).emulator;
  let source = 0;

  /** Requests a list. Expects the answer to match our OpenAPI document and that of the public contract. */
  const list = async (what: string, body: object = {}): Promise<{ status: number; body: Page }> => {
    const request = { data_source_id: source, repository: 'ada/atlas', ...body };
    const { status, body: answer } = await customer.user.post<Page>(`${BASE_PATH}/${what}`, request);
    const operation = { method: 'post', path: `${BASE_PATH}/${what}`, status };
    expect([answerFault('ours', operation, answer), answerFault('theirs', operation, answer)]).toEqual([null, null]);
    return { status, body: answer };
  };
  const readOne = async (kind: string, number: unknown, query = `&repository=ada/atlas`) => {
    const { status, body } = await customer.user.get<Row>(
      `${BASE_PATH}/${kind}/${String(number)}?data_source_id=${source}${query}`,
    );
    const path = `${BASE_PATH}/${kind}/{${kind === 'issues' ? 'issue' : 'pull'}_number}`;
    const operation = { method: 'get', path, status };
    expect([answerFault('ours', operation, body), answerFault('theirs', operation, body)]).toEqual([null, null]);
    return { status, body };
  };
  const numbers = async (what: string, body: object = {}) =>
    (await list(what, body)).body.data.map(({ number }) => number);
  const requestedUrls = () => github().requests.map((path) => new URL(path, 'http://github'));

  describe('requests for issues and pull requests of GITHUB', () => {
    beforeAll(async () => {
      await customer.resetAndCreateUser();
      github().repositories['ada/atlas']!.discussions = discussionsOfAtlas();
      source = (await customer.connect()).id;
    });

    test('return an issue in full, also when it is a pull request', async () => {
      expect(await readOne('issues', 4)).toEqual({
        status: 200,
        body: {
          ...{ id: 904, number: 4, title: 'Issue 4', body: 'On 4.', user: ADA, labels: [{ id: 5, name: 'bug' }] },
          ...{ url: 'https://api.github.com/repos/ada/atlas/issues/4', num_comments: 0, draft: false, locked: true },
          ...{ html_url: 'https://github.com/ada/atlas/issues/4', state: 'closed', closed_at: '2026-03-09T10:00:00Z' },
          ...{ created_at: '2026-03-04T10:00:00Z', updated_at: '2026-03-04T10:00:00Z', pull_request: null },
          ...{ closed_by: { id: 4_002, login: 'ben' }, remote_data: null },
        },
      });
      const pull = await readOne('issues', 2, '&repository=ada/atlas&include_remote_data=true');
      expect(pull.body).toMatchObject({
        ...{ body: '', draft: true, closed_by: null, remote_data: { node_id: 'I_2', assignee: null } },
        pull_request: { url: 'https://api.github.com/repos/ada/atlas/pulls/2', merged_at: null },
      });
    });

    test('return a pull request in full, with the counts that lists omit', async () => {
      const inList = {
        ...{ id: 802, number: 2, state: 'open', title: 'Pull 2', user: { id: 4_002, login: 'ben' }, draft: true },
        ...{ url: 'https://api.github.com/repos/ada/atlas/pulls/2', closed_at: null, merged_at: null, labels: [] },
        ...{ created_at: '2026-03-02T10:00:00Z', updated_at: '2026-03-02T10:00:00Z', requested_reviewers: [ADA] },
        requested_teams: [{ id: 6, name: 'Keepers' }],
        head: { label: 'ben:topic-2', ref: 'topic-2', sha: 'a2' },
        base: { label: 'ada:main', ref: 'main', sha: 'b0' },
        remote_data: null,
      };
      expect((await list('pull_requests')).body).toEqual({ data: [inList], next_cursor: null });
      const counts = { merged: false, num_comments: 1, num_review_comments: 2, num_commits: 3, num_additions: 4 };
      expect((await readOne('pull_requests', 2)).body).toEqual({
        ...inList,
        ...counts,
        num_deletions: 5,
        num_changed_files: 6,
      });
      // GitHub names deleted users "ghost".
      expect((await readOne('pull_requests', 5)).body).toMatchObject({ user: { login: 'ghost' }, merged: true });
    });

    test('return comments, commits and files of a pull request in full', async () => {
      const { data } = (await list('pull_requests/comments', { pull_number: 2, include_remote_data: true })).body;
      expect(data[0]).toEqual({
        ...{ id: 601, pull_request_review_id: 60, url: 'https://api.github.com/repos/ada/atlas/pulls/comments/601' },
        ...{ diff_hunk: '@@ -1 +1 @@', path: 'boats.md', user: ADA, body: 'Comment 1', start_line: null, line: 7 },
        ...{ created_at: '2026-03-01T10:00:00Z', updated_at: '2026-03-29T10:00:00Z' },
        remote_data: expect.objectContaining({ side: 'RIGHT' }),
      });
      expect(data[1]).toMatchObject({ start_line: 5, pull_request_review_id: null });
      const ids = async (body: object) =>
        (await list('pull_requests/comments', { pull_number: 2, ...body })).body.data.map(({ id }) => id);
      expect(await ids({ order_dir: 'desc' })).toEqual([603, 602, 601]);
      expect(await ids({ order_by: 'updated' })).toEqual([603, 602, 601]);
      expect((await list('pull_requests/commits', { pull_number: 2 })).body.data).toEqual([
        {
          commit: {
            ...{ author: { name: 'Ben', email: 'ben@harbour.example' }, committer: null, message: 'Commit c1' },
            ...{ url: 'https://api.github.com/repos/ada/atlas/git/commits/c1', comment_count: 0 },
            tree: { sha: 'tc1', url: 'https://api.github.com/repos/ada/atlas/git/trees/tc1' },
          },
          ...{ url: 'https://api.github.com/repos/ada/atlas/commits/c1', author: { id: 4_002, login: 'ben' } },
          ...{ committer: null, remote_data: null },
        },
        expect.objectContaining({ author: null, committer: ADA }),
      ]);
      const files = (await list('pull_requests/files', { pull_number: 2 })).body.data;
      expect(files[0]).toEqual({
        ...{ sha: 'f1', filename: 'boats.md', status: 'renamed', additions: 1, deletions: 2, changes: 3 },
        ...{ blob_url: 'https://github.com/ada/atlas/blob/a2/boats.md', remote_data: null },
        raw_url: 'https://github.com/ada/atlas/raw/a2/boats.md',
        contents_url: 'https://api.github.com/repos/ada/atlas/contents/boats.md?ref=a2',
      });
      expect(files.map(({ status }) => status)).toEqual(['renamed', 'added', 'changed']);
    });

    test('filter and order lists as requested; by default they list open ones, oldest first', async () => {
      expect(await numbers('issues')).toEqual([1, 2, 3]);
      expect(await numbers('issues', { filters: { state: 'closed' } })).toEqual([4]);
      expect(await numbers('issues', { filters: { state: 'all' }, order_dir: 'desc' })).toEqual([4, 3, 2, 1]);
      expect(await numbers('issues', { order_by: 'updated', order_dir: null })).toEqual([2, 3, 1]);
      expect(await numbers('issues', { order_by: 'comments', order_dir: 'desc' })).toEqual([1, 3, 2]);
      const pulls = (filters: object) => numbers('pull_requests', { filters: { state: 'all', ...filters } });
      expect(await pulls({})).toEqual([2, 5]);
      expect(await pulls({ base: 'release/1', head: null })).toEqual([5]);
      expect(await pulls({ head: 'ben:topic-2' })).toEqual([2]);
      // A head without an owner means a branch of the repository's owner; no pull request has such a head.
      expect(await pulls({ head: 'topic-2' })).toEqual([]);
      expect(await numbers('pull_requests', { order_by: 'popularity', filters: { state: 'closed' } })).toEqual([5]);
    });

    test('page by number and by cursor; beyond the rows that GitHub numbers, only the cursor works', async () => {
      const all = { filters: { state: 'all' }, page_size: 1 };
      expect(await numbers('issues', { ...all, page: 3 })).toEqual([3]);
      expect(await numbers('issues', { ...all, page: 9 })).toEqual([]);
      const walked = async (what: string, body: object): Promise<unknown[]> => {
        const found: unknown[] = [];
        for (let cursor: string | null | undefined; cursor !== null;) {
          const page: Page = (await list(what, { ...body, next_cursor: cursor ?? null })).body;
          found.push(...page.data.map(({ number, filename }) => number ?? filename));
          cursor = page.next_cursor;
        }
        return found;
      };
      expect(await walked('issues', all)).toEqual([1, 2, 3, 4]);
      expect(await walked('pull_requests/files', { pull_number: 2, page_size: 2 })).toHaveLength(3);
      github().limits.numberedRows = 2;
      expect(await walked('issues', all)).toEqual([1, 2, 3, 4]);
      expect(await list('issues', { ...all, page: 3 })).toMatchObject({
        status: 400,
        body: { detail: expect.stringContaining('next_cursor') },
      });
      github().limits.numberedRows = 10_000;
      for (const cursor of ['x', Buffer.from('{"page":7}').toString('base64url')])
        expect(await list('issues', { next_cursor: cursor })).toMatchObject({
          status: 400,
          body: { detail: expect.stringContaining('next_cursor') },
        });
    });

    test('accept a repository by full name, address or name alone; without one, the only repository is used', async () => {
      for (const repository of ['ada/atlas', ' https://github.com/ada/atlas', 'atlas'])
        expect(await numbers('issues', { repository, page_size: 1 })).toEqual([1]);
      expect(await readOne('issues', 1, '')).toMatchObject({
        status: 400,
        body: { detail: expect.stringContaining('owner/name') },
      });
      const { 'ada/atlas': _atlas, ...others } = github().repositories;
      for (const name of Object.keys(others)) delete github().repositories[name];
      expect(await readOne('issues', 1, '&repository=')).toMatchObject({ status: 200, body: { number: 1 } });
      expect((await customer.user.get(`${BASE_PATH}/pull_requests/2`)).status).toBe(200);
      Object.assign(github().repositories, others);
    });

    test('send no request to GitHub for a repository or number that changes the path', async () => {
      github().requests.length = 0;
      for (const repository of [
        '',
        '..',
        '../../../acceptance',
        'ada/..',
        'ada/atlas/../../user',
        'ada%2fatlas/x',
        'ada/atlas?x=1#',
        'a/b\\c',
        'http://evil.example',
      ])
        expect((await list('issues', { repository })).status).toBe(404);
      for (const number of ['1/../../..', '-1', '1e3', '1.5', `${2 ** 60}`])
        expect((await readOne('issues', encodeURIComponent(number))).status).toBe(422);
      expect(requestedUrls()).toEqual([]);
      // A hostile value inside a parameter adds no other parameter.
      await list('pull_requests', { filters: { base: 'main&state=all#', head: 'x:y?z' } });
      expect(requestedUrls().map(({ searchParams }) => searchParams.getAll('state'))).toEqual([['open']]);
    });

    test('answer a missing object with 404, and an invalid request with 422 naming the field', async () => {
      for (const body of [{ repository: 'ada/nowhere' }, { data_source_id: 2 ** 40 }])
        expect((await list('issues', body)).status).toBe(404);
      for (const what of ['comments', 'commits', 'files'])
        expect((await list(`pull_requests/${what}`, { pull_number: 1 })).status).toBe(404);
      for (const [kind, number] of [
        ['issues', 99],
        ['pull_requests', 1],
      ] as const)
        expect(await readOne(kind, number)).toMatchObject({
          status: 404,
          body: { detail: expect.stringContaining('GitHub') },
        });
      const wrong = {
        page: 0,
        page_size: 101,
        order_by: 'popular',
        order_dir: 'up',
        repository: 7,
        include_remote_data: 'x',
      };
      for (const [field, value] of Object.entries({ ...wrong, filters: { state: 'merged' } }))
        expect(await list('issues', { [field]: value })).toMatchObject({
          status: 422,
          body: { detail: [{ loc: expect.arrayContaining(['body', field]) }] },
        });
      expect((await list('pull_requests/files')).status).toBe(422);
    });

    test('wait for the end of a short rate limit, and report a longer one with its duration', async () => {
      github().repositories['ada/atlas']!.discussions!.issues.push(issueRow(6));
      customer.fixture.limit(2);
      expect(await numbers('issues')).toEqual([1, 2, 3, 6]);
      customer.fixture.limit(1, 120);
      const limited = await fetch(
        `${catalogue.service.url}${BASE_PATH}/issues/1?data_source_id=${source}&repository=atlas`,
        {
          headers: { authorization: `Token ${customer.user.token}` },
        },
      );
      expect({ status: limited.status, wait: Number(limited.headers.get('retry-after')) > 60 }).toEqual({
        status: 503,
        wait: true,
      });
    });

    test('answer with 400 if GitHub rejects the token, and with 409 if the access was revoked', async () => {
      await customer.resetAndCreateUser();
      source = (await customer.connect()).id;
      customer.fixture.revokeAccess();
      expect(await list('issues')).toMatchObject({ status: 400, body: { detail: expect.stringContaining('Connect') } });
      await customer.user.post('/revoke_access_token', { data_source_id: source });
      expect((await list('issues')).status).toBe(409);
      expect((await readOne('issues', 1)).status).toBe(409);
    });
  });
}
