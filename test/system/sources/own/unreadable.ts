import { beforeEach, describe, expect, test } from '@jest/globals';

import { DRIVE_FOLDER, DRIVE_SHORTCUT } from '../../../emulators/googleDrive.js';
import type { GitHubFixture } from '../../../support/sourceFixtures/github.js';
import type { GoogleDriveFixture } from '../../../support/sourceFixtures/googleDrive.js';
import type { MicrosoftFixture } from '../../../support/sourceFixtures/microsoft.js';
import { waitFor } from '../../../support/waitFor.js';
import { type Catalogue, Customer } from '../../../support/sourceFixtures/catalogue.js';

/** Waits until the selections have ended and `number` items are skipped. Returns the reasons by item id. */
const skippedReasonsOf = async (customer: Customer, number: number) => {
  const reasons = await waitFor(
    () => customer.skippedItems(),
    (skipped) => skipped.length >= number,
  );
  await customer.selectionsDone();
  expect(await customer.skippedItems()).toEqual(reasons);
  return new Map(reasons.map(({ id, reason }) => [id, reason]));
};

/** Tests that selected items that do not become files are reported. */
export function defineUnreadableTests(catalogue: Catalogue): void {
  describe('selected items that do not become files', () => {
    const github = new Customer(catalogue, 'GITHUB');
    const gitbook = new Customer(catalogue, 'GITBOOK');
    beforeEach(() => Promise.all([github.resetAndCreateUser(), gitbook.resetAndCreateUser()]));

    test('in a directory of GITHUB are reported by one event per reason; also those selected by id', async () => {
      const { files } = (github.fixture as GitHubFixture).emulator.repositories['ada/atlas']!;
      files['sights/tower.zip'] = { content: 'PK' };
      files['sights/long.rs'] = { content: 'x'.repeat(1_000_001) };
      const { id } = await github.connect();
      await github.syncFiles(['ada/atlas/sights'], { request_id: 'sights' });
      const reasons = await skippedReasonsOf(github, 4);
      expect(reasons).toEqual(
        new Map([
          ['ada/atlas/sights/tower.png', expect.stringMatching(/only documents and texts/)],
          ['ada/atlas/sights/tower.zip', expect.stringMatching(/only documents and texts/)],
          ['ada/atlas/sights/away', expect.stringMatching(/is a link/)],
          ['ada/atlas/sights/long.rs', expect.stringMatching(/too large/)],
        ]),
      );
      expect(await github.settledFiles(2)).toHaveLength(2);
      // The event as webhook receivers get it.
      const { results } = (
        await github.user.get<{ results: { webhook_type: string; customer_id: string; obj: unknown }[] }>(
          '/events?limit=1000',
          { authorization: `Bearer ${catalogue.service.apiKey}` },
        )
      ).body;
      const skippedEvents = results.filter(
        (one) => one.customer_id === github.customerId && one.webhook_type === 'FILES_SKIPPED',
      );
      expect(skippedEvents.map(({ obj }) => obj)).toContainEqual({
        object_type: 'FILE_LIST',
        object_id: [],
        additional_information: {
          reason: expect.stringMatching(/only documents and texts/),
          data_source_id: String(id),
          items: [
            { external_id: 'ada/atlas/sights/tower.png', name: 'tower.png' },
            { external_id: 'ada/atlas/sights/tower.zip', name: 'tower.zip' },
          ],
          ...{ request_id: 'sights', upload_id: null },
        },
      });
      expect(skippedEvents).toHaveLength(3);
      await github.syncFiles(['ada/atlas/other', 'ada/atlas/.gitkeep']);
      expect((await skippedReasonsOf(github, 6)).get('ada/atlas/other')).toMatch(/submodule/);
      expect(await github.files()).toHaveLength(2);
    });

    test('in a space of GITBOOK are reported: links, and computed pages, which are missing from item lists', async () => {
      await gitbook.connect({ sync_source_items: true });
      const { items } = await gitbook.items({ filters: { item_types: ['LINK'] } });
      expect(items).toMatchObject([{ external_id: 'atlas/away', is_selectable: false }]);
      await gitbook.syncFiles(['atlas']);
      expect(await skippedReasonsOf(gitbook, 2)).toEqual(
        new Map([
          ['atlas/away', expect.stringMatching(/is a link/)],
          ['atlas/interface', expect.stringMatching(/computes this page/)],
        ]),
      );
    });
  });
}

