import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import type { Account } from '../../connectors/account.js';
import { CRM_KINDS } from '../../connectors/salesforce/crmRecords.js';
import { containing } from '../../connectors/salesforce/soql.js';
import type { Egress } from '../../egress/types.js';
import { nextRequests } from '../emulators/emulator.js';
import { ORGANIZATION_HOST, type SalesforceEmulator, sfId, startSalesforce } from '../emulators/salesforce.js';
import type { SoqlRecord } from '../emulators/soql.js';
import { accountWith, readListing, loopbackEgress, NEVER, textOf, versionsOf } from './account.js';
import { everyRow } from '../support/everyRow.js';
import { faultOf } from '../support/faultOf.js';
import { acceptedBrokenAnswers } from './brokenAnswers.js';
import { accountWithStoredGrant, obtainGrant, REDIRECT_URI } from './grants.js';

let egress: Egress;
let salesforce: SalesforceEmulator;
let account: Account;

const PARAMETERS = { domain: 'login.salesforce.com', instance_url: `https://${ORGANIZATION_HOST}` };
const accountOf = (credentials: object = {}, timeLimitMs = 30_000): Account => {
  const { accessToken } = salesforce.oauth.grant();
  return accountWith(
    'SALESFORCE',
    salesforce.settings,
    { accessToken, facts: PARAMETERS, ...credentials },
    egress,
    timeLimitMs,
  );
};
const descendantsOf = (id: string) => readListing((cursor) => account.listDescendants(id, cursor, NEVER));
const roots = () => readListing((cursor) => account.listRoots(cursor, NEVER));
const fileId = (name: string): string => `file:${sfId('069', name)}`;
const folderId = (name: string): string => `folder:${sfId('07H', name)}`;
const libraryId = (name: string): string => `library:${sfId('058', name)}`;
const articleId = (name: string, language = 'en_US'): string => `article:${sfId('kA0', name)}/${language}`;

let versions = 0;
function putFile(name: string, content: string, folder: string | null, more: SoqlRecord = {}): void {
  versions += 1;
  const version = sfId('068', `v${versions}`);
  salesforce.contents.set(version, content);
  salesforce.put('ContentDocument', sfId('069', name), {
    ...{ Title: name, FileExtension: 'md', FileType: 'UNKNOWN', CreatedDate: '2026-01-07T09:00:00.000+0000' },
    ...{ ParentId: folder === null ? null : sfId('058', 'atlas'), LatestPublishedVersionId: version },
    ...{ LatestPublishedVersion: { ContentLocation: 'S' }, ...more },
  });
  if (folder !== null)
    salesforce.put('ContentFolderItem', sfId('069', name), {
      ...{ Title: name, IsFolder: false, ParentContentFolderId: sfId('07H', folder) },
    });
}
function putFolder(name: string, parent: string): void {
  const location = { ParentContentFolderId: sfId('07H', parent) };
  salesforce.put('ContentFolder', sfId('07H', name), { Name: name, ...location });
  salesforce.put('ContentFolderItem', sfId('07H', name), { Title: name, IsFolder: true, ...location });
}
const putArticle = (name: string, language: string, more: SoqlRecord = {}): void =>
  salesforce.put('Knowledge__kav', sfId('ka1', `${name}${language}`), {
    ...{ KnowledgeArticleId: sfId('kA0', name), Title: name, Language: language, PublishStatus: 'Online' },
    ...{ CreatedDate: '2026-01-07T09:00:00.000+0000', SystemModstamp: '2026-01-08T09:00:00.000+0000', ...more },
  });

/** Reads the change feed from a cursor to its end. */
async function readChanges(from: string) {
  const changed: string[] = [];
  let cursor = from;
  for (let more = true; more;) {
    const page = await account.changes!.since(cursor, NEVER);
    expect(page.coveredRoots).toEqual(['files']);
    changed.push(...page.changes.map((change) => ('gone' in change ? `gone ${change.gone}` : change.item.externalId)));
    ({ more, next: cursor } = page);
  }
  return { changed };
}

