/** Google Drive: what lies in the person's own drive. https://developers.google.com/workspace/drive/api/reference/rest/v3 */
import { mimeTypeOf, formatOfName } from '../../contract/fileFormats.js';
import { Fault } from '../../contract/failures.js';
import type { Connector, OAuthGrant, Refusal, SourceClient, SourceItem } from '../connector.js';
import { FILE_FIELDS, type FileJson, isFileId, itemOfFile } from './adapter.js';

const FILES_PER_PAGE = '1000';
/** What the outermost folder is called in queries; as an item, it is none. */
const MY_DRIVE = 'root';

const GONE = new Fault(
  'not_found',
  'Google Drive has no such file for the connected account. It may have been deleted.',
);

/** 403 says several things; which, stands in the body. */
const LIMITS = new Set(['userRateLimitExceeded', 'rateLimitExceeded', 'quotaExceeded', 'dailyLimitExceeded']);
function reasonOf({ body }: Refusal): string {
  const { error } = (body ?? {}) as { error?: { errors?: readonly { reason?: unknown }[] } };
  const reason = Array.isArray(error?.errors) ? (error.errors[0] as { reason?: unknown } | undefined)?.reason : null;
  return typeof reason === 'string' ? reason : '';
}

async function fileOf(client: SourceClient, id: string, signal: AbortSignal): Promise<FileJson> {
  if (!isFileId(id)) throw GONE;
  const query = { fields: FILE_FIELDS, supportsAllDrives: 'true' };
  const file = (await client.get(['files', id], query, signal)) as FileJson;
  if (file.trashed === true) throw GONE;
  return file;
}

/** A page of what lies in a folder itself. */
async function inFolder(
  client: SourceClient,
  folder: string,
  { parent, root }: { readonly parent: string | null; readonly root: string | null },
  pageToken: string | null,
  signal: AbortSignal,
): Promise<{ items: SourceItem[]; next: string | null }> {
  const query = {
    q: `'${folder}' in parents and trashed=false`,
    fields: `nextPageToken,files(${FILE_FIELDS})`,
    pageSize: FILES_PER_PAGE,
    ...(pageToken === null ? {} : { pageToken }),
  };
  const { files, nextPageToken } = await client.get(['files'], query, signal);
  const found = Array.isArray(files) ? (files as FileJson[]) : [];
  return {
    items: found.flatMap((file) => itemOfFile(file, parent, root) ?? []),
    next: typeof nextPageToken === 'string' ? nextPageToken : null,
  };
}

/** Where a listing below an item goes on. */
interface Cursor {
  /** Folders still to be listed; the first one is under way. */
  readonly open: readonly string[];
  readonly at: string | null;
}

export const googleDrive: Connector<OAuthGrant> = {
  oauth: {
    scopes: ['https://www.googleapis.com/auth/drive.readonly'],
    scopeSeparator: ' ',
    scopeParameter: 'scope',
    pkce: true,
    clientAuth: 'post',
    bodyFormat: 'form',
    // Without these, who has consented before gives no refresh token.
    authorizeParameters: { access_type: 'offline', prompt: 'consent' },
    rotates: false,
  },
  headers: ({ accessToken }) => ({ authorization: `Bearer ${accessToken}` }),
  classify(refusal) {
    if (refusal.status === 403 && LIMITS.has(reasonOf(refusal))) return 'rate_limited';
    return null;
  },

  async identify(client, _grant, signal) {
    const { user } = await client.get(['about'], { fields: 'user(emailAddress,displayName)' }, signal);
    const { emailAddress, displayName } = (user ?? {}) as { emailAddress?: unknown; displayName?: unknown };
    if (typeof emailAddress !== 'string' || emailAddress === '')
      throw new Fault('server_error', 'Google Drive named no account. Try again.');
    const email = emailAddress.toLowerCase();
    return {
      account: email,
      metadata: { email, ...(typeof displayName === 'string' ? { user_name: displayName } : {}) },
    };
  },

  roots: (client, _grant, cursor, signal) => inFolder(client, MY_DRIVE, { parent: null, root: null }, cursor, signal),

  async below(client, externalId, cursor, signal) {
    if (cursor === null) {
      const item = itemOfFile(await fileOf(client, externalId, signal), null, null);
      if (!item) throw GONE;
      const next: Cursor = { open: [externalId], at: null };
      return { items: [item], next: item.isExpandable ? JSON.stringify(next) : null };
    }
    const { open, at } = JSON.parse(cursor) as Cursor;
    const [folder = externalId, ...rest] = open;
    const { items, next } = await inFolder(client, folder, { parent: folder, root: externalId }, at, signal);
    const folders = items.filter(({ isExpandable }) => isExpandable).map((item) => item.externalId);
    const left: Cursor = { open: next === null ? [...rest, ...folders] : [folder, ...rest, ...folders], at: next };
    return { items, next: left.open.length === 0 ? null : JSON.stringify(left) };
  },

  async open(client, externalId, signal) {
    const file = await fileOf(client, externalId, signal);
    const item = itemOfFile(file, null, null);
    if (!item) throw GONE;
    if (!item.hasContent)
      throw new Fault('unsupported_type', 'Google Drive gives this kind of file out in no form that can be read.');
    const { bytes, headers } = await client.content(
      ['files', externalId],
      { alt: 'media', supportsAllDrives: 'true' },
      signal,
    );
    const format = formatOfName(item.name);
    return {
      bytes,
      contentType: headers['content-type'] ?? 'application/octet-stream',
      format: null,
      mimeType: format === null ? 'application/octet-stream' : mimeTypeOf(format),
      name: item.name,
      url: item.externalUrl ?? externalId,
      facts: { is_folder: false },
    };
  },
};
