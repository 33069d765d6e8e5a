/**
 * Emulates Google Drive on loopback, by its published API reference (v3): a person's drive, shared drives and files
 * shared by others, all changed by a test. Consent and tokens come from oauthProvider.ts, at Google's paths.
 */
import { createHash } from 'node:crypto';

import { type Call, sendJson } from './emulator.js';
import { createPages, type GoogleEmulator, type Pages, refuseGoogle, selectFields, startGoogle } from './googleApi.js';
import { createDriveLog, type DriveLog, type Logged } from './googleDriveLog.js';
import { readDriveQuery } from './googleDriveQuery.js';
import type { OAuthProviderSettings } from './oauthProvider.js';

export interface EmulatedFile {
  name: string;
  /** Unset: text/plain. */
  mimeType?: string;
  /** Parent folder. Unset: the root folder. Null: no visible parent, as for files shared by others. */
  parent?: string | null;
  /** Id of the file's shared drive. The account is a member only of the shared drives in `drives`. */
  drive?: string;
  content?: string | Buffer;
  /** Only for shortcuts: id of the target file. */
  target?: string;
  /** Resource key of the file: requests without the key are refused. A shortcut to the file contains it. */
  key?: string;
  trashed?: boolean;
}

const NATIVE = 'application/vnd.google-apps.';
export const DRIVE_FOLDER = `${NATIVE}folder`;
export const DRIVE_SHORTCUT = `${NATIVE}shortcut`;
export const DRIVE_DOCUMENT = `${NATIVE}document`;
/** Id of the account's root folder. */
export const DRIVE_ROOT = '0AHarbour';

/** Export formats by kind of document. */
const EXPORTS: Readonly<Record<string, readonly string[]>> = {
  document: [
    'text/markdown',
    'text/plain',
    'application/pdf',
    'application/rtf',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  ],
  spreadsheet: [
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    'text/csv',
    'text/tab-separated-values',
    'application/pdf',
  ],
  presentation: [
    'application/vnd.openxmlformats-officedocument.presentationml.presentation',
    'text/plain',
    'application/pdf',
  ],
  drawing: ['application/pdf', 'image/png'],
  script: ['application/vnd.google-apps.script+json'],
};

export interface GoogleDriveEmulator extends GoogleEmulator {
  readonly url: string;
  /** The value of SOURCE_URLS. */
  readonly settings: string;
  /** Files by id; every account sees the same files. */
  readonly files: Record<string, EmulatedFile>;
  /** Names of shared drives by id. */
  readonly drives: Record<string, string>;
  readonly pages: Pages;
  readonly log: DriveLog;
  readonly limits: {
    /** Maximum size of an export in bytes. */
    exported: number;
    /** Whether a search of all drives reports `incompleteSearch`. */
    isIncomplete: boolean;
  };
}

/** The fields of a file that an answer contains if the request names none. */
const DEFAULTS = 'kind,id,name,mimeType';

const timestamp = '2026-03-03T10:00:00.000Z';
const exportsOf = (mimeType: string): readonly string[] =>
  mimeType.startsWith(NATIVE) ? (EXPORTS[mimeType.slice(NATIVE.length)] ?? []) : [];

