/** GitBook: spaces of pages, read with a personal token. https://gitbook.com/docs/developers/gitbook-api */
import { Fault } from '../../contract/failures.js';
import type { Connector } from '../connector.js';
import type { SourceClient } from '../accountClient.js';
import {
  contentOf,
  itemId,
  pageFrom,
  partsOf,
  type SpaceJson,
  spaceFrom,
  itemOfSpace,
  itemsOfPages,
} from './adapter.js';
import { incompleteAnswer } from '../faults.js';
import { bearer } from '../bearer.js';
import { asAnswer, asAnswers, asText, omitNull } from '../json.js';
import type {
  GitBookContent,
  GitBookNext,
  GitBookOrganization,
  GitBookPage,
  GitBookSpace,
  GitBookSpaces,
  GitBookUser,
} from './fields.js';

/** Credentials supplied by the caller. */
export interface GitBookCredentials {
  /** Id of the organization to read spaces from. */
  readonly organization: string;
  readonly accessToken: string;
}

/** Page size; the API's maximum is 1,000. A larger page saves little: listing each space takes a request of its own. */
const SPACES_PER_PAGE = '100';

async function readSpace(client: SourceClient, spaceId: string): Promise<SpaceJson> {
  const space = spaceFrom(asAnswer<GitBookSpace>(await client.get(['spaces', spaceId], {})));
  if (space === null) throw incompleteAnswer('GitBook', 'the space');
  return space;
}

export const gitbook: Connector<GitBookCredentials> = {
  about: {
    listed: 'spaces, groups, pages, links',
    ingested: 'each page, as Markdown with its title',
    unchangedBy: "time of the page's last change",
    limits: 'GitBook lists a space in one response; links are not followed',
  },
  headers: bearer,
  // GitBook documents X-RateLimit-Reset, in seconds since 1970, and no Retry-After:
  // https://gitbook.com/docs/developers/gitbook-api/rate-limiting. If a Retry-After is sent, it takes precedence.
  waitMs({ headers }, now) {
    const reset = Number(headers['x-ratelimit-reset'] ?? Number.NaN);
    return Number.isFinite(reset) && headers['retry-after'] === undefined ? Math.max(0, reset * 1000 - now) : null;
  },

  async identify(client) {
    const { organization } = client.credentials;
    const user = asAnswer<GitBookUser>(await client.get(['user'], {}));
    const organizationJson = asAnswer<GitBookOrganization>(await client.get(['orgs', organization], {}));
    const id = asText(organizationJson.id);
    if (id === null) throw new Fault('server_error', 'GitBook returned no organization. Try again.');
    const names = omitNull({ organization_name: asText(organizationJson.title), user_name: asText(user.displayName) });
    return { account: id, metadata: { organization: id, ...names } };
  },

  async listRoots(client, cursor) {
    const { organization } = client.credentials;
    const query = { limit: SPACES_PER_PAGE, ...(cursor === null ? {} : { page: cursor }) };
    const list = asAnswer<GitBookSpaces>(await client.get(['orgs', organization, 'spaces'], query));
    if (!Array.isArray(list.items)) throw incompleteAnswer('GitBook', 'the list of spaces');
    const spaces = asAnswers<GitBookSpace>(list.items).flatMap((item) => spaceFrom(item) ?? []);
    return {
      items: spaces.filter(({ deletedAt }) => deletedAt === undefined).map(itemOfSpace),
      next: asText(asAnswer<GitBookNext>(list.next).page),
    };
  },

  async listDescendants(client, externalId, _cursor) {
    const { spaceId, pageId } = partsOf(externalId);
    const space = await readSpace(client, spaceId);
    if (space.deletedAt !== undefined) throw new Fault('not_found', 'This GitBook space was deleted.');
    // The API returns the whole tree in one answer.
    const { pages } = asAnswer<GitBookContent>(await client.get(['spaces', spaceId, 'content', 'pages'], {}));
    if (!Array.isArray(pages)) throw incompleteAnswer('GitBook', 'the pages of the space');
    const { items, skipped } = itemsOfPages(space, asAnswers<GitBookPage>(pages), pageId);
    if (pageId === null) return { items: [itemOfSpace(space), ...items], skipped, next: null };
    if (items.length === 0 && skipped.length === 0)
      throw new Fault('not_found', 'GitBook has no such page in this space.');
    return { items, skipped, next: null };
  },

  async open(client, externalId) {
    const { spaceId, pageId } = partsOf(externalId);
    if (pageId === null) {
      // A sync treats a space as a file only if it could not be listed. If it still cannot be read, this request throws
      // the cause, which becomes the error of the file.
      await readSpace(client, spaceId);
      throw new Fault('unsupported_type', 'A GitBook space has no text of its own: sync the pages in it.');
    }
    const path = ['spaces', spaceId, 'content', 'page', pageId];
    const page = pageFrom(asAnswer<GitBookPage>(await client.get(path, { format: 'markdown' })));
    if (page === null) throw incompleteAnswer('GitBook', 'the page');
    return contentOf(page, itemId(spaceId, pageId), spaceId);
  },
};
