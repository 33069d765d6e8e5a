/**
 * Google Drive: files and documents of an account and its shared drives, and those shared with it.
 * https://developers.google.com/workspace/drive/api
 */
import { Fault } from '../../../contract/failures.js';
import type { Connector } from '../../connector.js';
import type { OAuthGrant } from '../../oauthSpec.js';
import type { SourceClient } from '../../accountClient.js';
import type { SourceItem } from '../../sourceItem.js';
import { classify, googleOAuth, projectLimit, waitMs } from '../api.js';
import { withCursor } from '../../cursors.js';
import { asAnswer, asList, asText } from '../../json.js';
import type { DriveAbout, DriveUser } from '../vendorTypes.js';
import { type FileJson, isFileId, isFolder, itemOfFile, itemOfContainer, SHARED_WITH_ME, targetOf } from './adapter.js';
import { driveChanges } from './changes.js';
import { fileAt, openFile } from './open.js';
import { driveAt, drivesPage, ownRoot, ownRootId, rootOf } from './places.js';
import { FOLDER_CURSOR, nextFoldersPage, walkFrom } from './walk.js';
import { bearer } from '../../bearer.js';

const sharedPlace = (): SourceItem =>
  itemOfContainer(SHARED_WITH_ME, 'Shared with me', 'https://drive.google.com/drive/shared-with-me', null);

/** Returns the item of a folder that is the account's own root or the root of a shared drive; null for others. */
async function outermost(client: SourceClient, folder: FileJson): Promise<SourceItem | null> {
  const { id, driveId, parents } = folder;
  if (isFileId(driveId)) return driveId === id ? driveAt(client, driveId) : null;
  if (Array.isArray(parents) && parents.length > 0) return null;
  const own = await ownRoot(client);
  return own.externalId === id ? own : null;
}

export const googleDrive: Connector<OAuthGrant> = {
  about: {
    listed: 'own files, files that others share, shared drives: folders, files, shortcuts',
    ingested: 'each file; Docs, Sheets, Slides, Drawings and scripts exported; forms, sites and maps end in SYNC_ERROR',
    unchangedBy: 'MD5, else the version, and the name; shortcuts are fetched again',
    deletions:
      'items in the trash count as deleted; after the account joins a shared drive, everything is listed again',
    limits: '1,000 shared drives; 200 levels of folders; a shortcut to a folder is followed only if it is selected',
  },
  oauth: googleOAuth(['https://www.googleapis.com/auth/drive.readonly']),
  headers: bearer,
  classify,
  waitMs,
  sharedLimit: projectLimit,

  async identify(client) {
    // Any of Drive's scopes gives access to these fields.
    const about = await client.get(['about'], { fields: 'user(displayName,emailAddress,permissionId)' });
    const { displayName, emailAddress, permissionId } = asAnswer<DriveUser>(asAnswer<DriveAbout>(about).user);
    const email = asText(emailAddress)?.toLowerCase();
    const account = email ?? asText(permissionId);
    if (account === null) throw new Fault('server_error', 'Google Drive returned no user. Try again.');
    return {
      account,
      metadata: {
        ...(email === undefined ? {} : { email }),
        ...(asText(displayName) === null ? {} : { user_name: displayName }),
      },
    };
  },

  async listRoots(client, cursor) {
    const { items, next } = await drivesPage(client, cursor);
    return { items: cursor === null ? [await ownRoot(client), sharedPlace(), ...items] : items, next };
  },

  listDescendants: withCursor(FOLDER_CURSOR, async (client: SourceClient, externalId: string, cursor) => {
    if (cursor !== null) return nextFoldersPage(client, cursor);
    if (externalId === SHARED_WITH_ME) {
      const page = await nextFoldersPage(client, walkFrom(SHARED_WITH_ME, { root: SHARED_WITH_ME }));
      return { ...page, items: [sharedPlace(), ...page.items] };
    }
    const item = await fileAt(client, externalId);
    const target = targetOf(item);
    const keys = target?.keys ?? null;
    const folder = target?.isFolder === true ? await fileAt(client, target.id, { keys }) : isFolder(item) ? item : null;
    const { driveId: ofDrive } = folder ?? item;
    const driveId = isFileId(ofDrive) ? ofDrive : null;
    const outermostItem = folder === item ? await outermost(client, folder) : null;
    // The folders above a single file are not requested, so outside of shared drives the root of its item may be wrong.
    // This has no effect: the caller stores items below a folder, but not the item of a requested file.
    const isInside = outermostItem === null && folder !== null && asList(folder.parents).length > 0;
    const rootOfOwn = async (): Promise<string> =>
      isInside ? rootOf(client, folder, await ownRootId(client)) : SHARED_WITH_ME;
    const root = outermostItem?.externalId ?? driveId ?? (await rootOfOwn());
    const itself = (where: string): SourceItem[] => [outermostItem ?? itemOfFile(item, where) ?? []].flat();
    if (folder === null) return { items: itself(root), next: null };
    const id = asText(folder.id) ?? externalId;
    try {
      const page = await nextFoldersPage(client, walkFrom(id, { root, driveId, keys }));
      return { ...page, items: [...itself(root), ...page.items] };
    } catch (error) {
      if (driveId === null || !(error instanceof Fault) || error.kind !== 'not_found') throw error;
      // The account is not a member of the folder's drive.
      const page = await nextFoldersPage(client, walkFrom(id, { root: SHARED_WITH_ME, keys }));
      return { ...page, items: [...itself(SHARED_WITH_ME), ...page.items] };
    }
  }),

  changes: driveChanges,
  open: openFile,
};