/** @param filesPerPage maximum page size, even if a request asks for more */
export async function startGoogleDrive(
  files: Record<string, EmulatedFile> = {},
  { filesPerPage = 2, ...settings }: { filesPerPage?: number } & Partial<OAuthProviderSettings> = {},
): Promise<GoogleDriveEmulator> {
  const drives: Record<string, string> = {};
  const pages = createPages();
  const limits = { exported: 10_000_000, isIncomplete: false };
  const log = createDriveLog(() => {
    const logged = ([id, file]: [string, EmulatedFile]): [string, Logged] => {
      const content = Buffer.from(file.content ?? '').toString('base64');
      return [id, { log: file.drive ?? '', state: JSON.stringify({ ...file, content }) }];
    };
    const ofDrive = ([id, name]: [string, string]): [string, Logged] => [id, { log: '', state: name }];
    return new Map([...Object.entries(files).map(logged), ...Object.entries(drives).map(ofDrive)]);
  });
  let origin = '';
  /** Ids of all shared drives that have existed. */
  const pastDrives = new Set<string>();

  const parentOf = ({ parent, drive }: EmulatedFile): string | null =>
    parent === undefined || parent === 'root' ? (drive ?? DRIVE_ROOT) : parent;
  /** A file is trashed if it or any folder above it is. */
  const isTrashed = (file: EmulatedFile, levels = 0): boolean => {
    const folder = files[parentOf(file) ?? ''];
    // Tests can create folder cycles, so the depth is limited.
    return file.trashed === true || (folder !== undefined && levels < 100 && isTrashed(folder, levels + 1));
  };
  const fileJson = (id: string, file: EmulatedFile): Record<string, unknown> => {
    const { name, mimeType = 'text/plain', drive, content, target } = file;
    const parent = parentOf(file);
    const isNative = mimeType.startsWith(NATIVE);
    const link = (type: string) => `${origin}/documents/export?id=${id}&exportFormat=${encodeURIComponent(type)}`;
    const bytes = Buffer.from(content ?? '');
    return {
      kind: 'drive#file',
      ...{ id, name, mimeType, trashed: isTrashed(file), createdTime: timestamp, modifiedTime: timestamp },
      version: String(log.versionOf(id)),
      ...(parent === null ? {} : { parents: [parent] }),
      ...(drive === undefined ? {} : { driveId: drive }),
      ...(isNative
        ? exportsOf(mimeType).length > 0 && {
            exportLinks: Object.fromEntries(exportsOf(mimeType).map((type) => [type, link(type)])),
          }
        : { md5Checksum: createHash('md5').update(bytes).digest('hex'), size: String(bytes.length) }),
      ...(target === undefined
        ? {}
        : {
            shortcutDetails: {
              targetId: target,
              targetMimeType: files[target]?.mimeType ?? 'text/plain',
              ...(files[target]?.key === undefined ? {} : { targetResourceKey: files[target].key }),
            },
          }),
      webViewLink: `https://drive.google.com/file/d/${id}/view`,
    };
  };
  const driveJson = (id: string) => ({ kind: 'drive#drive', id, name: drives[id], createdTime: timestamp });
  /** Returns a file; files of shared drives only if the request sets supportsAllDrives. */
  const jsonAt = (id: string, query: URLSearchParams): Record<string, unknown> | null => {
    const folder = { name: 'My Drive', mimeType: DRIVE_FOLDER, parent: null };
    if (id === 'root' || id === DRIVE_ROOT) return fileJson(DRIVE_ROOT, folder);
    const supportsDrives = query.get('supportsAllDrives') === 'true';
    if (Object.hasOwn(drives, id))
      return supportsDrives ? { ...fileJson(id, { ...folder, name: 'Drive' }), driveId: id } : null;
    const file = Object.hasOwn(files, id) ? files[id] : undefined;
    return file && (file.drive === undefined || supportsDrives) ? fileJson(id, file) : null;
  };

  const list = (call: Call): void => {
    const { query, response } = call;
    const test = readDriveQuery((query.get('q') ?? 'trashed = false').replaceAll("'root'", `'${DRIVE_ROOT}'`));
    if (!test)
      return refuseGoogle(response, { status: 400, reason: 'invalid', message: 'Invalid Value', location: 'q' });
    const supportsDrives =
      query.get('supportsAllDrives') === 'true' && query.get('includeItemsFromAllDrives') === 'true';
    const driveId = query.get('driveId');
    const corpora = query.get('corpora') ?? 'user';
    if ((corpora === 'drive') !== (driveId !== null) || (corpora !== 'user' && !supportsDrives))
      return refuseGoogle(response, { status: 400, reason: 'invalid', location: 'corpora' });
    if (driveId !== null && !Object.hasOwn(drives, driveId))
      return refuseGoogle(response, { status: 404, message: `Shared drive not found: ${driveId}` });
    const isSearched = ({ drive, parent }: EmulatedFile): boolean => {
      if (driveId !== null) return drive === driveId;
      if (drive === undefined || !supportsDrives) return drive === undefined;
      return corpora === 'allDrives' || parent === null || Object.hasOwn(drives, drive);
    };
    const found = Object.entries(files).filter(([, file]) => {
      const parent = parentOf(file);
      const searched = {
        parents: parent === null ? [] : [parent],
        trashed: isTrashed(file),
        sharedWithMe: parent === null,
      };
      return isSearched(file) && test(searched);
    });
    const taken = pages.take(call, found, Math.min(filesPerPage, Number(query.get('pageSize') ?? 100)));
    if (!taken) return;
    const answer = {
      kind: 'drive#fileList',
      incompleteSearch: corpora === 'allDrives' && limits.isIncomplete,
      files: taken.page.map(([id, file]) => fileJson(id, file)),
      ...(taken.next === null ? {} : { nextPageToken: taken.next }),
    };
    sendJson(response, 200, selectFields(query.get('fields') ?? `kind,nextPageToken,files(${DEFAULTS})`, answer));
  };

  const exported = ({ query, response }: Call, id: string, isLink: boolean): void => {
    const file = files[id];
    const mimeType = query.get(isLink ? 'exportFormat' : 'mimeType') ?? '';
    const formats = exportsOf(file?.mimeType ?? '');
    if (!file) return refuseGoogle(response, { status: 404 });
    if (formats.length === 0) return refuseGoogle(response, { status: 403, reason: 'fileNotExportable' });
    if (!formats.includes(mimeType)) return refuseGoogle(response, { status: 400, location: 'convertTo' });
    const bytes = Buffer.from(file.content ?? '');
    if (!isLink && bytes.length > limits.exported)
      return refuseGoogle(response, { status: 403, reason: 'exportSizeLimitExceeded' });
    response.writeHead(200, { 'content-type': mimeType }).end(bytes);
  };

  const changes = (call: Call): void => {
    const { query, response } = call;
    const driveId = query.get('driveId') ?? '';
    if (driveId !== '' && !Object.hasOwn(drives, driveId)) return refuseGoogle(response, { status: 404 });
    const taken = log.since(call, driveId, Math.min(filesPerPage, Number(query.get('pageSize') ?? 100)));
    if (!taken) return;
    const entry = (id: string) => {
      if (Object.hasOwn(drives, id))
        return { kind: 'drive#change', changeType: 'drive', driveId: id, removed: false, drive: driveJson(id) };
      const file = jsonAt(id, query);
      if (!file && !Object.hasOwn(files, id) && pastDrives.has(id))
        return { kind: 'drive#change', changeType: 'drive', driveId: id, removed: true };
      const isHere =
        file !== null && (query.get('includeCorpusRemovals') === 'true' || (file['driveId'] ?? '') === driveId);
      return { kind: 'drive#change', changeType: 'file', fileId: id, removed: !isHere, ...(isHere ? { file } : {}) };
    };
    const nextToken = taken.isLast ? { newStartPageToken: taken.next } : { nextPageToken: taken.next };
    const answer = { kind: 'drive#changeList', changes: taken.ids.map(entry), ...nextToken };
    for (const id of Object.keys(drives)) pastDrives.add(id);
    sendJson(response, 200, selectFields(query.get('fields'), answer));
  };

  const emulator = await startGoogle(
    (call, { person }) => {
      log.logChanges();
      for (const id of Object.keys(drives)) pastDrives.add(id);
      const { path, query, response } = call;
      if (path.join('/') === 'documents/export') return exported(call, query.get('id') ?? '', true);
      const [drive, version, resource, id, part, ...rest] = path;
      if (drive !== 'drive' || version !== 'v3' || rest.length > 0) return refuseGoogle(response, { status: 404 });
      const send = (body: unknown, defaults: string | null = null): void =>
        sendJson(response, 200, selectFields(query.get('fields') ?? defaults, body));
      if (resource === 'about' && !query.has('fields'))
        return refuseGoogle(response, { status: 400, reason: 'required', location: 'fields' });
      if (resource === 'about' && id === undefined)
        return send({
          kind: 'drive#about',
          user: { kind: 'drive#user', emailAddress: person.id, displayName: person.label, permissionId: '0042' },
        });
      if (resource === 'drives' && id !== undefined)
        return Object.hasOwn(drives, id)
          ? send(driveJson(id), 'kind,id,name')
          : refuseGoogle(response, { status: 404 });
      if (resource === 'drives') {
        const taken = pages.take(call, Object.entries(drives), Math.min(2, Number(query.get('pageSize') ?? 10)));
        if (!taken) return;
        const rows = taken.page.map(([key]) => driveJson(key));
        const next = taken.next === null ? {} : { nextPageToken: taken.next };
        return send({ kind: 'drive#driveList', drives: rows, ...next }, 'kind,nextPageToken,drives(kind,id,name)');
      }
      if (resource === 'changes' && id === undefined) return changes(call);
      if (resource === 'changes' && id === 'startPageToken')
        return send({ kind: 'drive#startPageToken', startPageToken: log.now() });
      if (resource !== 'files') return refuseGoogle(response, { status: 404 });
      if (id === undefined) return list(call);
      const { key } = files[id] ?? {};
      const sent = String(call.request.headers['x-goog-drive-resource-keys'] ?? '').split(',');
      if (key !== undefined && !sent.includes(`${id}/${key}`))
        return refuseGoogle(response, { status: 404, message: `File not found: ${id}.`, location: 'fileId' });
      if (part === 'export') return exported(call, id, false);
      const file = part === undefined ? jsonAt(id, query) : null;
      if (!file) return refuseGoogle(response, { status: 404, message: `File not found: ${id}.`, location: 'fileId' });
      if (query.get('alt') !== 'media') return send(file, DEFAULTS);
      if (String(file['mimeType']).startsWith(NATIVE))
        return refuseGoogle(response, { status: 403, reason: 'fileNotDownloadable', location: 'alt' });
      response.writeHead(200, { 'content-type': String(file['mimeType']) }).end(Buffer.from(files[id]?.content ?? ''));
    },
    /^https:\/\/www\.googleapis\.com\/auth\/drive/,
    settings,
  );
  origin = emulator.origin;
  return {
    ...emulator,
    url: emulator.origin,
    settings: emulator.settingsOf('GOOGLE_DRIVE', { api: '/drive/v3', documents: '/documents' }),
    ...{ files, drives, pages, log, limits },
  };
}
