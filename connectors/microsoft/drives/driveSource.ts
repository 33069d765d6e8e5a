import { Fault } from '../../../contract/failures.js';
import type { ItemContent } from '../../connector.js';
import type { SourceClient } from '../../accountClient.js';
import { withCallerId } from '../graph.js';
import { contentOf, isFolder, isId, isRoot, ITEM_FIELDS, partsOf, remoteOf } from './adapter.js';
import { withCursor } from '../../cursors.js';
import { DRIVE_CURSOR, listDrive, listItem, nextPage } from './listDrive.js';
import { asText } from '../../json.js';
import { noSuchItem, requireId } from '../../faults.js';

/** Returns the path of the drive for ids without one. */
type DefaultDrive = () => Promise<readonly string[]>;

const isMissing = (error: unknown): boolean => error instanceof Fault && error.kind === 'not_found';

/**
 * Resolves an id from a caller. An id without a slash names a drive. If no such drive exists, it names an item in the
 * default drive.
 * @throws Fault not_found
 */
async function resolveItemId(
  client: SourceClient,
  externalId: string,
  { name, defaultDrive }: { name: string; defaultDrive: DefaultDrive },
): Promise<{ readonly drive: string; readonly item: string | null }> {
  const { drive, item } = partsOf(externalId);
  if (!isId(drive) || (item !== null && !isId(item))) throw noSuchItem(name);
  if (item !== null) return { drive, item };
  try {
    requireId(name, await withCallerId(name, client.get(['drives', drive], { $select: 'id' })), 'the drive');
    return { drive, item: null };
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  const path = [...(await defaultDrive()), 'items', drive];
  const request = client.get(path, { $select: 'id,parentReference' });
  const found = requireId(name, await withCallerId(name, request), 'the item');
  const parent = found['parentReference'] as { readonly driveId?: unknown } | undefined;
  const id = asText(parent?.driveId);
  if (id === null || !isId(id)) throw noSuchItem(name);
  return { drive: id, item: drive };
}

interface Below {
  readonly externalId: string;
  /** Name of the source in sentences. */
  readonly name: string;
  readonly defaultDrive: DefaultDrive;
}

/** Returns a page of the listing of a drive, a folder or a file. */
export const listDriveDescendants = withCursor(
  DRIVE_CURSOR,
  async (client: SourceClient, { externalId, name, defaultDrive }: Below, cursor) => {
    if (cursor !== null) return nextPage(client, cursor);
    const { drive, item } = await resolveItemId(client, externalId, { name, defaultDrive });
    return item === null ? listDrive(client, drive, name) : listItem(client, { drive, item }, name);
  },
);

/** Downloads a file. Graph redirects to a URL that is itself a credential, so the request to it has no other one. */
export async function openFile(client: SourceClient, externalId: string, name: string): Promise<ItemContent> {
  const { drive, item } = partsOf(externalId);
  if (item === null || !isId(drive) || !isId(item)) throw noSuchItem(name);
  const path = ['drives', drive, 'items', item];
  const request = client.get(path, { $select: ITEM_FIELDS });
  const found = requireId(name, await withCallerId(name, request), 'the file');
  const remote = remoteOf(found);
  // A link to an item of another drive has no bytes of its own.
  if (remote !== null) return openFile(client, `${remote.drive}/${remote.item}`, name);
  if (isFolder(found) || isRoot(found))
    throw new Fault('unsupported_type', `A folder of ${name} has no text of its own: sync the files in it.`);
  if (found['file'] === undefined)
    throw new Fault(
      'unsupported_type',
      `${name} cannot export a notebook in a readable format. Export it there, then upload the file.`,
    );
  const { bytes } = await client.content([...path, 'content'], {});
  return contentOf(found, externalId, bytes);
}
