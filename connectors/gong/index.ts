/** Gong: the transcripts of a company's calls. https://help.gong.io/docs/what-the-gong-api-provides */
import { type PageAt, withCursor, boolean, shapeOf, listOf, nullable, string, type Checked } from '../cursors.js';
import { Fault } from '../../contract/failures.js';
import type { Connector, ItemContent } from '../connector.js';
import type { OAuthGrant } from '../oauthSpec.js';
import type { GrantClient, SourceClient } from '../accountClient.js';
import type { ItemPage } from '../sourceItem.js';
import { type Answer, asAnswer, asList, asText, type Json, omitNull } from '../json.js';
import type { GongAnswer, GongCall, GongMonologue, GongParty, GongRecords, GongWorkspace } from './fields.js';
import {
  contentOf,
  type Folder,
  folderWithInner,
  idOf,
  isId,
  itemOfCall,
  itemOfFolder,
  itemOfWorkspace,
  parseItemId,
  readFolders,
} from './adapter.js';
import { bearer } from '../bearer.js';
import { isFault, noSuchItem, requireList } from '../faults.js';
import { detailsOf, nullIfMissing, readCall } from './readCalls.js';

/** Start of the listing, which requires one: before the first call of any company. */
const FIRST_DAY = '2010-01-01T00:00:00Z';
/** Calls are listed by their scheduled time, which may be in the near future. */
const LAST_DAY_MS = 86_400_000;
/**
 * Returns a page at a cursor. Gong's cursors expire, and neither the status nor the text of that refusal is documented.
 * So a status 4xx restarts the listing, unless it concerns credentials (401), permissions (403, 451), time (408) or
 * rate (429). If a 404 counted as the end, the remaining calls would be deleted.
 */
async function atCursor(answer: Promise<Json>): Promise<Json> {
  try {
    return await answer;
  } catch (error) {
    if (!isFault(error, 'not_found', 'gone', 'bad_response')) throw error;
    throw new Fault(
      'stale_cursor',
      'Gong no longer has the position of this listing. It is listed from the beginning.',
    );
  }
}

/** Position in the listing of a workspace or a folder. */
const CURSOR = shapeOf({
  workspace: string,
  /** Position in the workspace's calls; null: all were listed, or only a folder is listed. */
  calls: nullable(shapeOf({ until: string, at: nullable(string) })),
  /** Folders whose calls remain to be listed; null: not loaded yet. */
  folders: nullable(listOf(string)),
  /**
   * Whether the workspace's calls were already listed. Folder pages then contain calls without content, only to set the
   * folder as their parent.
   */
  isAgain: boolean,
});
type CallsCursor = Checked<typeof CURSOR>;
const pageAt = (items: ItemPage['items'], next: CallsCursor): PageAt<CallsCursor> => ({
  items,
  next: next.calls === null && next.folders?.length === 0 ? null : next,
});

async function listWorkspaces(client: SourceClient): Promise<ItemPage['items']> {
  const answer = asAnswer<GongAnswer>(await client.get(['workspaces'], {}));
  return requireList('Gong', answer.workspaces).flatMap(
    (workspace) => itemOfWorkspace(asAnswer<GongWorkspace>(workspace)) ?? [],
  );
}

/**
 * Returns the folders of a workspace's library; none if it is inaccessible, since its calls can be listed without it.
 */
async function listFolders(client: SourceClient, workspace: string): Promise<readonly Folder[]> {
  try {
    const answer = await nullIfMissing(client.get(['library', 'folders'], { workspaceId: workspace }));
    return answer === null ? [] : readFolders(answer, workspace);
  } catch (error) {
    if (isFault(error, 'access_denied')) return [];
    if (!isFault(error, 'access_revoked')) throw error;
    // Without the plan or the scope for libraries, Gong answers 401, as it does for an expired token. The request for
    // the workspaces throws only for an expired token.
    // https://github.com/NangoHQ/integration-templates/blob/45da553/integrations/gong/syncs/library-folders.ts
    await listWorkspaces(client);
    return [];
  }
}

/** Returns the next page of a workspace's calls. */
async function nextCalls(client: SourceClient, cursor: CallsCursor): Promise<PageAt<CallsCursor>> {
  const { workspace, calls } = cursor;
  const { until, at } = calls ?? { until: FIRST_DAY, at: null };
  const range = { workspaceId: workspace, fromDateTime: FIRST_DAY, toDateTime: until };
  const answer: Answer<GongAnswer> =
    at === null
      ? ((await nullIfMissing(client.get(['calls'], range))) ?? { calls: [] })
      : await atCursor(client.get(['calls'], { ...range, cursor: at }));
  const items = requireList('Gong', answer.calls).flatMap(
    (call) => itemOfCall(asAnswer<GongCall>(call), null, workspace) ?? [],
  );
  const next = asText(asAnswer<GongRecords>(answer.records).cursor);
  return pageAt(items, { ...cursor, calls: next === null || next === at ? null : { until, at: next } });
}

