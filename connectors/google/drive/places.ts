import { Fault } from '../../../contract/failures.js';
import type { SourceClient } from '../../accountClient.js';
import type { ItemPage, SourceItem } from '../../sourceItem.js';
import { asAnswer, asLink, asList, asTimestamp, asName } from '../../json.js';
import { fetchPage } from '../paged.js';
import type { SharedDrive, SharedDriveList } from '../vendorTypes.js';
import { type FileJson, isFileId, itemOfContainer, SHARED_WITH_ME } from './adapter.js';
import { fileAt } from './open.js';
import { MAX_LEVELS } from './walk.js';
import { isFault, requireList } from '../../faults.js';

const DRIVES_PER_PAGE = '100';
/** Maximum number of shared drives whose changes are read. */
const MAX_DRIVES = 1_000;

export const driveUrl = (id: string): string => `https://drive.google.com/drive/folders/${id}`;

/** Returns a page of the shared drives that the account is a member of. */
export async function drivesPage(client: SourceClient, token: string | null): Promise<ItemPage> {
  const query = { pageSize: DRIVES_PER_PAGE, fields: 'nextPageToken,drives(id,name,createdTime)' };
  const { body, next } = await fetchPage<SharedDriveList>(client, ['drives'], query, token);
  const items = requireList('Google Drive', body.drives).flatMap((given): SourceItem[] => {
    const { id, name, createdTime } = asAnswer<SharedDrive>(given);
    return isFileId(id) ? [itemOfContainer(id, asName(name) ?? id, driveUrl(id), asTimestamp(createdTime))] : [];
  });
  return { items, next };
}

/** Returns the shared drives that the account is a member of, at most MAX_DRIVES. */
export async function allDrives(client: SourceClient): Promise<readonly SourceItem[]> {
  const drives: SourceItem[] = [];
  for (let token: string | null | undefined; token !== null && drives.length < MAX_DRIVES;) {
    const page: ItemPage = await drivesPage(client, token ?? null);
    drives.push(...page.items);
    token = page.next;
  }
  return drives;
}

/** Returns the item of a shared drive. */
export async function driveAt(client: SourceClient, id: string): Promise<SourceItem> {
  const drive = await client.get(['drives', id], { fields: 'id,name,createdTime' });
  const { name, createdTime } = asAnswer<SharedDrive>(drive);
  return itemOfContainer(id, asName(name) ?? id, driveUrl(id), asTimestamp(createdTime));
}

/** Returns a folder; null if the account cannot see it. */
async function visibleFolder(client: SourceClient, id: string): Promise<FileJson | null> {
  try {
    return await fileAt(client, id);
  } catch (error) {
    if (isFault(error, 'not_found', 'access_denied')) return null;
    throw error;
  }
}

/** Returns the id of the account's own root folder; null if the account cannot see it. */
export async function ownRootId(client: SourceClient): Promise<string | null> {
  const folder = await visibleFolder(client, 'root');
  return isFileId(folder?.id) ? folder.id : null;
}

/**
 * Returns the id of the root item of a file in no shared drive. It is the root under which a listing contains the file.
 * The folders above the file determine it, not the owner: users can create files in each other's folders.
 * @param own id of the account's own root folder; null if the account cannot see it
 * @param folders known folders, by id; each requested folder is added
 */
export async function rootOf(
  client: SourceClient,
  file: FileJson,
  own: string | null,
  folders: Map<string, FileJson | null> = new Map(),
): Promise<string> {
  let current: FileJson | null = file;
  for (let level = 0; current !== null && level < MAX_LEVELS; level += 1) {
    const [parent] = asList(current.parents);
    if (!isFileId(parent)) break;
    if (parent === own) return parent;
    current = folders.get(parent) ?? null;
    if (folders.has(parent)) continue;
    current = await visibleFolder(client, parent);
    folders.set(parent, current);
  }
  return SHARED_WITH_ME;
}

/** Returns the item of the account's own root folder. */
export async function ownRoot(client: SourceClient): Promise<SourceItem> {
  const { id, name, webViewLink } = await fileAt(client, 'root');
  if (!isFileId(id))
    throw new Fault(
      'server_error',
      'Google Drive returned no root folder of the account. The request is retried automatically.',
    );
  return itemOfContainer(id, asName(name) ?? 'My Drive', asLink(webViewLink), null);
}
