/**
 * Document360: workspaces with categories of articles, read with a project's API token.
 * https://apidocs.document360.com
 */
import { createHash } from 'node:crypto';

import { Fault } from '../../contract/failures.js';
import type { Connector } from '../connector.js';
import type { AccountClient, Refusal, SourceClient } from '../accountClient.js';
import type { ErrorClass } from '../errorClasses.js';
import { contentOf, itemOfWorkspace, itemsOfCategories, parseItemId, type Workspace, workspaceOf } from './adapter.js';
import { type Answer, asAnswer, asList, asText } from '../json.js';
import { headerToken } from '../bearer.js';
import { noSuchItem, requireId, requireList } from '../faults.js';
import type { D360Article, D360Category, D360Envelope, D360Error, D360ProjectVersion } from './fields.js';

/** Credentials supplied by the caller. */
export interface Document360Credentials {
  readonly accountEmail: string;
  readonly accessToken: string;
}

/** Document360 may report an error with status 200. */
const isRefusal = (body: unknown): boolean => asAnswer<D360Envelope>(body).success === false;

function classify({ status, body }: Refusal): ErrorClass | null {
  if (status < 300) return isRefusal(body) ? 'server' : null;
  // Document360 answers 400 for a well-formed but unknown id.
  const errors = asList(asAnswer<D360Envelope>(body).errors).map(asAnswer<D360Error>);
  return status === 400 && errors.some(isUnknown) ? 'not_found' : null;
}
const isUnknown = ({ description, error_code: code }: Answer<D360Error>): boolean =>
  /not[ _]?found/i.test(`${asText(description) ?? ''} ${asText(code) ?? ''}`);

/** Returns the data of an answer. */
const dataAt = async (client: SourceClient, path: readonly string[], query: Readonly<Record<string, string>>) =>
  asAnswer<D360Envelope>(await client.get(path, query)).data;

async function workspaces(client: SourceClient): Promise<readonly Workspace[]> {
  const workspaceJsons = requireList('Document360', await dataAt(client, ['v2', 'ProjectVersions'], {}));
  return workspaceJsons.flatMap((version) => workspaceOf(asAnswer<D360ProjectVersion>(version)) ?? []);
}

/**
 * Returns the language of a workspace. Every article needs it, so it is cached. The token is part of the key, because
 * another token may have no access to the workspace.
 */
async function languageOf(client: AccountClient<Document360Credentials>, id: string): Promise<string> {
  const key = createHash('sha256').update(`${client.credentials.accessToken} ${id}`).digest('base64');
  return client.cache.getOrFind(key, async () => {
    const found = (await workspaces(client)).find((workspace) => workspace.id === id);
    if (!found) throw noSuchItem('Document360');
    return found.language;
  });
}

export const document360: Connector<Document360Credentials> = {
  about: {
    listed: 'workspaces, categories, articles',
    ingested: 'each published article in the default language of its workspace; no pages of categories',
    unchangedBy: 'published version and time of change',
    limits: 'one project per token; set the hosts of other regions in SOURCE_URLS',
  },
  headers: ({ accessToken }) => ({ api_token: headerToken(accessToken) }),
  classify,
  refusalIn: (body) => (isRefusal(body) ? 'success_false' : null),
  // A refusal names the seconds until its limit is reset. https://apidocs.document360.com/apidocs/rate-limiting
  waitMs({ headers }) {
    const seconds = Number(headers['x-ratelimit-reset'] ?? Number.NaN);
    return Number.isFinite(seconds) && headers['retry-after'] === undefined ? Math.max(0, seconds * 1000) : null;
  },

  async identify(client) {
    const { accountEmail } = client.credentials;
    const all = await workspaces(client);
    // A token belongs to one project, and the API returns no project id: the oldest workspace identifies it.
    const [first] = all.toSorted((a, b) => ((a.createdAt ?? '') < (b.createdAt ?? '') ? -1 : 1));
    if (!first)
      throw new Fault('access_denied', 'The Document360 token has access to no workspace. Give it access to one.');
    return {
      account: `${accountEmail.trim().toLowerCase()}|${first.id}`,
      metadata: { account_email: accountEmail, workspaces: all.map(({ name }) => name) },
    };
  },

  async listRoots(client, _cursor) {
    // The API does not paginate this list.
    return { items: (await workspaces(client)).map(itemOfWorkspace), next: null };
  },

  async listDescendants(client, externalId, _cursor) {
    const itemRef = parseItemId(externalId);
    if (itemRef === null) throw noSuchItem('Document360');
    const workspace = (await workspaces(client)).find(({ id }) => id === itemRef.workspace);
    if (!workspace) throw noSuchItem('Document360');
    // The API does not paginate this list either: it returns the whole tree.
    const path = ['v2', 'ProjectVersions', workspace.id, 'categories'];
    const categories = requireList('Document360', await dataAt(client, path, { langCode: workspace.language }));
    const all = [
      itemOfWorkspace(workspace),
      ...itemsOfCategories(workspace.id, categories.map(asAnswer<D360Category>)),
    ];
    const selectedIds = new Set([externalId]);
    for (const { externalId: id, parentExternalId } of all)
      if (parentExternalId !== null && selectedIds.has(parentExternalId)) selectedIds.add(id);
    const items = all.filter(({ externalId: id }) => selectedIds.has(id));
    if (items.length === 0) throw noSuchItem('Document360');
    return { items, next: null };
  },

  async open(client, externalId) {
    const itemRef = parseItemId(externalId);
    if (itemRef === null) throw noSuchItem('Document360');
    const language = await languageOf(client, itemRef.workspace);
    if (itemRef.article === null)
      throw new Fault('unsupported_type', 'This Document360 item has no text of its own: sync the articles in it.');
    const query = { isPublished: 'true', isForDisplay: 'true', appendSASToken: 'false' };
    const article = asAnswer<D360Article>(await dataAt(client, ['v2', 'Articles', itemRef.article, language], query));
    requireId('Document360', article, 'the article');
    return contentOf(article, externalId);
  },
};
