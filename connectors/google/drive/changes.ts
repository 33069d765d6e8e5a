import { changeFeed, count, shapeOf, listOf, pairOf, string, type Checked } from '../../cursors.js';
import { Fault } from '../../../contract/failures.js';
import type { SourceClient } from '../../accountClient.js';
import type { Change } from '../../sourceItem.js';
import { type Answer, asAnswer, asTimestamp, asName, asText } from '../../json.js';
import type { DriveChange, DriveChangeList, DriveFile, DriveStart, SharedDrive } from '../vendorTypes.js';
import { isStale } from '../paged.js';
import {
  FILE_FIELDS,
  type FileJson,
  isFileId,
  isFolder,
  isTrashed,
  itemOfFile,
  itemOfContainer,
  SHARED_WITH_ME,
} from './adapter.js';
import { allDrives, driveUrl, ownRoot, rootOf } from './places.js';
import { ALL_DRIVES } from './walk.js';
import { requireList } from '../../faults.js';

/**
 * Positions in the change logs: the account's own, which lacks the changes in shared drives, and one per shared drive.
 */
const CHANGE_TOKEN = shapeOf({
  /** Each page token with its drive's id before it; '' for the account's own log. */
  logs: listOf(pairOf(string, string)),
  /** Index of the log that is being read. */
  at: count,
  /** The id of the account's own root folder. */
  root: string,
});
type ChangeToken = Checked<typeof CHANGE_TOKEN>;

const FIELDS = `nextPageToken,newStartPageToken,changes(changeType,removed,fileId,driveId,drive(id,name,createdTime),file(${FILE_FIELDS}))`;
const ENTRIES_PER_PAGE = '1000';
/** Placeholder for the account's own log, which has no drive id. */
const OWN = '';

const stale = (): Fault =>
  new Fault('stale_cursor', 'Google Drive no longer has the changes since the last sync. Everything is listed again.');

async function startOf(client: SourceClient, drive: string): Promise<string> {
  const query = { supportsAllDrives: 'true', ...(drive === OWN ? {} : { driveId: drive }) };
  const { startPageToken } = asAnswer<DriveStart>(await client.get(['changes', 'startPageToken'], query));
  const token = asText(startPageToken);
  if (token === null)
    throw new Fault(
      'server_error',
      'Google Drive returned no page token of its changes. The request is retried automatically.',
    );
  return token;
}

/** Converts a log entry to a change; null for entries without one. */
async function fileChange(
  entry: Answer<DriveChange>,
  { logs, root: ownRootId }: Pick<ChangeToken, 'logs' | 'root'>,
  rootOfOwn: (file: FileJson) => Promise<string>,
): Promise<Change | null> {
  const { fileId } = entry;
  if (!isFileId(fileId)) return null;
  const file = asAnswer<DriveFile>(entry.file);
  // With includeCorpusRemovals, the entry of a file that was moved to another drive contains the file. An entry without
  // it means that the file was deleted or is inaccessible.
  if (!isFileId(file.id) || isTrashed(file)) return { gone: fileId };
  // No change for the root folder of the account or of a shared drive: its file has no parent, and for a shared drive
  // the name "Drive" instead of the drive's name.
  if (fileId === ownRootId || logs.some(([id]) => id === fileId)) return null;
  const { driveId } = file;
  // A drive without a log is one that the account is not a member of: its files are shared with the account.
  const isForeign = isFileId(driveId) && !logs.some(([id]) => id === driveId);
  const root = isForeign ? SHARED_WITH_ME : isFileId(driveId) ? driveId : await rootOfOwn(file);
  const item = itemOfFile(file, root);
  return item && { item };
}

/** Whether an error means that a drive's log ended, because the drive was deleted or is inaccessible. */
const hasEnded = (error: unknown): boolean =>
  error instanceof Fault && (error.kind === 'not_found' || error.kind === 'access_denied');

export const driveChanges = changeFeed(CHANGE_TOKEN, {
  async now(client) {
    const logs: [string, string][] = [[OWN, await startOf(client, OWN)]];
    for (const { externalId } of await allDrives(client)) logs.push([externalId, await startOf(client, externalId)]);
    return { logs, at: 0, root: (await ownRoot(client)).externalId };
  },

  async since(client, { logs, at, root }) {
    const [drive, token] = logs[at] ?? [OWN, ''];
    const continueAt = (unread: ChangeToken['logs'], next: number) => {
      const more = next < unread.length;
      return { next: { logs: unread, at: more ? next : 0, root }, more };
    };
    const query = {
      pageToken: token,
      pageSize: ENTRIES_PER_PAGE,
      includeRemoved: 'true',
      includeCorpusRemovals: 'true',
      fields: FIELDS,
      ...ALL_DRIVES,
      ...(drive === OWN ? {} : { driveId: drive }),
    };
    let body: Answer<DriveChangeList>;
    try {
      body = asAnswer<DriveChangeList>(await client.get(['changes'], query));
    } catch (error) {
      if (isStale(error) || (drive === OWN && hasEnded(error))) throw stale();
      if (!hasEnded(error)) throw error;
      // The account is no longer a member of the drive.
      return {
        changes: [{ gone: drive }],
        ...continueAt(
          logs.filter(([id]) => id !== drive),
          at,
        ),
      };
    }
    const changes: Change[] = [];
    let remaining = logs;
    const entries = requireList('Google Drive', body.changes).map(asAnswer<DriveChange>);
    const files = entries.map(({ file }) => asAnswer<DriveFile>(file));
    const folders = new Map<string, FileJson | null>(
      files.flatMap((file) => (isFileId(file.id) && isFolder(file) ? [[file.id, file]] : [])),
    );
    for (const entry of entries) {
      if (entry.changeType !== 'drive') {
        const change = await fileChange(entry, { logs: remaining, root }, (file) =>
          rootOf(client, file, root, folders),
        );
        if (change) changes.push(change);
        continue;
      }
      const { driveId, removed } = entry;
      if (!isFileId(driveId)) continue;
      if (removed === true) {
        remaining = remaining.filter(([id]) => id !== driveId);
        changes.push({ gone: driveId });
        continue;
      }
      // No log reports the existing files of a drive that the account has just joined.
      if (!remaining.some(([id]) => id === driveId)) throw stale();
      const { name, createdTime } = asAnswer<SharedDrive>(entry.drive);
      changes.push({
        item: itemOfContainer(driveId, asName(name) ?? driveId, driveUrl(driveId), asTimestamp(createdTime)),
      });
    }
    const [nextToken, newStart] = [asText(body.nextPageToken), asText(body.newStartPageToken)];
    const moved = remaining.map((log) => (log[0] === drive ? ([drive, nextToken ?? newStart ?? token] as const) : log));
    const driveIndex = moved.findIndex(([id]) => id === drive);
    return { changes, ...continueAt(moved, nextToken === null ? (driveIndex < 0 ? at : driveIndex + 1) : driveIndex) };
  },
});
