/**
 * Reads issues and pull requests from GitHub on each call. https://docs.github.com/en/rest/pulls,
 * …/rest/issues
 */
import { Fault } from '../../contract/failures.js';
import type { GitHubListQuery, LiveReads } from '../../contract/sources/liveReads.js';
import type { Connector, LiveRead } from '../connector.js';
import type { AccountClient, SourceClient } from '../accountClient.js';
import { asObject, asText, type Json } from '../json.js';
import { callerCursor, nonEmpty, queryOf } from '../cursors.js';
import { nextQuery } from './paging.js';
import { changedFileOf, commentOf, commitOf, issueOf, pullOf, wholePullOf } from './records.js';

/** Owner and name of a repository. */
interface Repository {
  readonly owner: string;
  readonly name: string;
}

const ADDRESS = /^https?:\/\/[^/]+\//i;
/** Owner and name, and the `.git` or `/` with which an address may end. GitHub allows no name that ends with `.git`. */
const ENDING = /^([^/]+\/[^/]+?)(?:\.git)?\/?$/;
/** Characters that GitHub allows in owners and names. */
const NAME = /^[\w.-]{1,100}$/;

/**
 * Parses a repository: `owner/name`, its URL, or its name alone for the account's own. Null if it is invalid. The URL
 * may end with a slash, or with `.git` like that of a clone.
 */
function repositoryOf(word: string, account: string): Repository | null {
  const named = word.trim().replace(ADDRESS, '').replace(ENDING, '$1');
  const parts = named.split('/');
  const [owner = '', name = '', ...more] = parts.length === 1 ? [account, ...parts] : parts;
  const isValid = [owner, name].every((part) => NAME.test(part) && part !== '.' && part !== '..');
  return isValid && more.length === 0 ? { owner, name } : null;
}

/** Returns the account's only repository. @throws Fault bad_response if it has none or several */
async function onlyRepository(client: SourceClient, account: string): Promise<Repository | null> {
  const { values } = await client.list(['user', 'repos'], { per_page: '2' });
  const [name] = values.length === 1 ? [asText(asObject(values[0])['full_name'])] : [];
  if (!name) throw new Fault('bad_response', 'The account has no repository, or several. Name one: owner/name.');
  return repositoryOf(name, account);
}

type Query = Readonly<Record<string, string>>;
/** Query of a page: its number, or the query in the previous page's Link header. */
type PagePosition = Query;
/** Long lists use `after`, the others page numbers. */
const PLACES = ['page', 'after'] as const;

const CURSOR = callerCursor<PagePosition>(queryOf(PLACES, nonEmpty));

const placeAfter = (next: URLSearchParams | null): PagePosition | null => {
  const place = PLACES.flatMap((word) => {
    const value = next?.get(word);
    return value ? [[word, value] as const] : [];
  });
  return place.length === 0 ? null : Object.fromEntries(place);
};

/** A type of record of a repository: its path, its query, and its conversion. */
interface Kind {
  path(number: number | null): readonly string[];
  /** Converts the caller's filters to the query; unset: no filters. */
  filter?(filters: GitHubListQuery['filters'], repository: Repository): Query;
  present(row: Json): Json;
}

const issues: Kind = { path: () => ['issues'], filter: ({ state = 'open' }) => ({ state }), present: issueOf };
const pulls: Kind = {
  path: () => ['pulls'],
  filter: ({ state = 'open', base, head }, { owner }) => ({
    state,
    ...(base ? { base } : {}),
    // GitHub ignores a branch without its owner, and would return all pull requests.
    ...(head ? { head: head.includes(':') ? head : `${owner}:${head}` } : {}),
  }),
  present: pullOf,
};
const ofPull = (what: string, present: Kind['present']): Kind => ({
  path: (number) => ['pulls', String(number), what],
  present,
});

const present = (kind: Kind, value: unknown, remote: boolean): Json => ({
  ...kind.present(asObject(value)),
  remote_data: remote ? asObject(value) : null,
});

interface Login {
  readonly username: string;
}

/** Returns null for a record that does not exist or is inaccessible. */
async function orNull<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Fault && error.kind === 'not_found') return null;
    throw error;
  }
}

/** Returns the repository of a request; null if its name is invalid. */
const repositoryOrNull = async (
  client: AccountClient<Login>,
  { repository }: Pick<GitHubListQuery, 'repository'>,
): Promise<Repository | null> => {
  const { username } = client.credentials;
  return repository === null ? onlyRepository(client, username) : repositoryOf(repository, username);
};

const listOf =
  (kind: Kind): LiveRead<Login, LiveReads['issues']> =>
  (client, request) =>
    orNull(async () => {
      const place = request.cursor === null ? { page: String(request.page) } : CURSOR.read(request.cursor);
      const repository = await repositoryOrNull(client, request);
      if (!repository) return null;
      const { owner, name } = repository;
      const parameters = {
        ...kind.filter?.(request.filters, repository),
        ...(request.orderBy === null ? {} : { sort: request.orderBy, direction: request.orderDir }),
        ...{ per_page: String(request.pageSize), ...place },
      };
      const path = ['repos', owner, name, ...kind.path(request.number)];
      const { values, headers } = await client.list(path, parameters).catch((error: unknown) => {
        // GitHub rejects high page numbers of long lists.
        if (error instanceof Fault && error.kind === 'bad_response' && request.cursor === null && request.page > 1)
          throw new Fault('bad_response', 'GitHub does not support this page number. Follow next_cursor instead.');
        throw error;
      });
      return {
        data: values.map((value) => present(kind, value, request.remote)),
        next_cursor: CURSOR.write(placeAfter(nextQuery(headers))),
      };
    });

const oneOf =
  (kind: Kind): LiveRead<Login, LiveReads['one of issues']> =>
  (client, request) =>
    orNull(async () => {
      const repository = await repositoryOrNull(client, request);
      if (!repository) return null;
      const { owner, name } = repository;
      const path = ['repos', owner, name, ...kind.path(null), String(request.number)];
      return present(kind, await client.get(path, {}), request.remote);
    });

/** The direct queries by operation. */
export const gitHubReads: NonNullable<Connector<Login>['reads']> = {
  issues: listOf(issues),
  'one of issues': oneOf(issues),
  pull_requests: listOf(pulls),
  'one of pull_requests': oneOf({ ...pulls, present: wholePullOf }),
  comments: listOf(ofPull('comments', commentOf)),
  commits: listOf(ofPull('commits', commitOf)),
  files: listOf(ofPull('files', changedFileOf)),
};