/** Tests selected items that do not become files, of sources whose tests would make `npm run test:system` too slow. */
export function defineMoreUnreadableTests(catalogue: Catalogue): void {
  describe('selected items that do not become files, in more sources', () => {
    const drive = new Customer(catalogue, 'GOOGLE_DRIVE');
    const oneDrive = new Customer(catalogue, 'ONEDRIVE');
    const outlook = new Customer(catalogue, 'OUTLOOK');
    beforeEach(() =>
      Promise.all([drive.resetAndCreateUser(), oneDrive.resetAndCreateUser(), outlook.resetAndCreateUser()]),
    );

    test('in a folder of GOOGLE_DRIVE include shortcuts to folders; a selected shortcut is followed', async () => {
      const { files } = (drive.fixture as GoogleDriveFixture).emulator;
      files['far'] = { name: 'Far', mimeType: DRIVE_FOLDER };
      files['in-far'] = { ...files['keeper']!, parent: 'far' };
      files['way'] = { name: 'Way', mimeType: DRIVE_SHORTCUT, parent: 'sights', target: 'far' };
      await drive.connect();
      await drive.syncFiles(['sights']);
      expect(await skippedReasonsOf(drive, 1)).toEqual(
        new Map([['way', expect.stringMatching(/shortcut to another folder/)]]),
      );
      await drive.syncFiles(['way']);
      const made = await drive.settledFiles(3);
      expect(made.map((file) => file.external_file_id).toSorted()).toEqual(['in-far', 'keeper', 'lighthouse']);
      expect(await drive.skippedItems()).toHaveLength(1);
    });

    test('in a folder of ONEDRIVE include notebooks; a selected notebook becomes a SYNC_ERROR file', async () => {
      await oneDrive.connect();
      await oneDrive.syncFiles(['b!atlas/sights']);
      expect(await skippedReasonsOf(oneDrive, 1)).toEqual(
        new Map([['b!atlas/sights.Notes', expect.stringMatching(/notebooks/)]]),
      );
      await oneDrive.syncFiles(['b!atlas/sights.Notes']);
      const made = await oneDrive.settledFiles(3);
      expect(made.find((file) => file.external_file_id === 'b!atlas/sights.Notes')).toMatchObject({
        sync_status: 'SYNC_ERROR',
        sync_error_message: expect.stringMatching(/notebook/),
      });
      expect(await oneDrive.skippedItems()).toHaveLength(1);
    });

    test('in mails of OUTLOOK include links to files outside the mail, reported if attachments are requested', async () => {
      const { mailbox } = (outlook.fixture as MicrosoftFixture).graph;
      const mail = { folder: 'sights', subject: 'Plan', text: 'See there.', received: '2026-01-07T09:00:00Z' };
      mailbox.put('plan', { ...mail, attachments: { far: { name: 'far.docx', content: '', kind: 'reference' } } });
      const { id } = await outlook.connect();
      await outlook.syncFiles(['folder:sights']);
      await outlook.settledFiles(3);
      await outlook.selectionsDone();
      expect(await outlook.skippedItems()).toEqual([]);
      await outlook.syncFiles(['folder:sights'], { file_sync_config: { sync_attachments: true } });
      const reason = expect.stringMatching(/link to a file elsewhere/);
      expect(await skippedReasonsOf(outlook, 1)).toEqual(new Map([['plan/far', reason]]));
      const body = { data_source_id: id, folder: 'Sights', filters: {}, sync_attachments: true };
      expect((await outlook.user.post('/integrations/outlook/sync', body)).status).toBe(200);
      await waitFor(
        () => outlook.skippedItems(),
        (skipped) => skipped.length === 2,
      );
      expect((await outlook.files()).map((file) => file.external_file_id)).not.toContain('plan/far');
    });
  });
}
