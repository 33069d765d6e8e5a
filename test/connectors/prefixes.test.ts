/** Ids and paths that begin with those of a folder or an account, and belong to another one. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { Account } from '../../connectors/account.js';
import { idsOf } from '../../connectors/helpdesk.js';
import { isPages } from '../../connectors/microsoft/sharePoint/pages.js';
import type { ConnectedSourceType } from '../../contract/sources/sources.js';
import type { Egress } from '../../egress/types.js';
import { ACCOUNT, ACCOUNT_KEY } from '../emulators/azureBlobStorage.js';
import { ACCESS_KEY, ACCESS_KEY_SECRET, startS3Source } from '../emulators/s3Source.js';
import { everyRow } from '../support/everyRow.js';
import { standForAzure } from '../support/sourceStands/azureBlobStorage.js';
import { standForDropbox } from '../support/sourceStands/dropbox.js';
import { standForGoogleCloudStorage } from '../support/sourceStands/googleCloudStorage.js';
import { standForS3 } from '../support/sourceStands/s3.js';
import type { SourceStand } from '../support/sourceStands/stand.js';
import { accountWith, listed, loopbackEgress, NEVER } from './account.js';
import { accountWithStoredGrant, obtainGrant } from './grants.js';

let egress: Egress;
beforeAll(() => {
  egress = loopbackEgress();
});
afterAll(() => egress.close());

interface ObjectStore {
  readonly stand: SourceStand;
  account(): Promise<Account>;
}
const OBJECT_STORES: readonly (readonly [name: string, start: () => Promise<ObjectStore>])[] = [
  [
    'S3',
    async () => {
      const stand = standForS3(await startS3Source());
      const keys = { accessKey: ACCESS_KEY, accessKeySecret: ACCESS_KEY_SECRET, endpointUrl: null };
      return { stand, account: () => Promise.resolve(accountWith('S3', stand.settings, keys, egress)) };
    },
  ],
  [
    'AZURE_BLOB_STORAGE',
    async () => {
      const stand = await standForAzure();
      const keys = { accountName: ACCOUNT, accountKey: ACCOUNT_KEY };
      return { stand, account: () => Promise.resolve(accountWith('AZURE_BLOB_STORAGE', stand.settings, keys, egress)) };
    },
  ],
  [
    'GOOGLE_CLOUD_STORAGE',
    async () => {
      const stand = await standForGoogleCloudStorage();
      return { stand, account: () => granted('GOOGLE_CLOUD_STORAGE', stand) };
    },
  ],
];
async function granted(source: ConnectedSourceType, stand: SourceStand): Promise<Account> {
  const { grant } = await obtainGrant(source, stand.settings, egress);
  return accountWithStoredGrant(source, stand.settings, grant, egress).account;
}

test('a folder of an object store contains no object whose name merely begins like the folder', () =>
  everyRow(
    OBJECT_STORES,
    ([name]) => name,
    async ([, start]) => {
      const { stand, account: accountOf } = await start();
      const { branch, lighthouse, keeper } = stand.reset();
      const neighbours = ['sights.md', 'sights2/x.md', 'sights-old/x.md', 'sights/inside2/x.md', 'sight/x.md'];
      for (const key of neighbours) stand.write(`atlas/${key}`, 'x');
      stand.write('boats/sights/x.md', 'x');
      const account = await accountOf();
      const idsBelow = async (id: string): Promise<string[]> => {
        const { items } = await listed((cursor) => account.listDescendants(id, cursor, NEVER));
        return items.filter(({ hasContent }) => hasContent).map(({ externalId }) => externalId);
      };
      expect((await idsBelow(branch)).toSorted()).toEqual([lighthouse, keeper, 'atlas/sights/inside2/x.md'].toSorted());
      expect(await idsBelow(`${branch}inside/`)).toEqual([keeper]);
      // Each folder is listed once, although the names around it begin in the same way.
      const { items } = await listed((cursor) => account.listDescendants('atlas', cursor, NEVER));
      const folders = items.filter(({ isExpandable }) => isExpandable).map(({ externalId }) => externalId);
      expect(folders.toSorted()).toEqual(
        [
          'atlas',
          ...['sight/', 'sights-old/', 'sights/', 'sights/inside/', 'sights/inside2/', 'sights2/'].map(
            (key) => `atlas/${key}`,
          ),
        ].toSorted(),
      );
      await stand.close();
    },
  ));

test('a deleted folder of Dropbox takes no file with it whose name merely begins like the folder', async () => {
  const stand = await standForDropbox();
  stand.reset();
  const account = await granted('DROPBOX', stand);
  const start = await account.changes!.now(NEVER);
  stand.dropbox.things.set('id:map', { path: '/Atlas/Sights2.md', content: 'x' });
  await account.listRoots(null, NEVER);
  stand.dropbox.things.delete('id:sights');
  // Both entries are on one page, the deletion after the file.
  const { changes, goneAt } = await account.changes!.since(start, NEVER);
  expect(changes).toMatchObject([{ item: { externalId: 'id:map' } }]);
  expect(goneAt).toEqual(['/atlas/sights2.md', '/atlas/sights']);
  await stand.close();
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
test('an id of a helpdesk belongs to the account only if it begins with its whole name', () => {
  const { inner, outer } = idsOf('Acme');
  expect(outer('ticket:1')).toBe('acme/ticket:1');
  return everyRow(
    IDS,
    ([externalId]) => externalId,
    ([externalId, expected]) => expect(inner(externalId)).toBe(expected),
  );
});

test('an id is one of the pages of a site only if it is below their container', () =>
  everyRow(['pages', 'pages/1', 'pages2', 'pages2/1', 'page', 'b!pages/1'], String, (id) =>
    expect(isPages(id)).toBe(id === 'pages' || id === 'pages/1'),
  ));
