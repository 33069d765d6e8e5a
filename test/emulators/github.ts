/**
 * Emulates GitHub on loopback, by its published REST documentation (2022-11-28): one user whose repositories a test
 * changes, with git trees, blobs and contents of their default branches.
 */
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';

import {
  bearerOf,
  type Call,
  type Emulator,
  type InjectedFault as AnyInjectedFault,
  type Refused,
  sendJson,
  startEmulator,
} from './emulator.js';
import { API, commitJson, locationJson, profileJson, repositoryJson, WEB, singleRepositoryJson } from './githubJson.js';
import { type Discussions, answerDiscussion } from './githubDiscussions.js';

export const LOGIN = 'ada';
export const USER_ID = 4_001;
export const GITHUB_TOKEN = 'ghp_lighthouse';

/** A file as a test defines it; `mode` 120000 is a symbolic link, 160000 a submodule. */
export interface EmulatedFile {
  content: string | Buffer;
  readonly mode?: '100644' | '100755' | '120000' | '160000';
}

export interface EmulatedRepository {
  readonly id: number;
  readonly branch: string;
  /** Files by path. Empty: a repository without commits. */
  readonly files: Record<string, EmulatedFile>;
  /** Issues and pull requests. Unset: none. */
  discussions?: Discussions;
}

type GitHubRefused = Refused & { readonly message?: string };
export type InjectedFault = AnyInjectedFault<GitHubRefused>;

export interface GitHubEmulator extends Emulator<GitHubRefused> {
  /** The value of SOURCE_URLS. */
  readonly settings: string;
  /** Repositories by `owner/name`; tests may change them at any time. */
  readonly repositories: Record<string, EmulatedRepository>;
  /** Valid tokens. */
  readonly tokens: Set<string>;
  /** Maximum entries of a tree, maximum bytes that /contents includes, and maximum issues reachable by page number. */
  readonly limits: { entries: number; inlineBytes: number; numberedRows: number };
}

interface Entry {
  readonly path: string;
  readonly mode: string;
  readonly type: 'blob' | 'tree' | 'commit';
  readonly sha: string;
  readonly size?: number;
}

const OWNER = { id: USER_ID, login: LOGIN };

function send(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  const limits = { 'x-ratelimit-limit': '5000', 'x-ratelimit-remaining': '4999' };
  sendJson(response, status, body, { ...limits, ...headers });
}
const refuse = (response: ServerResponse, status: number, message: string, headers?: Record<string, string>): void =>
  send(response, status, { message, documentation_url: 'https://docs.github.com/rest', status: `${status}` }, headers);

const hash = (kind: string, bytes: Buffer | string): string =>
  createHash('sha1')
    .update(`${kind} ${Buffer.byteLength(bytes)}\0`)
    .update(bytes)
    .digest('hex');

/** Types of /contents by file mode. */
const CONTENT_TYPES: Readonly<Record<string, string>> = { '040000': 'dir', '120000': 'symlink', '160000': 'submodule' };

/** Returns the trees of a repository by hash, and each entry by path; '' is the root. */
function gitOf(files: EmulatedRepository['files']) {
  const trees = new Map<string, Entry[]>();
  const entries = new Map<string, Entry>();
  const build = (prefix: string): string => {
    const direct: Entry[] = [];
    const folders = new Set<string>();
    for (const [path, { content, mode = '100644' }] of Object.entries(files)) {
      if (!path.startsWith(prefix)) continue;
      const [name = '', ...more] = path.slice(prefix.length).split('/');
      const common = { path: name, mode, sha: hash('blob', content) };
      if (more.length > 0) folders.add(name);
      else if (mode === '160000') direct.push({ ...common, type: 'commit' });
      else direct.push({ ...common, type: 'blob', size: Buffer.byteLength(content) });
    }
    for (const name of folders)
      direct.push({ path: name, mode: '040000', type: 'tree', sha: build(`${prefix}${name}/`) });
    direct.sort((a, b) => (a.path < b.path ? -1 : 1));
    const sha = hash('tree', JSON.stringify(direct));
    trees.set(sha, direct);
    for (const entry of direct) entries.set(`${prefix}${entry.path}`, entry);
    return sha;
  };
  const root = build('');
  const recursiveTree = (sha: string, prefix = ''): Entry[] =>
    (trees.get(sha) ?? []).flatMap((entry) => {
      const path = `${prefix}${entry.path}`;
      return [{ ...entry, path }, ...(entry.type === 'tree' ? recursiveTree(entry.sha, `${path}/`) : [])];
    });
  return { root, trees, entries, whole: recursiveTree };
}

