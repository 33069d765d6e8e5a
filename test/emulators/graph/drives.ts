/** Drives of Microsoft Graph whose items a test changes. */
import type { Call } from '../emulator.js';
import { type Changed, refuse, sendFeed, sendOne, sendPage } from './answers.js';

export interface EmulatedItem {
  name: string;
  /** Id of the parent folder; null for the root folder. */
  parent: string | null;
  /** Unset for folders. */
  content?: string | Buffer;
  /** Whether the file has no hash, like some files of SharePoint. */
  readonly isUnhashed?: boolean;
  readonly mimeType?: string;
  readonly package?: boolean;
  /** For a link to an item of another drive: that drive and item. */
  readonly remote?: { readonly drive: string; readonly item: string; readonly isFile?: boolean };
  /** Time of the item's last change, and of its content's last change, by the clock of `Drives`. */
  at: number;
  contentAt: number;
}

export interface EmulatedDrive {
  readonly id: string;
  readonly name: string;
  readonly items: Map<string, EmulatedItem>;
  /** Times of deletions by item id. */
  readonly deletions: Map<string, number>;
  /** Delta tokens from before this time are no longer valid. */
  oldestToken: number;
}

export const rootOf = (drive: string): string => `root-${drive}`;
const STAMP = '2026-03-03T10:00:00Z';

/** All drives, and a clock that counts changes. */
export class Drives {
  readonly all = new Map<string, EmulatedDrive>();
  #now = 0;

  get now(): number {
    return this.#now;
  }

  tick(): number {
    this.#now += 1;
    return this.#now;
  }

  add(id: string, name = `Drive ${id}`): EmulatedDrive {
    const root: EmulatedItem = { name: 'root', parent: null, at: this.tick(), contentAt: this.#now };
    const drive = {
      id,
      name,
      items: new Map([[rootOf(id), root]]),
      deletions: new Map<string, number>(),
      oldestToken: 0,
    };
    this.all.set(id, drive);
    return drive;
  }

  /**
   * Creates or replaces an item at a path, with the missing folders above it. The id is derived from the path.
   * @returns the id
   */
  put(driveId: string, path: string, item: Partial<EmulatedItem> = {}): string {
    const { items } = this.all.get(driveId)!;
    const parts = path.split('/');
    let parent = rootOf(driveId);
    for (const [depth, name] of parts.entries()) {
      const id = parts
        .slice(0, depth + 1)
        .join('.')
        .replaceAll(/[^\w.-]/g, '-');
      const existing = items.get(id);
      const at = this.tick();
      if (depth === parts.length - 1) items.set(id, { ...existing, name, parent, at, contentAt: at, ...item });
      else if (!existing) items.set(id, { name, parent, at, contentAt: at });
      parent = id;
    }
    return parent;
  }

  write(driveId: string, id: string, content: string | Buffer): void {
    const item = this.all.get(driveId)!.items.get(id)!;
    item.content = content;
    item.at = this.tick();
    item.contentAt = item.at;
  }

  /** Removes an item and its descendants. The feed reports only the item itself. */
  remove(driveId: string, id: string): void {
    const { items, deletions } = this.all.get(driveId)!;
    const removed = [id];
    for (const current of removed) {
      for (const [key, { parent }] of items) if (parent === current) removed.push(key);
      items.delete(current);
    }
    deletions.set(id, this.tick());
  }
}

export const driveJson = ({ id, name }: EmulatedDrive): Record<string, unknown> => ({
  id,
  name,
  driveType: 'business',
  webUrl: `https://harbour.example/${id}`,
  createdDateTime: STAMP,
});

function itemJson(drive: EmulatedDrive, id: string, item: EmulatedItem, isInFeed: boolean): Record<string, unknown> {
  const { name, parent, content, mimeType = 'application/octet-stream', remote } = item;
  const above = parent === null ? undefined : drive.items.get(parent)?.name;
  const path = `/drives/${drive.id}/root:${parent === rootOf(drive.id) ? '' : `/${above ?? 'above'}`}`;
  const facet = remote
    ? {
        remoteItem: {
          ...{ id: remote.item, name, parentReference: { driveId: remote.drive } },
          ...(remote.isFile === true ? { file: {} } : { folder: {} }),
        },
      }
    : item.package
      ? { package: { type: 'oneNote' } }
      : content === undefined
        ? { folder: { childCount: 1 } }
        : {
            file: { mimeType, ...(item.isUnhashed ? {} : { hashes: { quickXorHash: `x${item.contentAt}` } }) },
            size: Buffer.from(content).length,
          };
  return {
    id,
    name,
    webUrl: `https://harbour.example/${drive.id}/${id}`,
    createdDateTime: STAMP,
    lastModifiedDateTime: new Date(item.at * 1000).toISOString(),
    eTag: `"{${id}},${item.at}"`,
    // The feed of OneDrive for Business and SharePoint omits paths and cTag:
    // https://learn.microsoft.com/graph/api/driveitem-delta#remarks
    ...(isInFeed ? {} : { cTag: `"c:{${id}},${item.contentAt}"` }),
    parentReference: { driveId: drive.id, id: parent, ...(isInFeed ? {} : { path }) },
    ...(parent === null ? { root: {} } : {}),
    ...facet,
  };
}

/** Returns the changes of a drive, oldest first. The root folder is first. */
function changedOf(drive: EmulatedDrive): Changed[] {
  const present = [...drive.items].map(([id, item]) => ({ at: item.at, value: itemJson(drive, id, item, true) }));
  const deleted = [...drive.deletions]
    .filter(([id]) => !drive.items.has(id))
    .map(([id, at]) => ({ at, value: { id, deleted: { state: 'deleted' }, parentReference: { driveId: drive.id } } }));
  return [...present, ...deleted].toSorted((a, b) => a.at - b.at);
}

export interface DriveAnswers {
  readonly drives: Drives;
  readonly pageSize: number;
  /** Returns the download address of an item. */
  contentUrl(drive: string, item: string): string;
}

/** Answers a request below a drive. @param rest path segments after the drive's id */
export function answerDrive(
  call: Call,
  drive: EmulatedDrive | undefined,
  rest: readonly string[],
  to: DriveAnswers,
): void {
  const { response } = call;
  const missing = (): void => refuse(response, { status: 404 });
  if (!drive) return missing();
  const [resource, second = '', third] = rest;
  if (resource === undefined) return sendOne(call, driveJson(drive));
  const root = rootOf(drive.id);
  if (resource === 'root' && second === '') return sendOne(call, itemJson(drive, root, drive.items.get(root)!, false));
  if (resource === 'root' && /^delta(\(|$)/.test(second)) {
    const parameters = { pageSize: to.pageSize, skip: 'token', delta: 'token', oldestToken: drive.oldestToken };
    return sendFeed(call, changedOf(drive), { ...parameters, now: to.drives.now });
  }
  const item = resource === 'items' ? drive.items.get(second) : undefined;
  if (!item) return missing();
  if (third === undefined) return sendOne(call, itemJson(drive, second, item, false));
  if (third === 'children') {
    const children = [...drive.items].filter(([, { parent }]) => parent === second);
    return sendPage(
      call,
      children.map(([id, child]) => itemJson(drive, id, child, false)),
      to.pageSize,
    );
  }
  if (third !== 'content' || item.content === undefined) return missing();
  response.writeHead(302, { location: to.contentUrl(drive.id, second) }).end();
}
