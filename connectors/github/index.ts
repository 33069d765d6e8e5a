/**
 * GitHub, with a token: files in the default branches of repositories. Issues and pull requests are not stored, but
 * requested on each call of /integrations/data/github/….
 * https://docs.github.com/en/rest
 */
import { Fault } from '../../contract/failures.js';
import type { Connector } from '../connector.js';
import type { Refusal, SourceClient } from '../accountClient.js';
import type { ContainerPage } from '../sourceItem.js';
import type { ErrorClass } from '../errorClasses.js';
import {
  type ContentJson,
  contentOf,
  entryOf,
  itemOfEntry,
  itemOfRepository,
  partsOf,
  type Repository,
  repositoryFrom,
} from './adapter.js';
import { withCursor } from '../cursors.js';
import { nextPage } from './paging.js';
import { gitHubReads } from './reads.js';
import { nextTree, TREE_CURSOR } from './walkTree.js';
import { bearer } from '../bearer.js';
import { incompleteAnswer } from '../faults.js';
import { asObject, asText } from '../json.js';

/** Credentials supplied by the caller. */
export interface GitHubCredentials {
  /** Login of the token's owner. */
  readonly username: string;
  readonly accessToken: string;
}

const REPOSITORIES_PER_PAGE = 100;
/** Wait after a rate limit if GitHub states no time, as its documentation recommends. */
const DEFAULT_WAIT_MS = 60_000;
/** Media type with which GitHub returns a directory as one object with the SHA of its tree, not as a list. */
const AS_OBJECT = 'application/vnd.github.object+json';

const messageOf = ({ body }: Refusal): string =>
  typeof body === 'object' && body !== null && 'message' in body && typeof body.message === 'string'
    ? body.message
    : '';

/** Whether a refusal is a rate limit: 403 or 429 with a header or text that indicates one. */
const isLimited = (refusal: Refusal): boolean =>
  (refusal.status === 403 || refusal.status === 429) &&
  (refusal.headers['x-ratelimit-remaining'] === '0' ||
    refusal.headers['retry-after'] !== undefined ||
    /rate limit|abuse/i.test(messageOf(refusal)));

/** Returns a page of the repositories that the token can access, and the number of the next page. */
async function fetchRepositories(
  client: SourceClient,
  { number, size }: { readonly number: number; readonly size: number },
): Promise<{ repositories: Repository[]; next: number | null }> {
  // Oldest first, so new repositories do not shift later pages.
  const query = { per_page: String(size), page: String(number), sort: 'created', direction: 'asc' };
  const { values, headers } = await client.list(['user', 'repos'], query);
  return { repositories: values.map((value) => repositoryFrom(asObject(value))), next: nextPage(headers) };
}

/** Returns the content at a path of the default branch. */
async function contentAt(
  client: SourceClient,
  { owner, name, path }: ReturnType<typeof partsOf>,
): Promise<ContentJson> {
  const options = { headers: { accept: AS_OBJECT } };
  const content = await client.get(['repos', owner, name, 'contents', ...path.split('/')], {}, options);
  if (asText(content['type']) === null) throw incompleteAnswer('GitHub', 'the object at the path');
  return content as ContentJson;
}

/** Returns the root tree of the default branch; null for a repository without a commit. */
async function rootTree(
  client: SourceClient,
  { owner, name, branch }: { owner: string; name: string; branch: string },
): Promise<string | null> {
  try {
    const commit = (await client.get(['repos', owner, name, 'branches', branch], {})) as {
      commit?: { sha?: string; commit?: { tree?: { sha?: string } } };
    };
    // The API also accepts a commit's SHA in place of its tree's.
    const sha = commit.commit?.commit?.tree?.sha ?? commit.commit?.sha;
    if (sha === undefined) throw incompleteAnswer('GitHub', 'the commit of the branch');
    return sha;
  } catch (error) {
    if (error instanceof Fault && error.kind === 'not_found') return null;
    throw error;
  }
}