/** Returns the calls of the next folder. */
async function nextFolderCalls(client: SourceClient, cursor: CallsCursor): Promise<PageAt<CallsCursor>> {
  const [folder = '', ...rest] = cursor.folders ?? [];
  const content = await nullIfMissing(client.get(['library', 'folder-content'], { folderId: folder }));
  const { calls: entries }: Answer<GongAnswer> = content ?? { calls: [] };
  const ids = requireList('Gong', entries).flatMap((call) => {
    const { id } = asAnswer<GongCall>(call);
    return isId(id) ? [id] : [];
  });
  const calls = await detailsOf(client, [...new Set(ids)]);
  const items = calls.flatMap((call) => itemOfCall(asAnswer<GongCall>(call.metaData), folder, cursor.workspace) ?? []);
  const newItems = cursor.isAgain ? items.map((item) => ({ ...item, hasContent: false })) : items;
  return pageAt(newItems, { ...cursor, folders: rest });
}

async function nextPage(client: SourceClient, cursor: CallsCursor): Promise<PageAt<CallsCursor>> {
  if (cursor.calls !== null) return nextCalls(client, cursor);
  if (cursor.folders !== null) return nextFolderCalls(client, cursor);
  const folders = await listFolders(client, cursor.workspace);
  return pageAt(folders.map(itemOfFolder), { ...cursor, folders: folders.map(({ id }) => id) });
}

/** Returns a folder and its subfolders. */
async function listFolder(client: SourceClient, id: string): Promise<PageAt<CallsCursor>> {
  for (const { externalId } of await listWorkspaces(client)) {
    const workspace = parseItemId(externalId)?.id ?? '';
    const folders = folderWithInner(await listFolders(client, workspace), id);
    if (folders.length > 0)
      return pageAt(folders.map(itemOfFolder), {
        ...{ workspace, calls: null, isAgain: false },
        folders: folders.map((folder) => folder.id),
      });
  }
  throw noSuchItem('Gong');
}

async function openCall(client: GrantClient, externalId: string): Promise<ItemContent> {
  const itemRef = parseItemId(externalId);
  if (itemRef === null) throw noSuchItem('Gong');
  if (itemRef.kind !== 'call')
    throw new Fault('unsupported_type', `A ${itemRef.kind} of Gong has no text of its own: sync the calls in it.`);
  const call = await readCall(client, itemRef.id);
  if (!call) throw noSuchItem('Gong');
  const parties = asList(call.details.parties).map(asAnswer<GongParty>);
  const spoken = asList(call.transcript?.transcript).map(asAnswer<GongMonologue>);
  const content = contentOf(asAnswer<GongCall>(call.details.metaData), parties, spoken);
  if (content === null)
    throw new Fault(
      'no_text',
      'Gong has no transcript of this call. It may still be in progress: sync the call again later.',
    );
  return content;
}

export const gong: Connector<OAuthGrant> = {
  about: {
    listed: 'workspaces, folders of their libraries, calls',
    ingested: 'the transcript of each call, with speakers and times; no audio, no video',
    unchangedBy: 'start, duration, language and title of calls older than 14 days; newer ones are fetched again',
    limits:
      'Gong allows a company three requests per second and 10,000 per day; a call takes two requests, for its details and its transcript; up to 20 calls that are fetched at the same time share them; folders only if the user may see their library',
  },
  oauth: {
    scopes: [
      ...['api:calls:read:basic', 'api:calls:read:extensive', 'api:calls:read:transcript'],
      ...['api:workspaces:read', 'api:library:read'],
    ],
    scopeSeparator: ' ',
    scopeParameter: 'scope',
    pkce: false,
    clientAuth: 'basic',
    bodyFormat: 'form',
    authorizeParameters: { access_type: 'offline' },
    rotates: true,
    tokenResponseFields: {
      customer: {
        path: 'api_base_url_for_customer',
        pattern: /^https:\/\/([a-z0-9-]+(?:\.[a-z0-9-]+)*)\.gong\.io\/?$/i,
        otherwise: 'api',
      },
    },
  },
  headers: bearer,

  async identify(client) {
    const { facts } = client.credentials;
    // Gong does not state the user or the company of an access token. The email address that the caller supplied for
    // the connection identifies the account; without one, the workspace whose id sorts first does.
    const workspaces = await listWorkspaces(client);
    const email = facts['email']?.toLowerCase();
    const account = email ?? workspaces.map(({ externalId }) => externalId).toSorted()[0];
    if (account === undefined) throw new Fault('server_error', 'Gong returned no workspace. Try again.');
    return { account, metadata: omitNull({ email, workspaces: workspaces.map(({ name }) => name) }) };
  },

  listRoots: async (client, _cursor) => ({ items: await listWorkspaces(client), next: null }),

  listDescendants: withCursor(CURSOR, async (client: SourceClient, externalId: string, cursor) => {
    if (cursor !== null) return nextPage(client, cursor);
    const itemRef = parseItemId(externalId);
    if (itemRef === null) throw noSuchItem('Gong');
    if (itemRef.kind === 'folder') return listFolder(client, itemRef.id);
    if (itemRef.kind === 'workspace') {
      const requestedItem = (await listWorkspaces(client)).find((workspace) => workspace.externalId === idOf(itemRef));
      if (!requestedItem) throw noSuchItem('Gong');
      const until = new Date(Date.now() + LAST_DAY_MS).toISOString();
      return pageAt([requestedItem], {
        workspace: itemRef.id,
        calls: { until, at: null },
        folders: null,
        isAgain: true,
      });
    }
    const [call] = await detailsOf(client, [itemRef.id]);
    const requestedItem = itemOfCall(asAnswer<GongCall>(call?.metaData), null, null);
    if (requestedItem === null) throw noSuchItem('Gong');
    return { items: [requestedItem], next: null };
  }),

  open: openCall,
};