beforeAll(async () => {
  egress = loopbackEgress();
  salesforce = await startSalesforce();
});
afterAll(async () => {
  await egress.close();
  await salesforce.close();
});
beforeEach(() => {
  salesforce.reset();
  salesforce.records.clear();
  salesforce.contents.clear();
  for (const kind of ['ContentWorkspace', 'ContentFolder', 'ContentFolderItem', 'ContentDocument', 'Knowledge__kav'])
    salesforce.records.set(kind, new Map());
  for (const name of ['atlas', 'boats', 'crews'])
    salesforce.put('ContentWorkspace', sfId('058', name), { Name: name, RootContentFolderId: sfId('07H', `r${name}`) });
  putFolder('sights', 'ratlas');
  putFolder('towers', 'sights');
  for (const name of ['pier', 'plan', 'view']) putFile(name, `On ${name}s.`, 'sights');
  putFile('lighthouse', 'A light.', 'towers');
  for (const name of ['loose1', 'loose2', 'loose3']) putFile(name, `On ${name}.`, null);
  putArticle('Tides', 'en_US', { Summary: 'Ebb & flow', Answer__c: '<p>At noon.</p>', Hint__c: 'a < b' });
  putArticle('Tides', 'de', { Answer__c: '<p>Mittags.</p>' });
  putArticle('Knots', 'en_US');
  putArticle('Draft', 'en_US', { PublishStatus: 'Draft' });
  account = accountOf();
});

describe('the connection', () => {
  test('requests consent with PKCE at the login host, and stores the host of the organization', async () => {
    const { url, grant } = await obtainGrant('SALESFORCE', salesforce.settings, egress, { domain: PARAMETERS.domain });
    // https://help.salesforce.com/s/articleView?id=sf.remoteaccess_oauth_web_server_flow.htm
    expect(url.pathname).toBe('/login.salesforce.com/services/oauth2/authorize');
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      ...{ response_type: 'code', redirect_uri: REDIRECT_URI, state: 'the-state', prompt: 'consent' },
      ...{ scope: 'api refresh_token', code_challenge_method: 'S256', code_challenge: expect.any(String) },
    });
    // The token response has no expires_in: only a 401 shows that a session has ended.
    expect(grant).toMatchObject({ expiresAt: null, refreshToken: expect.any(String), facts: PARAMETERS });
    expect(await accountOf({ ...grant }).identify(NEVER)).toMatchObject({
      account: `ada@harbour.example|${ORGANIZATION_HOST}`,
      metadata: { organization_id: sfId('00D', 'harbour'), instance: ORGANIZATION_HOST, user_name: 'Ada Lee' },
    });
  });

  test('identifies the user by the API if userinfo needs a scope that was not granted', async () => {
    const usual = await account.identify(NEVER);
    salesforce.rights.needsIdentityScope = true;
    expect(await account.identify(NEVER)).toEqual(usual);
  });

  test('rejects, without a request, an instance_url that is empty or no host of an organization at salesforce.com', async () => {
    salesforce.hosts.length = 0;
    const wrong: string[] = [];
    for (const instance_url of ['https://evil.example', 'https://a@evil.example/', 'https://login.salesforce.com', ''])
      if (
        (await faultOf(accountOf({ facts: { ...PARAMETERS, instance_url } }).listRoots(null, NEVER))).kind !==
        'bad_response'
      )
        wrong.push(instance_url);
    expect(wrong).toEqual([]);
    expect(salesforce.hosts).toEqual([]);
  });

  test('refreshes an expired session once, and fails with access_revoked if the refresh is rejected', async () => {
    const { grant } = await obtainGrant('SALESFORCE', salesforce.settings, egress, { domain: PARAMETERS.domain });
    const stored = accountWithStoredGrant('SALESFORCE', salesforce.settings, grant, egress);
    salesforce.oauth.expireAll();
    expect((await stored.account.listRoots(null, NEVER)).items).toHaveLength(2);
    expect(stored.current().accessToken).not.toBe(grant.accessToken);
    expect(stored.current().facts).toEqual(PARAMETERS);
    salesforce.oauth.revoke();
    expect(await faultOf(stored.account.listRoots(null, NEVER))).toMatchObject({ kind: 'access_revoked' });
  });
});

