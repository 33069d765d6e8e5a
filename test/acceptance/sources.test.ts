/**
 * End-to-end tests of some sources: connect, list, sync, read, and the operations that only the source has. The other
 * sources differ only in their connectors, which have their own suites. test/system/sources/ tests every source.
 */
import { describe, expect, test } from '@jest/globals';

import { CONNECTED_SOURCES, type ConnectedSourceType } from '../../contract/sources/connectedSources.js';
import { Customer, SOURCES, useCatalogue } from '../support/sourceFixtures/catalogue.js';
import { LIGHTHOUSE } from '../support/sourceFixtures/fixture.js';
import { isThorough } from '../support/thorough.js';

const catalogue = useCatalogue();

/** Calls an operation that only one source has, after an item was synced. */
type OwnCall = (customer: Customer) => Promise<{ readonly status: number }>;

const readCall =
  (path: string): OwnCall =>
  ({ user }) =>
    user.get(path);
const syncCall =
  (path: string, body: Record<string, unknown>): OwnCall =>
  ({ user }) =>
    user.post(path, body);

const OWN_CALLS: Partial<Readonly<Record<ConnectedSourceType, readonly OwnCall[]>>> = {
  AZURE_BLOB_STORAGE: [
    ({ user, content }) =>
      user.post('/integrations/azure_blob_storage/files', { ids: [{ container: content.containers[1] }] }),
  ],
  CONFLUENCE: [
    async (customer) =>
      customer.user.post('/integrations/confluence/list', { data_source_id: (await customer.source()).id }),
    async (customer) =>
      customer.user.post('/integrations/confluence/sync', {
        data_source_id: (await customer.source()).id,
        ids: [customer.content.containers[1]],
      }),
  ],
  GITBOOK: [
    async (customer) =>
      customer.user.get(`/integrations/gitbook/spaces?data_source_id=${(await customer.source()).id}`),
  ],
  GITHUB: [
    readCall('/integrations/github/repos'),
    syncCall('/integrations/github/sync_repos', { repos: ['ada/boats'] }),
  ],
  GMAIL: [
    readCall('/integrations/gmail/user_labels'),
    syncCall('/integrations/gmail/sync', { filters: { key: 'label', value: 'inbox' } }),
  ],
  OUTLOOK: [
    readCall('/integrations/outlook/user_folders'),
    readCall('/integrations/outlook/user_categories'),
    syncCall('/integrations/outlook/sync', { folder: 'boats', filters: {} }),
  ],
  S3: [({ user, content }) => user.post('/integrations/s3/files', { ids: [{ bucket: content.containers[1] }] })],
  SLACK: [
    readCall('/integrations/slack/conversations'),
    syncCall('/integrations/slack/sync', { filters: { conversation_id: 'CATLAS' } }),
  ],
};

/** Sources with OAuth consent and without own operations: one with files, one with helpdesk articles and tickets. */
const BY_CONSENT: readonly ConnectedSourceType[] = ['GOOGLE_DRIVE', 'ZENDESK'];

const tested = SOURCES.filter(
  (type) => isThorough() || CONNECTED_SOURCES[type].auth === 'token' || type in OWN_CALLS || BY_CONSENT.includes(type),
);

describe.each(tested)('%s', (type) => {
  test('connects, lists, syncs, reads and finds an item, and answers its own operations', async () => {
    const customer = new Customer(catalogue, type);
    await customer.resetAndCreateUser();
    await customer.connect();
    await customer.listItems();
    expect((await customer.items()).count).toBeGreaterThan(0);
    const { lighthouse } = customer.content;
    await customer.syncFiles([lighthouse]);
    await customer.selectionsDone();
    const files = await customer.files();
    expect(files.find(({ external_file_id: id }) => id === lighthouse)?.sync_status).toBe('READY');
    expect(await customer.textOf(lighthouse)).toContain(LIGHTHOUSE);
    for (const call of OWN_CALLS[type] ?? []) expect(await call(customer)).toMatchObject({ status: 200 });
    await customer.selectionsDone();
  });
});
