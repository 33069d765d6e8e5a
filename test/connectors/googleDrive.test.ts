import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import { openCursor, sealCursor } from '../../connectors/cursors.js';
import type { SourceItem } from '../../connectors/sourceItem.js';
import { itemOfFile } from '../../connectors/google/drive/adapter.js';
import type { Account } from '../../connectors/account.js';
import type { Egress } from '../../egress/types.js';
import {
  DRIVE_DOCUMENT,
  DRIVE_FOLDER,
  DRIVE_ROOT,
  DRIVE_SHORTCUT,
  type GoogleDriveEmulator,
  startGoogleDrive,
} from '../emulators/googleDrive.js';
import { grantedAccount, readListing, loopbackEgress, NEVER } from './account.js';
import { faultOf } from '../support/faultOf.js';
import { acceptedBrokenAnswers } from './brokenAnswers.js';

const SHARED = 'shared.with.me';
let egress: Egress;
let drive: GoogleDriveEmulator;
let account: Account;

beforeAll(async () => {
  egress = loopbackEgress();
  drive = await startGoogleDrive();
});
afterAll(async () => {
  await egress.close();
  await drive.close();
});
beforeEach(() => {
  for (const map of [drive.files, drive.drives]) for (const id of Object.keys(map)) delete map[id];
  Object.assign(drive.limits, { exported: 10_000_000, isIncomplete: false });
  drive.reset();
  account = grantedAccount('GOOGLE_DRIVE', drive.settings, drive.oauth.grant().accessToken, egress);
});

const descendantsOf = (id: string) => readListing((cursor) => account.listDescendants(id, cursor, NEVER));
const opened = async (id: string) => {
  const content = await account.open(id, NEVER);
  return { ...content, text: Buffer.from(content.bytes).toString() };
};
const byId = (items: readonly SourceItem[], id: string) => items.find(({ externalId }) => externalId === id);

/** Creates nested folders, shared drives, and a folder shared by another user. */
function fill(): void {
  Object.assign(drive.files, {
    sights: { name: 'Sights', mimeType: DRIVE_FOLDER },
    a: { name: 'a.txt', parent: 'sights', content: 'The lighthouse' },
    b: { name: 'b.txt', parent: 'sights' },
    deep: { name: 'Deep', parent: 'sights', mimeType: DRIVE_FOLDER },
    c: { name: 'c.txt', parent: 'deep' },
    d: { name: 'd.txt' },
    bin: { name: 'bin.txt', parent: 'sights', trashed: true },
    theirs: { name: 'theirs', parent: null, mimeType: DRIVE_FOLDER },
    note: { name: 'note.md', parent: 'theirs' },
    team: { name: 'team.md', drive: 'D1' },
    inner: { name: 'Inner', drive: 'D1', mimeType: DRIVE_FOLDER },
    plan: { name: 'plan.md', drive: 'D1', parent: 'inner' },
  });
  Object.assign(drive.drives, { D1: 'Harbour', D2: 'Yard', D3: 'Dock' });
}

