/** A Google Drive with hundreds of thousands of items in a tree: a folder contains 49 files and at most ten folders. */
import { type Call, sendJson } from '../emulator.js';
import { type GoogleRefusal, refuseGoogle } from '../googleApi.js';
import { type LargeAccount, range, startLarge } from './largeAccount.js';
import { type Limit, MINUTE_MS } from './quota.js';

/** The limits apply to projects created on or after 1 May 2026. */
const QUOTA_PAGE = 'https://developers.google.com/workspace/drive/api/guides/limits';
const isList = ({ path }: Call): boolean => ['files', 'drives', 'changes'].includes(path.at(-1) ?? '');
const LIMITS: readonly Limit[] = [
  {
    name: 'quota units of a user per minute',
    ...{ max: 325_000, perMs: MINUTE_MS, page: QUOTA_PAGE },
    unitsOf: (call) => (isList(call) ? 100 : 5),
  },
];
const FOLDERS_IN = 10;
const FILES_IN = 49;
const ROOT = '0AHarbour';
const STAMP = '2026-03-03T10:00:00.000Z';

const folderId = (folder: number): string => (folder === 0 ? ROOT : `folder-${folder}`);
const common = { trashed: false, createdTime: STAMP, modifiedTime: STAMP, version: '1' };

/** @param items number of files and folders, including the root folder; a multiple of 50 */
export const startLargeGoogleDrive = (items: number): Promise<LargeAccount> => {
  const folders = items / (FILES_IN + 1);
  const folderJson = (folder: number) => ({
    ...{ id: folderId(folder), name: `Folder ${folder}`, mimeType: 'application/vnd.google-apps.folder', ...common },
    ...(folder === 0 ? {} : { parents: [folderId(Math.floor((folder - 1) / FOLDERS_IN))] }),
  });
  const fileJson = (folder: number, file: number) => ({
    ...{ id: `file-${folder}-${file}`, name: `File ${file}.txt`, mimeType: 'text/plain', ...common },
    ...{ parents: [folderId(folder)], md5Checksum: `md5-${folder}-${file}` },
  });
  const childrenOf = (folder: number) => {
    const first = folder * FOLDERS_IN + 1;
    const inner = range(first, Math.min(folders, first + FOLDERS_IN)).map(folderJson);
    return [...inner, ...range(0, FILES_IN).map((file) => fileJson(folder, file))];
  };
  const numberOf = (id: string): number => (id === ROOT || id === 'root' ? 0 : Number(id.replace('folder-', '')));
  const answer = ({ path, query, response }: Call): void => {
    const send = (body: object): void => sendJson(response, 200, body);
    const [, , resource, id] = path;
    if (resource === 'drives') return send({ drives: [] });
    if (resource === 'changes')
      return send(
        id === 'startPageToken'
          ? { kind: 'drive#startPageToken', startPageToken: '1' }
          : { changes: [], newStartPageToken: '1' },
      );
    if (id !== undefined) return send(folderJson(numberOf(id)));
    const parents = [...(query.get('q') ?? '').matchAll(/'([\w-]+)' in parents/g)].map(([, parent = '']) => parent);
    const all = parents.flatMap((parent) => childrenOf(numberOf(parent)));
    const from = Number(query.get('pageToken') ?? 0);
    const to = from + Number(query.get('pageSize') ?? 100);
    send({
      files: all.slice(from, to),
      incompleteSearch: false,
      ...(to < all.length ? { nextPageToken: String(to) } : {}),
    });
  };
  return startLarge<GoogleRefusal>({
    source: 'GOOGLE_DRIVE',
    files: folders * FILES_IN,
    limits: LIMITS,
    path: '/drive/v3',
    refuse: refuseGoogle,
    refusalOf: () => ({ status: 403, reason: 'userRateLimitExceeded', message: 'User Rate Limit Exceeded' }),
    answer,
  });
};