describe('a listing', () => {
  test('contains the libraries of all pages, files without a library, and knowledge if available', async () => {
    const { ids, pages } = await roots();
    expect(ids).toEqual([...['atlas', 'boats', 'crews'].map(libraryId), 'files', 'knowledge']);
    expect(pages).toBe(2);
    // https://developer.salesforce.com/docs/atlas.en-us.api_rest.meta/api_rest/errorcodes.htm: INVALID_TYPE
    for (const kind of ['Knowledge__kav', 'ContentWorkspace']) salesforce.records.delete(kind);
    expect((await roots()).ids).toEqual(['files']);
  });

  test('of a library contains nested folders and the files of all pages', async () => {
    const { items } = await descendantsOf(libraryId('atlas'));
    expect(items.map((item) => [item.externalId, item.parentExternalId, item.name])).toEqual([
      [libraryId('atlas'), null, 'atlas'],
      [folderId('sights'), libraryId('atlas'), 'sights'],
      [fileId('pier'), folderId('sights'), 'pier.md'],
      [fileId('plan'), folderId('sights'), 'plan.md'],
      [folderId('towers'), folderId('sights'), 'towers'],
      [fileId('view'), folderId('sights'), 'view.md'],
      [fileId('lighthouse'), folderId('towers'), 'lighthouse.md'],
    ]);
    expect((await descendantsOf(folderId('towers'))).ids).toEqual([folderId('towers'), fileId('lighthouse')]);
    expect((await descendantsOf(fileId('pier'))).ids).toEqual([fileId('pier')]);
  });

  test('of files without a library and of articles is paginated by id, with one article per language', async () => {
    expect((await descendantsOf('files')).ids).toEqual(['files', ...['loose1', 'loose2', 'loose3'].map(fileId)]);
    expect((await descendantsOf('knowledge')).ids.toSorted()).toEqual([
      ...[articleId('Knots'), articleId('Tides', 'de'), articleId('Tides'), 'knowledge'],
    ]);
    expect((await descendantsOf(articleId('Tides', 'de'))).ids).toEqual([articleId('Tides', 'de')]);
    // No page is requested by a query locator, which would expire with the session.
    expect(salesforce.requests.filter((path) => path.includes('01g-2000'))).toEqual([]);
  });

  test('gives the reason why a file that is a link has no content', async () => {
    putFile('link', '', null, { LatestPublishedVersion: { ContentLocation: 'E' } });
    const link = (await descendantsOf('files')).items.find(({ externalId }) => externalId === fileId('link'));
    expect(link).toMatchObject({ hasContent: false, isSelectable: false, skipReason: expect.stringMatching(/link/) });
    expect(await faultOf(account.open(fileId('link'), NEVER))).toMatchObject({ kind: 'unsupported_type' });
  });

  test('gives changed items new versions and leaves out deleted and unpublished ones', async () => {
    const list = async () =>
      versionsOf([...(await descendantsOf(libraryId('atlas'))).items, ...(await descendantsOf('knowledge')).items]);
    const before = await list();
    putFile('pier', 'Another pier.', 'sights');
    for (const kind of ['ContentDocument', 'ContentFolderItem']) salesforce.drop(kind, sfId('069', 'plan'));
    putArticle('Tides', 'de', { SystemModstamp: '2026-02-08T09:00:00.000+0000' });
    putArticle('Knots', 'en_US', { PublishStatus: 'Archived' });
    const after = await list();
    const deleted = [fileId('plan'), articleId('Knots')];
    expect(Object.keys(after).toSorted()).toEqual(
      Object.keys(before)
        .filter((id) => !deleted.includes(id))
        .toSorted(),
    );
    const changed = Object.keys(after).filter((id) => after[id] !== before[id]);
    expect(changed.toSorted()).toEqual([articleId('Tides', 'de'), fileId('pier')]);
  });
});

describe('a query that Salesforce rejects', () => {
  test('because of fields hidden from the user is repeated without them; the object is described once', async () => {
    putFile('plan', 'Text.', null, { ContentSize: 5 });
    const whole = await descendantsOf('files');
    for (const field of ['FileExtension', 'CreatedDate']) salesforce.hidden.add(`ContentDocument.${field}`);
    const { ids } = await descendantsOf('files');
    expect(ids).toEqual(whole.ids);
    await descendantsOf('files');
    expect(salesforce.requests.filter((path) => path.includes('/ContentDocument/describe'))).toHaveLength(1);
  });

  test('for another reason fails with bad_response', async () => {
    salesforce.injectFault((path) => (path.includes('/query') ? { status: 400, errorCode: 'MALFORMED_QUERY' } : null));
    expect(await faultOf(descendantsOf('files'))).toMatchObject({ kind: 'bad_response' });
  });
});