/** @param perPage maximum page size for repositories, even if a request asks for more */
export async function startGitHub({ perPage = 2 } = {}): Promise<GitHubEmulator> {
  const repositories: GitHubEmulator['repositories'] = {};
  const tokens = new Set([GITHUB_TOKEN]);
  const limits = { entries: 100_000, inlineBytes: 1_048_576, numberedRows: 10_000 };

  const answerPage = (query: URLSearchParams, response: ServerResponse): void => {
    const all = Object.entries(repositories);
    const size = Math.min(perPage, Number(query.get('per_page') ?? 30));
    const page = Number(query.get('page') ?? 1);
    const rows = all
      .slice((page - 1) * size, page * size)
      .map(([name, repository]) => repositoryJson(name, OWNER, repository));
    const to = (number: number, rel: string) =>
      `<https://api.github.com/user/repos?per_page=${size}&page=${number}>; rel="${rel}"`;
    const last = Math.ceil(all.length / size);
    const links = [...(page > 1 ? [to(page - 1, 'prev')] : []), ...(page < last ? [to(page + 1, 'next')] : [])];
    send(response, 200, rows, { link: [...links, to(last, 'last')].join(', ') });
  };

  const answer = ({ request, response, path, query, url }: Call): void => {
    const accept = request.headers.accept ?? '';
    const [resource, owner = '', name = '', part = '', ...rest] = path;
    if (path.join('/') === 'user') return send(response, 200, profileJson(OWNER, 'Ada'));
    if (path.join('/') === 'user/repos') return answerPage(query, response);
    const fullName = `${owner}/${name}`;
    const repository = Object.hasOwn(repositories, fullName) ? repositories[fullName] : undefined;
    if (resource !== 'repos' || !repository) return refuse(response, 404, 'Not Found');
    const { branch, files } = repository;
    if (part === '') return send(response, 200, singleRepositoryJson(fullName, OWNER, repository));
    const discussionAnswer = repository.discussions
      ? answerDiscussion(repository.discussions, [part, ...rest], url, limits.numberedRows)
      : null;
    if (discussionAnswer && 'refused' in discussionAnswer)
      return refuse(response, discussionAnswer.refused, discussionAnswer.message);
    if (discussionAnswer && 'row' in discussionAnswer) return send(response, 200, discussionAnswer.row);
    if (discussionAnswer)
      return send(
        response,
        200,
        discussionAnswer.rows,
        discussionAnswer.link === '' ? {} : { link: discussionAnswer.link },
      );
    const git = gitOf(files);
    const isEmpty = Object.keys(files).length === 0;
    if (part === 'branches') {
      if (isEmpty || rest.join('/') !== branch) return refuse(response, 404, 'Branch not found');
      const protectionUrl = `${API}/repos/${fullName}/branches/${branch}/protection`;
      return send(response, 200, {
        ...{ name: branch, commit: commitJson(fullName, 'c1', { tree: git.root, message: 'All files' }) },
        _links: { self: `${API}/repos/${fullName}/branches/${branch}`, html: `${WEB}/${fullName}/tree/${branch}` },
        ...{ protected: false, protection: { enabled: false }, protection_url: protectionUrl },
      });
    }
    if (part === 'git' && rest[0] === 'trees') {
      if (isEmpty) return refuse(response, 409, 'Git Repository is empty.');
      const sha = rest[1] ?? '';
      if (!git.trees.has(sha)) return refuse(response, 404, 'Not Found');
      const tree = query.get('recursive') === '1' ? git.whole(sha) : (git.trees.get(sha) ?? []);
      const truncated = tree.length > limits.entries;
      return send(response, 200, { sha, tree: tree.slice(0, limits.entries), truncated });
    }
    if (part === 'git' && rest[0] === 'blobs') {
      const found = Object.values(files).find(({ content }) => hash('blob', content) === rest[1]);
      if (!found) return refuse(response, 404, 'Not Found');
      const content = Buffer.from(found.content).toString('base64');
      return send(response, 200, {
        ...{
          sha: rest[1],
          node_id: `B_${rest[1]}`,
          size: Buffer.byteLength(found.content),
          encoding: 'base64',
          content,
        },
        url: `${API}/repos/${fullName}/git/blobs/${rest[1]}`,
      });
    }
    const at = rest.join('/');
    const entry = part === 'contents' ? git.entries.get(at) : undefined;
    if (!entry) return refuse(response, 404, 'Not Found');
    const { sha, size = 0 } = entry;
    const json = (childPath: string, child: Entry) => ({
      ...locationJson(fullName, { path: childPath, sha: child.sha, branch }, child.type === 'tree' ? 'tree' : 'blob'),
      size: child.size ?? 0,
      type: CONTENT_TYPES[child.mode] ?? 'file',
    });
    if (entry.type === 'tree') {
      const children = (git.trees.get(sha) ?? []).map((child) => json(`${at}/${child.path}`, child));
      if (accept !== 'application/vnd.github.object+json') return send(response, 200, children);
      return send(response, 200, { ...json(at, entry), entries: children });
    }
    const fileJson = json(at, entry);
    if (entry.type === 'commit')
      return send(response, 200, { ...fileJson, submodule_git_url: `git://github.com/ada/${at}.git` });
    if (entry.mode === '120000')
      return send(response, 200, { ...fileJson, target: Buffer.from(files[at]!.content).toString() });
    // GitHub breaks the base64 text into lines.
    const text = Buffer.from(files[at]!.content).toString('base64').replace(/.{60}/g, '$&\n');
    const content =
      size > limits.inlineBytes ? { encoding: 'none', content: '' } : { encoding: 'base64', content: text };
    send(response, 200, { ...fileJson, ...content });
  };

  const emulator = await startEmulator<GitHubRefused>({
    admit({ request, response }) {
      const hasUserAgent = (request.headers['user-agent'] ?? '') !== '';
      if (!hasUserAgent)
        refuse(response, 403, 'Request forbidden by administrative rules. Please send a User-Agent header.');
      else if (!tokens.has(bearerOf(request))) refuse(response, 401, 'Bad credentials');
      else return true;
      return false;
    },
    refuse: (response, { status, message = 'no', headers }) => refuse(response, status, message, headers),
    answer,
  });
  return { ...emulator, settings: `GITHUB.api=${emulator.origin}`, repositories, tokens, limits };
}
