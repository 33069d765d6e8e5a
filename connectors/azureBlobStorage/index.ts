/**
 * Azure Blob Storage, read with the key of an account.
 * https://learn.microsoft.com/rest/api/storageservices/blob-service-rest-api
 */
import { withCursor, shapeOf, string } from '../cursors.js';
import { Fault } from '../../contract/failures.js';
import { type ObjectRef, parseItemId } from '../../contract/objectIds.js';
import type { Connector } from '../connector.js';
import type { AccountClient, SourceAnswer, SourceClient } from '../accountClient.js';
import { escapePath, treeOf } from './adapter.js';
import { type Entry, type Listing, readListing } from './listing.js';
import { classify } from './refusals.js';
import { type AzureCredentials, signedHeaders } from './sharedKey.js';
import { incompleteAnswer, noSuchItem } from '../faults.js';

/** Valid account names. Other characters would change which host or path the URL names. */
const ACCOUNT = /^[a-z0-9]{3,24}$/;
const CONTAINER = /^(?:\$root|\$web|\$logs|[a-z0-9-]{3,63})$/;

const accountUrl = ({ urls }: SourceClient): string => urls['api'] ?? '';

/**
 * Sends a signed GET. @param path encoded @throws Fault, also if URL normalization would change the path to another
 * blob
 */
function get(
  client: AccountClient<AzureCredentials>,
  { path, query = {}, isContent = false }: { path: string; query?: Record<string, string>; isContent?: boolean },
): Promise<SourceAnswer> {
  const base = accountUrl(client);
  const search = new URLSearchParams(query).toString();
  const url = `${base}/${path}${search === '' ? '' : `?${search}`}`;
  if (!new URL(url).pathname.endsWith(`/${path}`))
    throw new Fault(
      'bad_response',
      'A blob whose name has `.` or `..` between slashes cannot be requested. Copy it to another name.',
    );
  const headers = signedHeaders(url, client.credentials);
  return client.send({ url, headers, isContent, isExpected: () => false });
}

async function list(
  client: AccountClient<AzureCredentials>,
  { path, query }: { path: string; query: Record<string, string> },
): Promise<Listing> {
  const { bytes } = await get(client, { path, query: { comp: 'list', ...query } });
  return readListing(bytes);
}

/** Query of blob listings. The metadata shows which blobs represent a directory; see Entry.isDirectory. */
const BLOBS = { restype: 'container', include: 'metadata' };
/** Maximum number of successive pages without a blob. */
const MAX_EMPTY_PAGES = 10_000;

/** Returns the first blob whose name has a prefix; null for none. */
async function firstWith(client: AccountClient<AzureCredentials>, path: string, prefix: string): Promise<Entry | null> {
  let next: Record<string, string> = {};
  for (let pages = 0; pages < MAX_EMPTY_PAGES; pages += 1) {
    const { entries, marker } = await list(client, { path, query: { ...BLOBS, prefix, maxresults: '1', ...next } });
    // A page may be empty without being the last: https://learn.microsoft.com/rest/api/storageservices/list-blobs
    if (entries[0] !== undefined || marker === null) return entries[0] ?? null;
    next = { marker };
  }
  throw incompleteAnswer('Azure Blob Storage', 'blobs on 10,000 successive pages');
}

/** Position in a listing of blobs: the source's marker, and the last name of the previous page. */
const CURSOR = shapeOf({ marker: string, after: string });

/** Returns a page of the contents of a container or folder. */
const listPage = withCursor(
  CURSOR,
  async (client: AccountClient<AzureCredentials>, { bucket, key, kind }: ObjectRef, from) => {
    const tree = treeOf(accountUrl(client));
    const query = {
      ...BLOBS,
      ...(key === '' ? {} : { prefix: key }),
      ...(from === null ? {} : { marker: from.marker }),
    };
    const { entries, marker } = await list(client, { path: bucket, query });
    // Entries of directories are skipped: folder items are derived from the names of the blobs.
    const objects = entries
      .filter((entry) => !entry.isDirectory)
      .map(({ name, ...entry }) => ({ key: name, ...entry }));
    if (from === null && entries.length === 0 && marker === null && kind === 'folder')
      throw noSuchItem('Azure Blob Storage');
    const requestedItem = kind === 'bucket' ? tree.itemOfContainer(bucket, null) : tree.itemOfFolder(bucket, key);
    const after = from?.after ?? '';
    const items = tree.itemsOfObjects(bucket, objects, { after, below: kind === 'folder' ? key : '' });
    return {
      items: from === null ? [requestedItem, ...items] : items,
      next: marker === null ? null : { marker, after: objects.at(-1)?.key ?? after },
    };
  },
);

export const azureBlobStorage: Connector<AzureCredentials> = {
  about: {
    listed: 'containers, folders, blobs',
    ingested: 'each blob',
    unchangedBy: 'ETag',
    limits:
      'archived blobs, and those encrypted with a customer-provided key (CPK), are not read; a name with `.` or `..` between slashes cannot be requested',
  },
  urlParameters: ({ accountName }) => ({ account: ACCOUNT.test(accountName) ? accountName : '' }),
  // Every request has its own signature, so there are no common headers.
  headers: () => ({}),
  classify,

  async identify(client) {
    try {
      await list(client, { path: '', query: { maxresults: '1' } });
    } catch (error) {
      // Each account has its own host name: an unknown host is an unknown account.
      if (error instanceof Fault && error.kind === 'dns_failed')
        throw new Fault('not_found', 'There is no storage account of this name. Check the name in the Azure portal.');
      throw error;
    }
    return { account: client.credentials.accountName, metadata: { account_name: client.credentials.accountName } };
  },

  async listRoots(client, cursor) {
    const tree = treeOf(accountUrl(client));
    const query = cursor === null ? {} : { marker: cursor };
    const { entries, marker } = await list(client, { path: '', query });
    return { items: entries.map(({ name, createdAt }) => tree.itemOfContainer(name, createdAt)), next: marker };
  },

  async listDescendants(client, externalId, cursor) {
    const itemRef = parseItemId(externalId);
    const { bucket, key, kind } = itemRef;
    if (!CONTAINER.test(bucket) || kind === 'prefix') throw noSuchItem('Azure Blob Storage');
    if (kind !== 'object') return listPage(client, itemRef, cursor);
    // The listing is sorted, so the first name with this prefix is the exact name, if it exists.
    const entry = await firstWith(client, bucket, key);
    if (entry?.name !== key || entry.isDirectory) throw noSuchItem('Azure Blob Storage');
    const tree = treeOf(accountUrl(client));
    return { items: tree.itemsOfObjects(bucket, [{ ...entry, key }], { after: key, below: '' }), next: null };
  },

  async open(client, externalId) {
    const { bucket, key, kind } = parseItemId(externalId);
    if (!CONTAINER.test(bucket) || kind === 'prefix') throw noSuchItem('Azure Blob Storage');
    if (kind !== 'object') {
      // A sync treats a container or folder as a file only if it could not be listed. Listing it here throws the same
      // error, which becomes the error of the file.
      await listPage(client, { bucket, key, kind }, null);
      throw new Fault('unsupported_type', 'An Azure folder has no text of its own: sync the blobs in it.');
    }
    const path = `${bucket}/${escapePath(key)}`;
    const { bytes, headers } = await get(client, { path, isContent: true });
    return treeOf(accountUrl(client)).contentOf(bucket, key, {
      bytes,
      contentType: headers['content-type'],
      etag: headers['etag']?.replaceAll('"', ''),
    });
  },
};
