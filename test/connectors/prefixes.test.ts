/** Ids and paths that begin with the name of a folder or an account, but belong to another one. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { Account } from '../../connectors/account.js';
import { idsOf } from '../../connectors/helpdesk.js';
import { isPages } from '../../connectors/microsoft/sharePoint/pages.js';
import type { ConnectedSourceType } from '../../contract/sources/connectedSources.js';
import type { Egress } from '../../egress/types.js';
import { ACCOUNT, ACCOUNT_KEY } from '../emulators/azureBlobStorage.js';
import { ACCESS_KEY, ACCESS_KEY_SECRET, startS3Source } from '../emulators/s3Source.js';
import { everyRow } from '../support/everyRow.js';
import { fixtureForAzure } from '../support/sourceFixtures/azureBlobStorage.js';
import { fixtureForDropbox } from '../support/sourceFixtures/dropbox.js';
import { fixtureForGoogleCloudStorage } from '../support/sourceFixtures/googleCloudStorage.js';
import { fixtureForS3 } from '../support/sourceFixtures/s3.js';
import type { SourceFixture } from '../support/sourceFixtures/fixture.js';
import { accountWith, readListing, loopbackEgress, NEVER } from './account.js';
import { accountWithStoredGrant, obtainGrant } from './grants.js';

let egress: Egress;
beforeAll(() => {
  egress = loopbackEgress();
});
afterAll(() => egress.close());

interface ObjectStore {
  readonly fixture: SourceFixture;
  account(): Promise<Account>;
}
const OBJECT_STORES: readonly (readonly [name: string, start: () => Promise<ObjectStore>])[] = [
  [
    'S3',
    async () => {
      const fixture = fixtureForS3(await startS3Source());
      const keys = { accessKey: ACCESS_KEY, accessKeySecret: ACCESS_KEY_SECRET, endpointUrl: null };
      return { fixture, account: () => Promise.resolve(accountWith('S3', fixture.settings, keys, egress)) };
    },
  ],
  [
    'AZURE_BLOB_STORAGE',
    async () => {
      const fixture = await fixtureForAzure();
      const keys = { accountName: ACCOUNT, accountKey: ACCOUNT_KEY };
      return {
        fixture,
        account: () => Promise.resolve(accountWith('AZURE_BLOB_STORAGE', fixture.settings, keys, egress)),
      };
    },
  ],
  [
    'GOOGLE_CLOUD_STORAGE',
    async () => {
      const fixture = await fixtureForGoogleCloudStorage();
      return { fixture, account: () => granted('GOOGLE_CLOUD_STORAGE', fixture) };
    },
  ],
];
async function granted(source: ConnectedSourceType, fixture: SourceFixture): Promise<Account> {
  const { grant } = await obtainGrant(source, fixture.settings, egress);
  return accountWithStoredGrant(source, fixture.settings, grant, egress).account;
}

test('a folder of an object store contains no object whose name merely begins with the name of the folder', () =>
  everyRow(
    OBJECT_STORES,
    ([name]) => name,
    async ([, start]) => {
      const { fixture, account: accountOf } = await start();
      const { branch, lighthouse, keeper } = fixture.reset();
      const neighbours = ['sights.md', 'sights2/x.md', 'sights-old/x.md', 'sights/inside2/x.md', 'sight/x.md'];
      for (const key of neighbours) fixture.write(`atlas/${key}`, 'x');
      fixture.write('boats/sights/x.md', 'x');
      const account = await accountOf();
      const idsBelow = async (id: string): Promise<string[]> => {
        const { items } = await readListing((cursor) => account.listDescendants(id, cursor, NEVER));
        return items.filter(({ hasContent }) => hasContent).map(({ externalId }) => externalId);
      };
      expect((await idsBelow(branch)).toSorted()).toEqual([lighthouse, keeper, 'atlas/sights/inside2/x.md'].toSorted());
      expect(await idsBelow(`${branch}inside/`)).toEqual([keeper]);
      // Each folder is listed once, although the names around it begin in the same way.
      const { items } = await readListing((cursor) => account.listDescendants('atlas', cursor, NEVER));
      const folders = items.filter(({ isExpandable }) => isExpandable).map(({ externalId }) => externalId);
      expect(folders.toSorted()).toEqual(
        [
          'atlas',
          ...['sight/', 'sights-old/', 'sights/', 'sights/inside/', 'sights/inside2/', 'sights2/'].map(
            (key) => `atlas/${key}`,
          ),
        ].toSorted(),
      );
      await fixture.close();
    },
  ));

test('a deleted folder of Dropbox deletes no file whose name merely begins with the name of the folder', async () => {
  const fixture = await fixtureForDropbox();
  fixture.reset();
  const account = await granted('DROPBOX', fixture);
  const start = await account.changes!.now(NEVER);
  fixture.dropbox.items.set('id:map', { path: '/Atlas/Sights2.md', content: 'x' });
  await account.listRoots(null, NEVER);
  fixture.dropbox.items.delete('id:sights');
  // Both entries are on one page, the deletion after the file.
  const { changes, deletedPaths } = await account.changes!.since(start, NEVER);
  expect(changes).toMatchObject([{ item: { externalId: 'id:map' } }]);
  expect(deletedPaths).toEqual(['/atlas/sights2.md', '/atlas/sights']);
  await fixture.close();
});

/** Ids of an account named `acme`, and those of others. */
const IDS: readonly (readonly [externalId: string, inner: string])[] = [
  ['acme/ticket:1', 'ticket:1'],
  ['acme/ticket:1/2', 'ticket:1/2'],
  ['acme2/ticket:1', ''],
  ['acm/ticket:1', ''],
  ['acme', ''],
  ['ticket:1', ''],
  ['other/acme/ticket:1', ''],
];
test('an id of a helpdesk belongs to an account only if it begins with the whole name of the account', () => {
  const { inner, outer } = idsOf('Acme');
  expect(outer('ticket:1')).toBe('acme/ticket:1');
  return everyRow(
    IDS,
    ([externalId]) => externalId,
    ([externalId, expected]) => expect(inner(externalId)).toBe(expected),
  );
});

test('an id belongs to the pages of a site only if it is "pages" or begins with "pages/"', () =>
  everyRow(['pages', 'pages/1', 'pages2', 'pages2/1', 'page', 'b!pages/1'], String, (id) =>
    expect(isPages(id)).toBe(id === 'pages' || id === 'pages/1'),
  ));