describe('listing', () => {
  test('identifies the account by the user who consented', async () => {
    expect(await account.identify(NEVER)).toEqual({
      account: 'ada@harbour.example',
      metadata: { email: 'ada@harbour.example', user_name: 'Ada' },
    });
  });

  test('lists My Drive, shared items and shared drives as roots, across all pages', async () => {
    fill();
    const { items, ids, pages } = await readListing((cursor) => account.listRoots(cursor, NEVER));
    expect(ids).toEqual([DRIVE_ROOT, SHARED, 'D1', 'D2', 'D3']);
    expect(items.map(({ name }) => name)).toEqual(['My Drive', 'Shared with me', 'Harbour', 'Yard', 'Dock']);
    expect(pages).toBe(2);
  });

  test('lists each root recursively with the parent of each item, without the trash', async () => {
    fill();
    const inMyDrive = await descendantsOf(DRIVE_ROOT);
    expect(inMyDrive.ids).toEqual([DRIVE_ROOT, 'sights', 'd', 'a', 'b', 'deep', 'c']);
    expect(inMyDrive.pages).toBeGreaterThan(3);
    const places = inMyDrive.items.map(({ externalId, parentExternalId, rootExternalId }) => [
      externalId,
      parentExternalId,
      rootExternalId,
    ]);
    expect(places).toEqual([
      [DRIVE_ROOT, null, null],
      ['sights', DRIVE_ROOT, DRIVE_ROOT],
      ['d', DRIVE_ROOT, DRIVE_ROOT],
      ['a', 'sights', DRIVE_ROOT],
      ['b', 'sights', DRIVE_ROOT],
      ['deep', 'sights', DRIVE_ROOT],
      ['c', 'deep', DRIVE_ROOT],
    ]);
    expect((await descendantsOf(SHARED)).ids).toEqual([SHARED, 'theirs', 'note']);
    const team = await descendantsOf('D1');
    expect(team.ids).toEqual(['D1', 'team', 'inner', 'plan']);
    expect(team.items[0]?.name).toBe('Harbour');
    expect(byId(team.items, 'plan')).toMatchObject({ parentExternalId: 'inner', rootExternalId: 'D1' });
    expect((await descendantsOf('sights')).ids).toEqual(['sights', 'a', 'b', 'deep', 'c']);
    expect((await descendantsOf('a')).ids).toEqual(['a']);
  });

  test('lists folders that are shared from a shared drive of which the account is not a member', async () => {
    Object.assign(drive.files, {
      shared: { name: 'Shared', parent: null, drive: 'foreign', mimeType: DRIVE_FOLDER },
      one: { name: 'one.md', parent: 'shared', drive: 'foreign' },
      sub: { name: 'Sub', parent: 'shared', drive: 'foreign', mimeType: DRIVE_FOLDER },
      two: { name: 'two.md', parent: 'sub', drive: 'foreign' },
    });
    const all = await descendantsOf(SHARED);
    expect(all.ids).toEqual([SHARED, 'shared', 'one', 'sub', 'two']);
    // A selection of the folder contains the same items, with the same root.
    const folder = await descendantsOf('shared');
    expect(folder.ids).toEqual(['shared', 'one', 'sub', 'two']);
    expect(new Set(folder.items.map(({ rootExternalId }) => rootExternalId))).toEqual(new Set([SHARED]));
    expect((await descendantsOf('sub')).ids).toEqual(['sub', 'two']);
    // An incomplete search does not prove that items were deleted, so the folder is reported as refused.
    drive.limits.isIncomplete = true;
    const { refused } = await account.listDescendants('shared', null, NEVER);
    expect(refused).toEqual(['shared']);
  });

  test('sends the resource key of a shortcut for its target', async () => {
    Object.assign(drive.files, {
      old: { name: 'old.md', parent: null, content: 'An old link', key: '0-key_1' },
      link: { name: 'link', mimeType: DRIVE_SHORTCUT, target: 'old' },
      folder: { name: 'Folder', parent: null, mimeType: DRIVE_FOLDER, key: '0-key_2' },
      inside: { name: 'inside.md', parent: 'folder' },
      way: { name: 'way', mimeType: DRIVE_SHORTCUT, target: 'folder' },
    });
    expect((await opened('link')).text).toBe('An old link');
    expect((await descendantsOf('way')).ids).toEqual(['way', 'inside']);
    expect(await faultOf(account.open('old', NEVER))).toMatchObject({ kind: 'not_found' });
  });

  test('continues from a cursor of version 0.2.0, which has no resource keys', async () => {
    fill();
    const { next } = await account.listDescendants(DRIVE_ROOT, null, NEVER);
    const { keys: _keys, ...before } = JSON.parse(openCursor(next!)) as Record<string, unknown>;
    const old = await account.listDescendants(DRIVE_ROOT, sealCursor(JSON.stringify(before)), NEVER);
    expect(old.items).toEqual((await account.listDescendants(DRIVE_ROOT, next, NEVER)).items);
  });

  test('queries many folders in one request', async () => {
    for (let nth = 0; nth < 45; nth += 1) {
      drive.files[`f${nth}`] = { name: `f${nth}`, mimeType: DRIVE_FOLDER };
      drive.files[`in${nth}`] = { name: `in${nth}.md`, parent: `f${nth}` };
    }
    expect((await descendantsOf(DRIVE_ROOT)).items).toHaveLength(91);
    const queries = new Set(drive.requests.map((path) => new URL(path, 'http://drive').searchParams.get('q')));
    // One query for the root, three for its subfolders in groups; the remaining one is a request without a query.
    expect(queries.size).toBe(5);
  });

  test('stops at folders that contain each other', async () => {
    drive.files['a'] = { name: 'a', mimeType: DRIVE_FOLDER, parent: 'b' };
    drive.files['b'] = { name: 'b', mimeType: DRIVE_FOLDER, parent: 'a', trashed: false };
    const { pages } = await descendantsOf('a');
    expect(pages).toBeLessThan(250);
  });

  test('restarts a folder whose page token has expired', async () => {
    fill();
    const first = await account.listDescendants(DRIVE_ROOT, null, NEVER);
    const second = await account.listDescendants(DRIVE_ROOT, first.next, NEVER);
    drive.pages.expire();
    const remainder = await readListing((cursor) => account.listDescendants(DRIVE_ROOT, cursor ?? second.next, NEVER));
    const ids = new Set([...first.items, ...second.items, ...remainder.items].map(({ externalId }) => externalId));
    expect([...ids].toSorted()).toEqual([DRIVE_ROOT, 'a', 'b', 'c', 'd', 'deep', 'sights']);
  });

  test.each(['nothing', "' or trashed = true", '..', 'a/b', 'bin'])('rejects %s as not found', async (id) => {
    fill();
    expect(await faultOf(account.listDescendants(id, null, NEVER))).toMatchObject({ kind: 'not_found' });
  });

  test('gives a file another version if its bytes or its name change', async () => {
    drive.files['a'] = { name: 'a.md', content: 'one' };
    drive.files['doc'] = { name: 'Doc', mimeType: DRIVE_DOCUMENT, content: 'one' };
    const versions = async () => (await descendantsOf(DRIVE_ROOT)).items.slice(1).map(({ version }) => version);
    const first = await versions();
    expect(await versions()).toEqual(first);
    drive.files['a']!.content = 'two';
    drive.files['doc']!.content = 'two';
    const second = await versions();
    drive.files['a']!.name = 'a.txt';
    const [third] = await versions();
    expect(new Set([first[0], second[0], third]).size).toBe(3);
    expect(second[1]).not.toBe(first[1]);
  });

  test('reports responses without the required fields as server errors', async () => {
    fill();
    drive.injectFault(() => ({ status: 200 }));
    // The body is an error, but the status is 200.
    const page = await faultOf(account.listDescendants('sights', null, NEVER));
    expect(page.kind).toBe('server_error');
    expect(await faultOf(account.identify(NEVER))).toMatchObject({ kind: 'server_error' });
  });
});