describe('the change feed', () => {
  test('reports changed and deleted files without a library, across all pages', async () => {
    const anHourAgo = Date.now() - 3_600_000;
    for (const name of ['loose1', 'loose2', 'loose3'])
      salesforce.records.get('ContentDocument')!.get(sfId('069', name))!['SystemModstamp'] = new Date(
        anHourAgo,
      ).toISOString();
    const start = await account.changes!.now(NEVER);
    expect((await readChanges(start)).changed).toEqual([]);
    putFile('loose1', 'Other.', null);
    for (const name of ['new1', 'new2']) putFile(name, 'New.', null);
    // Salesforce rounds times down to the minute: a deletion in the current minute only appears later.
    salesforce.drop('ContentDocument', sfId('069', 'loose2'), Date.now() - 60_000);
    expect((await readChanges(start)).changed.toSorted()).toEqual(
      [fileId('loose1'), fileId('new1'), fileId('new2'), `gone ${fileId('loose2')}`].toSorted(),
    );
  });

  test('does not report a file as deleted that was restored from the recycle bin', async () => {
    const start = await account.changes!.now(NEVER);
    const record = salesforce.records.get('ContentDocument')!.get(sfId('069', 'loose2'))!;
    salesforce.drop('ContentDocument', sfId('069', 'loose2'), Date.now() - 60_000);
    salesforce.put('ContentDocument', sfId('069', 'loose2'), record);
    expect((await readChanges(start)).changed).not.toContain(`gone ${fileId('loose2')}`);
  });

  test('reports each of many deleted files, except restored files', async () => {
    const names = Array.from({ length: 450 }, (_, nth) => `bulk${nth}`);
    for (const name of names) putFile(name, 'Bulk.', null);
    const start = await account.changes!.now(NEVER);
    const restored = ['bulk0', 'bulk199', 'bulk200', 'bulk449'];
    for (const name of names) {
      const id = sfId('069', name);
      const record = salesforce.records.get('ContentDocument')!.get(id)!;
      salesforce.drop('ContentDocument', id, Date.now() - 60_000);
      if (restored.includes(name)) salesforce.put('ContentDocument', id, record);
    }
    const gone = (await readChanges(start)).changed.filter((change) => change.startsWith('gone '));
    const expected = names.filter((name) => !restored.includes(name)).map((name) => `gone ${fileId(name)}`);
    expect(gone.toSorted()).toEqual(expected.toSorted());
  });

  test('is stale after the retention of deletions, and without permission to list deletions', async () => {
    const start = await account.changes!.now(NEVER);
    // Salesforce keeps them for 15 days:
    // https://developer.salesforce.com/docs/atlas.en-us.api_rest.meta/api_rest/resources_getdeleted.htm
    salesforce.deletions.purgedUntil = Date.now();
    expect(await faultOf(readChanges(start))).toMatchObject({ kind: 'stale_cursor' });
    salesforce.deletions.purgedUntil = 0;
    salesforce.injectFault((path) => (path.endsWith('/deleted') ? { status: 403 } : null));
    expect(await faultOf(readChanges(start))).toMatchObject({ kind: 'stale_cursor' });
    expect(await faultOf(account.changes!.now(NEVER))).toMatchObject({ kind: 'stale_cursor' });
  });
});