export const github: Connector<GitHubCredentials> = {
  about: {
    listed: 'repositories, directories, files',
    ingested:
      'files of readable formats, and short text of any other name, in default branches; issues and pull requests are not stored: each call of `/integrations/data/github/…` requests them; no submodules, links',
    unchangedBy: "the hash of git's blob",
    limits: '35 MB per file; 1 MB for text files without a known extension; the default branch only',
  },
  headers: ({ accessToken }) => ({
    accept: 'application/vnd.github+json',
    ...bearer({ accessToken }),
    'x-github-api-version': '2022-11-28',
  }),
  classify(refusal): ErrorClass | null {
    if (isLimited(refusal)) return 'rate_limited';
    // The repository has moved (its new name is listed), or it is empty (it has no paths).
    return [301, 302, 307, 308, 409].includes(refusal.status) ? 'not_found' : null;
  },
  waitMs({ headers }, now) {
    if (headers['retry-after'] !== undefined) return null;
    // Seconds since 1970.
    const reset = Number(headers['x-ratelimit-reset'] ?? Number.NaN);
    if (headers['x-ratelimit-remaining'] === '0' && Number.isFinite(reset)) return Math.max(0, reset * 1000 - now);
    return DEFAULT_WAIT_MS;
  },

  async identify(client) {
    const { username } = client.credentials;
    const { id, login } = (await client.get(['user'], {})) as { id?: unknown; login?: unknown };
    if (typeof id !== 'number' || typeof login !== 'string')
      throw new Fault('server_error', 'GitHub returned no user. Try again.');
    if (login.toLowerCase() !== username.trim().toLowerCase())
      throw new Fault('access_denied', 'The token belongs to another GitHub user: give the username of its owner.');
    // A user can change the login but not the id.
    return { account: String(id), metadata: { username: login } };
  },

  async listRoots(client, cursor) {
    const page = { number: cursor === null ? 1 : Number(cursor), size: REPOSITORIES_PER_PAGE };
    const { repositories, next } = await fetchRepositories(client, page);
    return { items: repositories.map(itemOfRepository), next: next === null ? null : String(next) };
  },

  async listContainers(client, page): Promise<ContainerPage> {
    const { repositories, next } = await fetchRepositories(client, page);
    return {
      containers: repositories.map(({ id, fullName: externalId, url }) => ({ id, externalId, url })),
      next,
    };
  },

  listDescendants: withCursor(TREE_CURSOR, async (client: SourceClient, externalId: string, cursor) => {
    if (cursor !== null) return nextTree(client, cursor);
    const { owner, name, path } = partsOf(externalId);
    const repository = repositoryFrom(await client.get(['repos', owner, name], {}));
    const { fullName, url, branch } = repository;
    const treeLocation = { repository: fullName, url, branch };
    if (path === '') {
      const sha = await rootTree(client, { owner, name, branch });
      const requestedItem = itemOfRepository(repository);
      if (sha === null) return { items: [requestedItem], next: null };
      const { items, next } = await nextTree(client, { ...treeLocation, open: [['', sha]] });
      return { items: [requestedItem, ...items], next };
    }
    const entry = entryOf(path, await contentAt(client, { owner, name, path }));
    const requestedItem = itemOfEntry({ ...treeLocation, path: '' }, entry);
    if (entry.type !== 'tree') return { items: [requestedItem], next: null };
    const { items, next } = await nextTree(client, { ...treeLocation, open: [[path, entry.sha]] });
    return { items: [requestedItem, ...items], next };
  }),

  async open(client, externalId) {
    const parts = partsOf(externalId);
    const { owner, name, path } = parts;
    // A sync treats a repository as a file only if it could not be listed. If this request fails too, its error
    // becomes the message of the file.
    const repositoryJson = path === '' ? await client.get(['repos', owner, name], {}) : null;
    const file: ContentJson = repositoryJson === null ? await contentAt(client, parts) : {};
    const isLink = file.type === 'symlink' || file.type === 'submodule';
    if (isLink)
      throw new Fault('unsupported_type', 'This is a link or submodule without text of its own. Sync its target.');
    if (file.type !== 'file' || file.sha === undefined)
      throw new Fault('unsupported_type', 'This has no text of its own: sync the files in it.');
    // The answer omits the content of large files.
    const isComplete = file.encoding === 'base64' && (file.content !== '' || file.size === 0);
    const blob: ContentJson = isComplete
      ? file
      : ((await client.get(['repos', owner, name, 'git', 'blobs', file.sha], {})) as ContentJson);
    if (blob.encoding !== 'base64' || blob.content === undefined)
      throw new Fault('server_error', 'GitHub returned no content of the file. The request is retried automatically.');
    return contentOf(externalId, Buffer.from(blob.content, 'base64'), file);
  },

  reads: gitHubReads,
};
