import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import { readListing } from '../../connectors/azureBlobStorage/listing.js';
import { signedHeaders } from '../../connectors/azureBlobStorage/sharedKey.js';
import { readSourceUrls } from '../../connectors/readSourceUrls.js';
import type { Account } from '../../connectors/account.js';
import { createConnectors } from '../../connectors/registry.js';
import type { Egress } from '../../egress/types.js';
import {
  ACCOUNT,
  ACCOUNT_KEY,
  type AzureEmulator,
  type EmulatedBlob,
  startAzure,
} from '../emulators/azureBlobStorage.js';
import { acceptedBrokenAnswers } from './brokenAnswers.js';
import { listItems, loopbackEgress, NEVER } from './account.js';

let egress: Egress;
let azure: AzureEmulator;

const accountOf = (settings: string, accountName = ACCOUNT, accountKey = ACCOUNT_KEY): Account =>
  createConnectors({ egress, urls: readSourceUrls(settings), maxItemBytes: 1_000_000 }).account(
    'AZURE_BLOB_STORAGE',
    '1',
    JSON.stringify({ accountName, accountKey }),
  );
let account: Account;

beforeAll(async () => {
  egress = loopbackEgress();
  azure = await startAzure();
});
afterAll(async () => {
  await egress.close();
  await azure.close();
});
beforeEach(() => {
  azure.reset();
  azure.containers.clear();
  azure.empty.pages = 0;
  account = accountOf(azure.settings);
});

const listDescendants = (externalId: string) =>
  listItems((cursor) => account.listDescendants(externalId, cursor, NEVER));
const idsOfDescendants = async (externalId: string) =>
  (await listDescendants(externalId)).map((item) => item.externalId);

test('signs a request as the Azure SDK does', () => {
  // The expected signature was computed once by the policy of @azure/storage-common 12.4.1 for this address and time.
  const url = 'https://harbour1.blob.core.windows.net/docks?comp=list&marker=2!48%3D&prefix=a%20b%2F&restype=container';
  const now = new Date('2026-11-22T04:00:00Z');
  expect(signedHeaders(url, { accountName: ACCOUNT, accountKey: ACCOUNT_KEY }, now)).toEqual({
    'x-ms-date': 'Sun, 22 Nov 2026 04:00:00 GMT',
    'x-ms-version': '2021-12-02',
    authorization: 'SharedKey harbour1:2xXochrwhOO97SmN35tnW4y7az0uTGG45Jifkjvk5Mk=',
  });
});

test('lists containers page by page, and each folder once, before its contents', async () => {
  for (const name of ['atlas', 'boats', '$web', 'crews', 'docks']) azure.containers.set(name, new Map());
  const roots: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await account.listRoots(cursor ?? null, NEVER);
    roots.push(...page.items.map(({ externalId }) => externalId));
    cursor = page.next;
  }
  expect(roots).toEqual(['atlas', 'boats', '$web', 'crews', 'docks']);
  const names = Array.from({ length: 25 }, (_, index) => `a/b/${String(index).padStart(2, '0')}.txt`);
  azure.containers.set(
    'docks',
    new Map<string, EmulatedBlob>([
      // Accounts with a hierarchical namespace list directories as blobs.
      ['a', { content: '', isDirectory: true }],
      ['a/b', { content: '', isDirectory: true }],
      ...[...names, 'a/c.txt', 'd.txt'].map((name) => [name, { content: name }] as const),
    ]),
  );
  const ids = await idsOfDescendants('docks');
  expect(ids).toEqual(['docks', ...['a/', 'a/b/', ...names, 'a/c.txt', 'd.txt'].map((name) => `docks/${name}`)]);
  expect(await idsOfDescendants('docks/a/b/')).toEqual(['docks/a/b/', ...names.map((name) => `docks/${name}`)]);
  const [file] = await listDescendants('docks/d.txt');
  expect(file).toMatchObject({
    parentExternalId: 'docks',
    rootExternalId: 'docks',
    itemType: 'FILE',
    createdAt: '2026-03-04T10:00:00.000Z',
    version: expect.stringMatching(/^0x/),
  });
  const before = file?.version;
  azure.containers.get('docks')!.set('d.txt', { content: 'another' });
  expect((await listDescendants('docks/d.txt'))[0]?.version).not.toBe(before);
});