describe('content', () => {
  test('of a file is the bytes of its latest version, and of a note is HTML', async () => {
    expect(await textOf(account, fileId('lighthouse'))).toBe('A light.');
    expect(await account.open(fileId('lighthouse'), NEVER)).toMatchObject({
      ...{ name: 'lighthouse.md', mimeType: 'text/markdown', format: null },
      url: expect.stringContaining(`/${ORGANIZATION_HOST}/lightning/r/ContentDocument/`),
    });
    putFile('note', '<p>Mind.</p>', null, { FileExtension: 'snote', FileType: 'SNOTE' });
    expect((await account.open(fileId('note'), NEVER)).mimeType).toBe('text/html');
  });

  test('of an article contains the custom text fields of the organization below their labels', async () => {
    const { format, mimeType, fileMetadata } = await account.open(articleId('Tides'), NEVER);
    expect({ format, mimeType, fileMetadata }).toEqual({
      ...{ format: 'SALESFORCE', mimeType: 'text/html', fileMetadata: { type: 'ARTICLE', language: 'en_US' } },
    });
    expect((await textOf(account, articleId('Tides'))).split('\n')).toEqual([
      ...['<h1>Tides</h1>', '<p>Ebb &amp; flow</p>'],
      ...['<h2>Answer</h2>', '<p>At noon.</p>', '<h2>Hint</h2>', '<p>a &lt; b</p>'],
    ]);
  });

  test('is not found for missing items, and unsupported for containers', async () => {
    const wrong: string[] = [];
    const absent = [fileId('none'), articleId('Draft'), articleId('Tides', 'fr'), "file:' OR Id != '", 'file:', '..'];
    for (const id of [...absent, libraryId('none'), folderId('none')])
      if ((await faultOf(descendantsOf(id))).kind !== 'not_found') wrong.push(id);
    for (const id of absent) if ((await faultOf(account.open(id, NEVER))).kind !== 'not_found') wrong.push(id);
    for (const id of ['files', 'knowledge', libraryId('atlas'), folderId('sights')])
      if ((await faultOf(account.open(id, NEVER))).kind !== 'unsupported_type') wrong.push(id);
    expect(wrong).toEqual([]);
  });
});

describe('a broken response', () => {
  const broken = (call: () => Promise<unknown>) =>
    acceptedBrokenAnswers(salesforce, call, {
      'records without the field done': { wrongBody: '{"records":[]}', contentType: 'application/json' },
    });

  test('never counts as the end of a list', async () => {
    expect(await broken(async () => (await roots()).ids)).toEqual([]);
    for (const id of [libraryId('atlas'), 'files', 'knowledge'])
      expect(await broken(async () => (await descendantsOf(id)).items)).toEqual([]);
  });

  test('never counts as the end of the change feed', async () => {
    const start = await account.changes!.now(NEVER);
    salesforce.drop('ContentDocument', sfId('069', 'loose2'), Date.now() - 60_000);
    expect(await broken(async () => (await readChanges(start)).changed)).toEqual([]);
  });

  test('never replaces the content of an article', async () => {
    expect(await broken(() => account.open(articleId('Tides'), NEVER))).toEqual([]);
  });
});

describe('queries for CRM records', () => {
  test('request each field that a list can be sorted by: the next page continues after its value', () =>
    everyRow(
      Object.values(CRM_KINDS).flatMap(({ object, fields, orders }) =>
        Object.values(orders).map(({ field }) => ({ object, field, fields })),
      ),
      ({ object, field }) => `${object}.${field}`,
      ({ field, fields }) => expect(fields).toContain(field),
    ));

  test('escape the wildcards of LIKE with one backslash', () => {
    expect(containing('100%')).toBe(String.raw`'%100\%%'`);
    expect(containing('foo_bar')).toBe(String.raw`'%foo\_bar%'`);
    expect(containing(String.raw`a\%'b`)).toBe(String.raw`'%a\\\%\'b%'`);
  });
});

describe('the rate limit', () => {
  // 403 with a code, but without a delay:
  // https://developer.salesforce.com/docs/atlas.en-us.api_rest.meta/api_rest/errorcodes.htm
  const limited = (headers = {}) => ({ status: 403, errorCode: 'REQUEST_LIMIT_EXCEEDED', headers });

  test('of the day is a rate_limited Fault with a delay of minutes, not a rejection of the item', async () => {
    salesforce.injectFault(nextRequests(1, () => limited()));
    const fault = await faultOf(account.listRoots(null, NEVER));
    expect(fault).toMatchObject({ kind: 'rate_limited', retryAfterMs: 300_000 });
    expect(salesforce.requests).toHaveLength(1);
  });

  test('delays the retry by Retry-After', async () => {
    salesforce.injectFault(nextRequests(1, () => limited({ 'retry-after': '0' })));
    expect((await roots()).ids).toHaveLength(5);
  });
});