test('ignores fields of a file that have an unexpected type', () => {
  const file = {
    id: 'a',
    name: 'n'.repeat(5_000),
    mimeType: 7,
    parents: [{}],
    webViewLink: 'javascript:alert(1)',
    createdTime: 'yesterday',
    md5Checksum: [],
    shortcutDetails: 'x',
    driveId: {},
  };
  expect(itemOfFile(file, 'root')).toMatchObject({
    name: 'n'.repeat(1_000),
    parentExternalId: SHARED,
    externalUrl: null,
    createdAt: null,
    version: null,
    hasContent: true,
  });
  for (const id of [undefined, 7, '', 'a b', "a' or '"]) expect(itemOfFile({ ...file, id }, 'root')).toBeNull();
});

describe('content', () => {
  const KINDS = [
    ['document', 'text/markdown', 'GOOGLE_DOCS', 'MD'],
    ['spreadsheet', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'GOOGLE_SHEETS', 'XLSX'],
    [
      'presentation',
      'application/vnd.openxmlformats-officedocument.presentationml.presentation',
      'GOOGLE_SLIDES',
      'PPTX',
    ],
    ['drawing', 'application/pdf', null, 'PDF'],
    ['script', 'application/vnd.google-apps.script+json', null, 'JSON'],
  ] as const;
  test.each(KINDS)('exports a %s as %s', async (kind, type, format, listedAs) => {
    drive.files['x'] = { name: 'X', mimeType: `application/vnd.google-apps.${kind}`, content: 'The lighthouse' };
    expect(await opened('x')).toMatchObject({ text: 'The lighthouse', contentType: type, format, name: 'X' });
    const { items } = await descendantsOf('x');
    expect(items).toMatchObject([{ fileFormat: listedAs, hasContent: true, isSelectable: true }]);
    // Drive rejects a download of such a file with alt=media.
    expect(drive.requests.some((path) => path.includes('alt=media'))).toBe(false);
  });

  test.each([
    ['document', 'TXT', 'text/plain'],
    ['document', 'docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
    ['document', 'XLSX', 'text/markdown'],
    ['document', 'nothing known', 'text/markdown'],
    ['spreadsheet', 'CSV', 'text/csv'],
    ['spreadsheet', 'TXT', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
    ['presentation', 'PDF', 'application/pdf'],
    ['drawing', 'TXT', 'application/pdf'],
  ])('exports a %s requested as %s as %s', async (kind, saveAs, type) => {
    drive.files['x'] = { name: 'X', mimeType: `application/vnd.google-apps.${kind}`, content: 'The lighthouse' };
    const { contentType, mimeType } = await account.open('x', NEVER, { saveAs });
    expect([contentType, mimeType]).toEqual([type, type]);
    expect(drive.requests.at(-1)).toContain(`mimeType=${encodeURIComponent(type)}`);
  });

  test.each(['form', 'site', 'map', 'jam'])('lists a %s, and reports its content as unsupported', async (kind) => {
    drive.files['x'] = { name: 'X', mimeType: `application/vnd.google-apps.${kind}` };
    expect((await descendantsOf('x')).items).toMatchObject([
      { isSelectable: false, hasContent: true, fileFormat: null },
    ]);
    expect(await faultOf(account.open('x', NEVER))).toMatchObject({ kind: 'unsupported_type' });
  });

  test('downloads a document too long for an export through its export link, if the link is to Google', async () => {
    drive.files['x'] = { name: 'X', mimeType: DRIVE_DOCUMENT, content: 'The lighthouse' };
    drive.limits.exported = 3;
    expect(await opened('x')).toMatchObject({ text: 'The lighthouse' });
    expect(drive.requests.at(-1)).toMatch(/^\/documents\/export\?id=x/);
    const elsewhere = drive.settings.replace(
      /GOOGLE_DRIVE\.documents=[^,]+/,
      'GOOGLE_DRIVE.documents=https://docs.example',
    );
    const requestsBefore = drive.requests.length;
    account = grantedAccount('GOOGLE_DRIVE', elsewhere, drive.oauth.grant().accessToken, egress);
    expect(await faultOf(account.open('x', NEVER))).toMatchObject({ kind: 'unsupported_type' });
    // The metadata and the export; the link to another host is not followed.
    expect(drive.requests.length).toBe(requestsBefore + 2);
  });

  test('reads binary files unchanged, also from shared drives; the extension replaces a generic type', async () => {
    fill();
    drive.files['team']!.content = 'The keeper';
    drive.files['data'] = { name: 'data.csv', mimeType: 'application/octet-stream', content: 'a,b' };
    expect(await opened('team')).toMatchObject({
      text: 'The keeper',
      fileMetadata: { drive_id: 'D1', is_shortcut: false },
    });
    expect(await opened('data')).toMatchObject({ contentType: 'text/csv', mimeType: 'text/csv' });
  });

  test('reads the target of a shortcut, and lists the contents of a linked folder only if selected', async () => {
    fill();
    drive.files['short'] = { name: 'Shortcut to a', mimeType: DRIVE_SHORTCUT, target: 'a' };
    drive.files['way'] = { name: 'Way', mimeType: DRIVE_SHORTCUT, target: 'theirs' };
    drive.files['dead'] = { name: 'Dead', mimeType: DRIVE_SHORTCUT, target: 'nothing' };
    const inMyDrive = await descendantsOf(DRIVE_ROOT);
    expect(byId(inMyDrive.items, 'short')).toMatchObject({ itemType: 'FILE', hasContent: true, version: null });
    expect(byId(inMyDrive.items, 'way')).toMatchObject({ itemType: 'FOLDER', hasContent: false, isExpandable: false });
    expect(inMyDrive.ids).not.toContain('note');
    expect((await descendantsOf('way')).ids).toEqual(['way', 'note']);
    expect(await opened('short')).toMatchObject({
      text: 'The lighthouse',
      name: 'Shortcut to a',
      fileMetadata: { is_shortcut: true, shortcut_target_id: 'a' },
    });
    expect(await faultOf(account.open('dead', NEVER))).toMatchObject({ kind: 'not_found' });
  });

  test('reports the content of a folder as unsupported, and a file in the trash as not found', async () => {
    fill();
    expect(await faultOf(account.open('sights', NEVER))).toMatchObject({ kind: 'unsupported_type' });
    expect(await faultOf(account.open('bin', NEVER))).toMatchObject({ kind: 'not_found' });
  });
});

describe('refusals', () => {
  test.each([
    [401, 'authError', 'access_revoked'],
    [403, 'insufficientFilePermissions', 'access_denied'],
    [403, 'cannotDownloadAbusiveFile', 'unsupported_type'],
    [403, 'accessNotConfigured', 'not_configured'],
    [404, 'notFound', 'not_found'],
    [500, 'backendError', 'server_error'],
  ])('reports HTTP %s %s as %s', async (status, reason, kind) => {
    drive.injectFault(() => ({ status, reason }));
    expect(await faultOf(account.open('a', NEVER))).toMatchObject({ kind });
  });

  test.each([
    [403, 'userRateLimitExceeded'],
    [403, 'rateLimitExceeded'],
    [429, 'rateLimitExceeded'],
  ])('retries HTTP %s %s after Retry-After', async (status, reason) => {
    fill();
    let refusalsLeft = 2;
    drive.injectFault(() => (refusalsLeft-- > 0 ? { status, reason, headers: { 'retry-after': '0' } } : null));
    expect(await opened('a')).toMatchObject({ text: 'The lighthouse' });
    drive.injectFault(() => ({ status, reason, headers: { 'retry-after': '3600' } }));
    expect(await faultOf(account.open('a', NEVER))).toMatchObject({ kind: 'rate_limited', retryAfterMs: 3_600_000 });
  });

  test('reports an expired token as access_revoked, and one without the Drive scope as access_denied', async () => {
    const other = drive.oauth.grant('ada@harbour.example', ['openid']);
    account = grantedAccount('GOOGLE_DRIVE', drive.settings, other.accessToken, egress);
    expect(await faultOf(account.identify(NEVER))).toMatchObject({ kind: 'access_denied' });
    drive.oauth.expireAll();
    expect(await faultOf(account.identify(NEVER))).toMatchObject({ kind: 'access_revoked' });
  });
});

describe('changes', () => {
  const changes = () => {
    if (!account.changes) throw new Error('no feed');
    return account.changes;
  };
  /** Reads the change feed to its end. Returns the changed ids and the next cursor. */
  async function readChanges(from: string) {
    const changed: string[] = [];
    let cursor = from;
    for (let more = true; more;) {
      const page = await changes().since(cursor, NEVER);
      changed.push(...page.changes.map((change) => ('gone' in change ? `-${change.gone}` : change.item.externalId)));
      cursor = page.next;
      more = page.more;
    }
    return { changed, cursor };
  }

  test('report new, changed and deleted files of every drive', async () => {
    fill();
    let { changed, cursor } = await readChanges(await changes().now(NEVER));
    expect(changed).toEqual([]);
    drive.files['a']!.content = 'moved';
    drive.files['new'] = { name: 'new.md', parent: 'deep' };
    drive.files['d']!.trashed = true;
    delete drive.files['b'];
    drive.files['team']!.content = 'more';
    delete drive.files['plan'];
    ({ changed, cursor } = await readChanges(cursor));
    expect(changed.toSorted()).toEqual(['-b', '-d', '-plan', 'a', 'new', 'team']);
    ({ changed, cursor } = await readChanges(cursor));
    expect(changed).toEqual([]);
  });

  test('do not report a file as deleted that moves to a shared drive', async () => {
    fill();
    const start = await changes().now(NEVER);
    drive.files['d'] = { name: 'd.txt', drive: 'D2' };
    const { changed } = await readChanges(start);
    expect(changed).not.toContain('-d');
    expect(changed).toContain('d');
  });

  test('give a file the root that a listing gives it, also in shared folders and after a move', async () => {
    fill();
    drive.files['subfolder'] = { name: 'Below', parent: 'theirs', mimeType: DRIVE_FOLDER };
    drive.files['lower'] = { name: 'lower.md', parent: 'subfolder' };
    const start = await changes().now(NEVER);
    for (const id of ['c', 'note', 'lower']) drive.files[id]!.content = 'more';
    drive.files['team'] = { name: 'team.md', parent: 'deep' };
    const found = new Map<string, string | null>();
    let cursor = start;
    for (let more = true; more;) {
      const page = await changes().since(cursor, NEVER);
      for (const change of page.changes)
        if ('item' in change) found.set(change.item.externalId, change.item.rootExternalId);
      ({ more, next: cursor } = page);
    }
    expect(Object.fromEntries(found)).toEqual({ c: DRIVE_ROOT, note: SHARED, lower: SHARED, team: DRIVE_ROOT });
    // A folder that is new in the feed is listed by its own id.
    const rootsBelow = async (folder: string) =>
      (await descendantsOf(folder)).items.map(({ rootExternalId }) => rootExternalId);
    expect(await rootsBelow('deep')).toEqual([DRIVE_ROOT, DRIVE_ROOT, DRIVE_ROOT]);
    expect(await rootsBelow('subfolder')).toEqual([SHARED, SHARED]);
  });

  test('do not include the root folder of My Drive or of a shared drive', async () => {
    fill();
    const start = await changes().now(NEVER);
    const folderOf = (id: string, more: object) => ({
      ...{ changeType: 'file', fileId: id, removed: false },
      file: { id, name: 'Drive', mimeType: DRIVE_FOLDER, trashed: false, ...more },
    });
    const wrongBody = JSON.stringify({
      newStartPageToken: '9',
      changes: [folderOf(DRIVE_ROOT, {}), folderOf('D1', { driveId: 'D1' })],
    });
    drive.injectFault((path) => (path.endsWith('/changes') ? { wrongBody, contentType: 'application/json' } : null));
    expect((await changes().since(start, NEVER)).changes).toEqual([]);
  });

  test('report a renamed shared drive as its listing does', async () => {
    fill();
    const start = await changes().now(NEVER);
    drive.drives['D2'] = 'Shipyard';
    const { items } = await readListing((cursor) => account.listRoots(cursor, NEVER));
    expect((await changes().since(start, NEVER)).changes).toEqual([{ item: byId(items, 'D2') }]);
  });

  test('report a shared drive as deleted after the account leaves it, and a new one as a stale cursor', async () => {
    fill();
    let cursor = await changes().now(NEVER);
    delete drive.drives['D3'];
    let changed: string[];
    ({ changed, cursor } = await readChanges(cursor));
    expect(changed).toEqual(['-D3']);
    ({ changed, cursor } = await readChanges(cursor));
    expect(changed).toEqual([]);
    drive.drives['D4'] = 'Pier';
    expect(await faultOf(readChanges(cursor))).toMatchObject({ kind: 'stale_cursor' });
  });

  test.each(['', '{}', '{"logs":[["","x"]],"at":0,"root":"r"}', '{"logs":[["a/b","1"]],"at":0,"root":"r"}', 'null'])(
    'report the invalid cursor %s as stale',
    async (cursor) => {
      expect(await faultOf(changes().since(cursor, NEVER))).toMatchObject({ kind: 'stale_cursor' });
    },
  );

  test.each([
    [404, 'notFound'],
    [403, 'insufficientFilePermissions'],
  ])(
    "report a refusal of the account's own change log (HTTP %s %s) as a stale cursor, not as deletions",
    async (status, reason) => {
      fill();
      const cursor = await changes().now(NEVER);
      drive.injectFault((path) => (path.endsWith('/changes') ? { status, reason } : null));
      expect(await faultOf(changes().since(cursor, NEVER))).toMatchObject({ kind: 'stale_cursor' });
    },
  );

  test('report an expired cursor as stale', async () => {
    fill();
    const cursor = await changes().now(NEVER);
    drive.log.expireTokens();
    expect(await faultOf(changes().since(cursor, NEVER))).toMatchObject({ kind: 'stale_cursor' });
  });
});

test('never treats a broken response as the end of a list', async () => {
  fill();
  const list = async () => [
    (await readListing((cursor) => account.listRoots(cursor, NEVER))).items,
    (await descendantsOf(DRIVE_ROOT)).items,
  ];
  expect(await acceptedBrokenAnswers(drive, list)).toEqual([]);
});
