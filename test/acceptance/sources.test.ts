/**
 * End-to-end tests of some sources: connect, list, sync, read, and the operations that only the source has. One source
 * of each kind is listed and read; the others differ only in their connectors, which have their own suites.
 * test/system/sources/ tests every source.
 */
import { describe, expect, test } from '@jest/globals';

import { CONNECTED_SOURCES, type ConnectedSourceType } from '../../contract/sources/connectedSources.js';
import { everyRow } from '../support/everyRow.js';
import { Customer, SOURCES, useCatalogue } from '../support/sourceFixtures/catalogue.js';
import { LIGHTHOUSE } from '../support/sourceFixtures/fixture.js';
import { isThorough } from '../support/thorough.js';

const catalogue = useCatalogue();

/** Calls an operation that only one source has, after the source was connected. */
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

/**
 * One source of each kind: files and buckets, wikis, code, mail, chats, helpdesks; connected by a token, by a key or by
 * consent.
 */
const READ = [
  ...(['CONFLUENCE', 'GITBOOK', 'GITHUB', 'GMAIL'] as const),
  ...(['GOOGLE_DRIVE', 'S3', 'SLACK', 'ZENDESK'] as const),
] satisfies readonly ConnectedSourceType[];
const readSources: readonly ConnectedSourceType[] = isThorough() ? SOURCES : READ;

/**
 * The other sources that have operations of their own: the connect operation of sources with a token, or those in
 * OWN_CALLS.
 */
const others = SOURCES.filter(
  (type) => !readSources.includes(type) && (CONNECTED_SOURCES[type].auth === 'token' || type in OWN_CALLS),
);

async function connect(type: ConnectedSourceType): Promise<Customer> {
  const customer = new Customer(catalogue, type);
  await customer.resetAndCreateUser();
  await customer.connect();
  return customer;
}
async function answersOwnCalls(customer: Customer): Promise<void> {
  for (const call of OWN_CALLS[customer.type] ?? []) expect(await call(customer)).toMatchObject({ status: 200 });
  await customer.selectionsDone();
}

describe.each(readSources)('%s', (type) => {
  test('connects, lists, syncs, reads and finds an item, and answers its own operations', async () => {
    const customer = await connect(type);
    await customer.listItems();
    expect((await customer.items()).count).toBeGreaterThan(0);
    const { lighthouse } = customer.content;
    await customer.syncFiles([lighthouse]);
    await customer.selectionsDone();
    const files = await customer.files();
    expect(files.find(({ external_file_id: id }) => id === lighthouse)?.sync_status).toBe('READY');
    expect(await customer.textOf(lighthouse)).toContain(LIGHTHOUSE);
    await answersOwnCalls(customer);
  });
});

test('other sources connect, and answer their own operations', () =>
  everyRow(others, String, async (type) => answersOwnCalls(await connect(type))));
