/**
 * Issues, pull requests and their comments, commits and files for the GitHub emulator, with the filters, orders and
 * pages of GitHub's REST documentation.
 */

import { personJson, type Row } from './githubJson.js';

/**
 * Issues, pull requests and their parts, in GitHub's JSON format, stored oldest first. Comments, commits and files are
 * keyed by pull request number.
 */
export interface Discussions {
  /** Includes pull requests, as in GitHub's API. */
  readonly issues: Row[];
  readonly pulls: Row[];
  readonly comments: Record<number, Row[]>;
  readonly commits: Record<number, Row[]>;
  readonly files: Record<number, Row[]>;
}
export const newDiscussions = (): Discussions => ({ issues: [], pulls: [], comments: {}, commits: {}, files: {} });

/** The answer to a request: rows with a Link header, one row, or a refusal. */
export type DiscussionAnswer =
  | { readonly rows: readonly Row[]; readonly link: string }
  | { readonly row: Row }
  | { readonly refused: 404 | 422; readonly message: string };

const NOT_FOUND: DiscussionAnswer = { refused: 404, message: 'Not Found' };
const PER_PAGE = 30;
const MAX_PER_PAGE = 100;

const at = (row: Row, ...keys: readonly string[]): unknown =>
  keys.reduce<unknown>((value, key) => (value as Row | undefined)?.[key], row);
const SORTED: Readonly<Record<string, (row: Row) => unknown>> = {
  created: (row) => row['created_at'],
  updated: (row) => row['updated_at'],
  comments: (row) => row['comments'],
  popularity: (row) => row['comments'] ?? 0,
};

/** Sorts a list by the query's `sort` and `direction`; the default is newest first. */
function sorted(rows: readonly Row[], query: URLSearchParams): readonly Row[] {
  const by = SORTED[query.get('sort') ?? 'created'] ?? SORTED['created']!;
  const ascending = rows.toSorted((a, b) => (by(a)! < by(b)! ? -1 : by(a)! > by(b)! ? 1 : 0));
  return query.get('direction') === 'asc' ? ascending : ascending.toReversed();
}

function filtered(rows: readonly Row[], query: URLSearchParams): readonly Row[] {
  const state = query.get('state') ?? 'open';
  const [base, head] = [query.get('base'), query.get('head')];
  return rows.filter(
    (row) =>
      (state === 'all' || row['state'] === state) &&
      (base === null || at(row, 'base', 'ref') === base) &&
      // GitHub ignores the parameter `head` unless it has the form `owner:branch`.
      (head === null || !head.includes(':') || at(row, 'head', 'label') === head),
  );
}

const GHOST = personJson({ id: 10_137, login: 'ghost' });

/** Fields that GitHub returns only for a single pull request, not in lists. */
const SINGLE_ONLY: ReadonlySet<string> = new Set(
  [
    'merged mergeable mergeable_state merged_by rebaseable maintainer_can_modify',
    'comments review_comments commits additions deletions changed_files',
  ].flatMap((line) => line.split(' ')),
);
/** Returns a pull request with the fields that it has in lists. */
const listedRow = (row: Row): Row => Object.fromEntries(Object.entries(row).filter(([name]) => !SINGLE_ONLY.has(name)));

/** @param numberedRows maximum number of rows reachable by page number. Unset: all */
function paged(rows: readonly Row[], url: URL, numberedRows = Number.POSITIVE_INFINITY): DiscussionAnswer {
  const query = url.searchParams;
  const size = Math.min(MAX_PER_PAGE, Math.max(1, Number(query.get('per_page') ?? PER_PAGE)));
  const after = query.get('after');
  const from =
    after === null ? (Number(query.get('page') ?? 1) - 1) * size : Number(Buffer.from(after, 'base64').toString());
  if (after === null && from >= numberedRows)
    return {
      refused: 422,
      message: 'Pagination with the page parameter is not supported for large datasets',
    };
  const to = (page: number, more: Readonly<Record<string, string>>, rel: string): string => {
    const parameters = new URLSearchParams({ ...Object.fromEntries(query), page: String(page), ...more });
    return `<https://api.github.com/repositories/700${url.pathname.slice('/repos/ada/atlas'.length)}?${parameters.toString()}>; rel="${rel}"`;
  };
  const next = from + size;
  const page = next / size + 1;
  const cursor = Number.isFinite(numberedRows) ? { after: Buffer.from(String(next)).toString('base64') } : {};
  const links = [...(from > 0 ? [to(1, {}, 'first')] : []), ...(next < rows.length ? [to(page, cursor, 'next')] : [])];
  return { rows: rows.slice(from, next), link: links.join(', ') };
}

/**
 * Answers a path below a repository; returns null for paths other than issues and pull requests.
 * @param numberedRows maximum number of issues reachable by page number
 */
export function answerDiscussion(
  discussions: Discussions,
  [resource, number, part, ...more]: readonly string[],
  url: URL,
  numberedRows: number,
): DiscussionAnswer | null {
  if ((resource !== 'issues' && resource !== 'pulls') || more.length > 0) return null;
  const query = url.searchParams;
  if (number === undefined) {
    const rows = sorted(filtered(discussions[resource], query), query);
    return resource === 'issues' ? paged(rows, url, numberedRows) : paged(rows.map(listedRow), url);
  }
  const row = discussions[resource].find((candidate) => candidate['number'] === Number(number));
  if (!row) return NOT_FOUND;
  // For a deleted author, GitHub returns the user "ghost" in a single pull request, but null in lists and issues.
  if (part === undefined && resource === 'pulls') return { row: { ...row, user: row['user'] ?? GHOST } };
  if (part === undefined) return { row };
  if (resource === 'pulls' && part === 'comments')
    // GitHub ignores the direction unless the request names a sort key.
    return paged(
      query.has('sort')
        ? sorted(discussions.comments[Number(number)] ?? [], query)
        : (discussions.comments[Number(number)] ?? []),
      url,
    );
  if (resource === 'pulls' && (part === 'commits' || part === 'files'))
    return paged(discussions[part][Number(number)] ?? [], url);
  return NOT_FOUND;
}