test('lists and reads names with any characters; a name with `..` between slashes is listed, but opening it fails', async () => {
  const names = ['a b+c.md', 'ümläut/日本.md', `it's (1) & "2" <3>.md`, '100%/#1?.md', 'twice//slashed.md', 'tab\t.md'];
  azure.containers.set('odd', new Map([...names, 'up/../away.md'].map((name) => [name, { content: `Of ${name}` }])));
  const files = (await listDescendants('odd'))
    .filter(({ hasContent }) => hasContent)
    .map(({ externalId }) => externalId);
  expect(files.toSorted()).toEqual([...names, 'up/../away.md'].map((name) => `odd/${name}`).toSorted());
  for (const name of names)
    expect(Buffer.from((await account.open(`odd/${name}`, NEVER)).bytes).toString()).toBe(`Of ${name}`);
  await expect(account.open('odd/up/../away.md', NEVER)).rejects.toThrow(/cannot be requested/);
  expect((await account.open('odd/a b+c.md', NEVER)).fileMetadata).toEqual({
    ...{ type: 'FILE', container: 'odd', etag: expect.stringMatching(/^0x[^"]+$/) },
  });
});

test('continues after a page without blobs, also when it looks up a single blob', async () => {
  // https://github.com/MicrosoftDocs/feedback/issues/3060
  azure.empty.pages = 2;
  azure.containers.set('docks', new Map(['a/y.txt', 'a/z.txt', 'b.txt'].map((name) => [name, { content: name }])));
  expect(await idsOfDescendants('docks')).toEqual([
    ...['docks', 'docks/a/', 'docks/a/y.txt', 'docks/a/z.txt', 'docks/b.txt'],
  ]);
  expect(await idsOfDescendants('docks/a/')).toEqual(['docks/a/', 'docks/a/y.txt', 'docks/a/z.txt']);
  expect(await idsOfDescendants('docks/a/z.txt')).toEqual(['docks/a/z.txt']);
  await expect(account.listDescendants('docks/a/x.txt', null, NEVER)).rejects.toMatchObject({ kind: 'not_found' });
});

test('omits the empty blobs that file systems store for folders, whatever metadata other blobs have', async () => {
  const metadata = { Name: 'other', Etag: 'other', ResourceType: 'directory', Encoded: 'true' };
  azure.containers.set(
    'docks',
    new Map<string, EmulatedBlob>([
      ['a', { content: '', metadata: { hdi_isfolder: 'true' } }],
      ['a/b.txt', { content: 'b', metadata }],
      ['c', { content: '', metadata: { Hdi_isfolder: 'true' } }],
      ['d', { content: 'd', metadata: { hdi_isfolder: 'false' } }],
    ]),
  );
  expect(await idsOfDescendants('docks')).toEqual(['docks', 'docks/a/', 'docks/a/b.txt', 'docks/d']);
  expect((await listDescendants('docks/a/b.txt'))[0]).toMatchObject({
    name: 'b.txt',
    version: expect.stringMatching(/^0x/),
  });
});

describe('refusals', () => {
  beforeEach(() => void azure.containers.set('docks', new Map([['a.txt', { content: 'a' }]])));

  test.each([
    ['AuthenticationFailed', 403, 'access_revoked'],
    ['KeyBasedAuthenticationNotPermitted', 403, 'access_revoked'],
    ['AuthorizationFailure', 403, 'access_denied'],
    ['BlobArchived', 409, 'unsupported_type'],
    ['BlobUsesCustomerSpecifiedEncryption', 409, 'unsupported_type'],
    ['ContainerBeingDeleted', 409, 'not_found'],
    ['InvalidResourceName', 400, 'not_found'],
    ['InternalError', 500, 'server_error'],
    ['ServerBusy', 503, 'rate_limited'],
  ])('%s is %s: %s', async (code, status, kind) => {
    azure.injectFault(() => ({ status, code, headers: { 'retry-after': '60' } }));
    await expect(account.open('docks/a.txt', NEVER)).rejects.toMatchObject({ kind });
  });

  test('a signature that is too old does not count as revoked access: the clock is wrong, not the key', async () => {
    const detail = "Request date header too old: 'Fri, 04 Oct 2019 18:02:12 GMT'";
    azure.injectFault(() => ({ status: 403, code: 'AuthenticationFailed', detail }));
    await expect(account.open('docks/a.txt', NEVER)).rejects.toMatchObject({ kind: 'server_error' });
    azure.injectFault(() => ({
      status: 403,
      code: 'AuthenticationFailed',
      detail: 'The MAC signature is not the same',
    }));
    await expect(account.open('docks/a.txt', NEVER)).rejects.toMatchObject({ kind: 'access_revoked' });
  });

  test.each(['', '..', 'UPPER', 'a/../b', 'ab', '/docks/a', 'docks?comp=list', 'nowhere', 'docks/nothing', 'docks/b/'])(
    'rejects %j as not found',
    async (id) => {
      await expect(account.listDescendants(id, null, NEVER)).rejects.toMatchObject({ kind: 'not_found' });
      await expect(account.open(id, NEVER)).rejects.toMatchObject({ kind: 'not_found' });
    },
  );

  test('rejects a wrong or malformed key, and an account name that would change the host', async () => {
    for (const key of [ACCOUNT_KEY.toUpperCase(), '', 'no base64 ✓'])
      await expect(accountOf(azure.settings, ACCOUNT, key).identify(NEVER)).rejects.toMatchObject({
        kind: 'access_revoked',
      });
    azure.reset();
    for (const name of ['evil.com/#', '127.0.0.1:8080', 'a@b', '', 'harbour1.evil'])
      await expect(accountOf(azure.settings, name).identify(NEVER)).rejects.toMatchObject({ kind: 'bad_response' });
    expect(azure.requests).toEqual([]);
    const nowhere = accountOf('AZURE_BLOB_STORAGE.api=http://{account}.blob.invalid');
    await expect(nowhere.identify(NEVER)).rejects.toMatchObject({ kind: 'not_found' });
  });
});

test.each([
  ['a text without XML', 'none'],
  ['an HTML page', '<!doctype html><html><body>Words'],
  ['another document', '<Error><Code>no</Code></Error>'],
  ['a truncated list', '<EnumerationResults><Blobs><Blob><Name>a</Name>'],
  ['a declared entity', '<!DOCTYPE a [<!ENTITY b "c">]><EnumerationResults>&b;</EnumerationResults>'],
  ['elements nested 100,000 deep', `<EnumerationResults>${'<a>'.repeat(100_000)}`],
  [
    'a wrongly encoded name',
    '<EnumerationResults><Blobs><Blob><Name Encoded="true">%zz</Name></Blob></Blobs></EnumerationResults>',
  ],
])('rejects %s as an invalid listing', (_name, text) => {
  expect(() => readListing(Buffer.from(text))).toThrow(/an invalid answer/);
});

test('dates a container, for which Azure states no time of creation, by its last change', () => {
  const text = `<EnumerationResults><Containers><Container><Name>docks</Name><Properties><Last-Modified>Wed, 04 Mar 2026 10:00:00 GMT</Last-Modified></Properties></Container></Containers><NextMarker/></EnumerationResults>`;
  expect(readListing(Buffer.from(text))).toMatchObject({
    entries: [{ name: 'docks', createdAt: new Date('2026-03-04T10:00:00Z') }],
    marker: null,
  });
});

test('ignores unknown elements of a listing, and blobs without a name', () => {
  const text = `<EnumerationResults><Prefix>p</Prefix><Blobs><BlobPrefix><Name>a/</Name></BlobPrefix><Blob><Properties><Etag/></Properties></Blob><Blob><Name>b</Name><Properties><Creation-Time>never</Creation-Time></Properties></Blob></Blobs><NextMarker>m</NextMarker></EnumerationResults>`;
  expect(readListing(Buffer.from(text))).toEqual({
    entries: [{ name: 'b', createdAt: null, etag: null, isDirectory: false }],
    marker: 'm',
  });
});

test('never treats a broken response as the end of a list', async () => {
  azure.containers.set('docks', new Map([['a/b.txt', { content: 'a' }]]));
  const list = async () => [(await account.listRoots(null, NEVER)).items, await listDescendants('docks')];
  expect(await acceptedBrokenAnswers(azure, list)).toEqual([]);
});
