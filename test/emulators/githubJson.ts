/** Records of GitHub's REST API with all the fields that it documents as always present. */

export type Row = Readonly<Record<string, unknown>>;
export interface Login {
  readonly id: number;
  readonly login: string;
}

export const API = 'https://api.github.com';
export const WEB = 'https://github.com';
const stamp = '2026-03-03T10:00:00Z';

/** Returns fields whose values are addresses: the base followed by the path of each field. */
const addresses = (base: string, paths: Readonly<Record<string, string>>): Row =>
  Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, `${base}${path}`]));

export const personJson = ({ id, login }: Login): Row => ({
  ...{ id, login, node_id: `U_${id}`, gravatar_id: '', type: 'User', site_admin: false },
  ...{ avatar_url: `https://avatars.githubusercontent.com/u/${id}?v=4`, html_url: `${WEB}/${login}` },
  ...addresses(`${API}/users/${login}`, {
    url: '',
    followers_url: '/followers',
    following_url: '/following{/other_user}',
    gists_url: '/gists{/gist_id}',
    starred_url: '/starred{/owner}{/repo}',
    subscriptions_url: '/subscriptions',
    organizations_url: '/orgs',
    repos_url: '/repos',
    events_url: '/events{/privacy}',
    received_events_url: '/received_events',
  }),
});

/** Returns the profile as GitHub sends it for tokens without the scope `user`. */
export const profileJson = (person: Login, name: string): Row => ({
  ...personJson(person),
  ...{ name, company: null, blog: '', location: null, email: null, hireable: null, bio: null },
  ...{ public_repos: 0, public_gists: 0, followers: 0, following: 0, created_at: stamp, updated_at: stamp },
});

/** Path of each address field of a repository, below its API address. */
const REPOSITORY_PATHS = {
  url: '',
  archive_url: '/{archive_format}{/ref}',
  assignees_url: '/assignees{/user}',
  blobs_url: '/git/blobs{/sha}',
  branches_url: '/branches{/branch}',
  collaborators_url: '/collaborators{/collaborator}',
  comments_url: '/comments{/number}',
  commits_url: '/commits{/sha}',
  compare_url: '/compare/{base}...{head}',
  contents_url: '/contents/{+path}',
  contributors_url: '/contributors',
  deployments_url: '/deployments',
  downloads_url: '/downloads',
  events_url: '/events',
  forks_url: '/forks',
  git_commits_url: '/git/commits{/sha}',
  git_refs_url: '/git/refs{/sha}',
  git_tags_url: '/git/tags{/sha}',
  hooks_url: '/hooks',
  issue_comment_url: '/issues/comments{/number}',
  issue_events_url: '/issues/events{/number}',
  issues_url: '/issues{/number}',
  keys_url: '/keys{/key_id}',
  labels_url: '/labels{/name}',
  languages_url: '/languages',
  merges_url: '/merges',
  milestones_url: '/milestones{/number}',
  notifications_url: '/notifications{?since,all,participating}',
  pulls_url: '/pulls{/number}',
  releases_url: '/releases{/id}',
  stargazers_url: '/stargazers',
  statuses_url: '/statuses/{sha}',
  subscribers_url: '/subscribers',
  subscription_url: '/subscription',
  tags_url: '/tags',
  teams_url: '/teams',
  trees_url: '/git/trees{/sha}',
};

/** Returns a repository with the fields that it has in lists. */
export function repositoryJson(fullName: string, owner: Login, { id, branch }: { id: number; branch: string }): Row {
  const url = `${WEB}/${fullName}`;
  return {
    ...{ id, node_id: `R_${id}`, name: fullName.split('/')[1], full_name: fullName, owner: personJson(owner) },
    ...{ private: true, html_url: url, description: null, fork: false, homepage: null, language: null, license: null },
    ...addresses(`${API}/repos/${fullName}`, REPOSITORY_PATHS),
    ...{ git_url: `git://github.com/${fullName}.git`, ssh_url: `git@github.com:${fullName}.git` },
    ...{ clone_url: `${url}.git`, svn_url: url, mirror_url: null, default_branch: branch, visibility: 'private' },
    ...{ forks: 0, forks_count: 0, stargazers_count: 0, watchers_count: 0, watchers: 0, size: 1 },
    ...{ open_issues: 0, open_issues_count: 0, archived: false, disabled: false },
    ...{ has_issues: true, has_projects: false, has_wiki: false, has_pages: false, has_downloads: true },
    ...{ has_discussions: false, pushed_at: stamp, created_at: stamp, updated_at: stamp },
  };
}

/** Returns a repository as the endpoint for one repository returns it: with more fields than lists have. */
export const singleRepositoryJson = (...of: Parameters<typeof repositoryJson>): Row => ({
  ...repositoryJson(...of),
  ...{ subscribers_count: 0, network_count: 0 },
});

export interface CommitFields {
  readonly tree: string;
  readonly message: string;
  /** Unset: no account has the author's mail address. */
  readonly author?: Row | null;
  readonly committer?: Row | null;
  readonly date?: string;
}

/** Returns a commit by Ben. @param repository `owner/name` */
export function commitJson(repository: string, sha: string, fields: CommitFields): Row {
  const { tree, message, author = null, committer = null, date = stamp } = fields;
  const url = `${API}/repos/${repository}/commits/${sha}`;
  return {
    ...{
      sha,
      url,
      node_id: `C_${sha}`,
      html_url: `${WEB}/${repository}/commit/${sha}`,
      comments_url: `${url}/comments`,
    },
    ...{ author, committer, parents: [] },
    commit: {
      author: { name: 'Ben', email: 'ben@harbour.example', date },
      ...{ committer: null, message, comment_count: 0, url: `${API}/repos/${repository}/git/commits/${sha}` },
      tree: { sha: tree, url: `${API}/repos/${repository}/git/trees/${tree}` },
      verification: { verified: false, reason: 'unsigned', signature: null, payload: null, verified_at: null },
    },
  };
}

/** Returns the addresses of a file or folder. @param kind the path segment of the web address: `blob` or `tree` */
export function locationJson(repository: string, at: { path: string; sha: string; branch: string }, kind: string): Row {
  const { path, sha, branch } = at;
  const url = `${API}/repos/${repository}/contents/${path}?ref=${branch}`;
  const git = `${API}/repos/${repository}/git/${kind === 'tree' ? 'trees' : 'blobs'}/${sha}`;
  const html = `${WEB}/${repository}/${kind}/${branch}/${path}`;
  const raw = `https://raw.githubusercontent.com/${repository}/${branch}/${path}`;
  return {
    ...{ name: path.split('/').at(-1), path, sha, url, git_url: git, html_url: html },
    download_url: kind === 'blob' ? raw : null,
    _links: { self: url, git, html },
  };
}
