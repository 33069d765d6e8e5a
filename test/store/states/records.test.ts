/** Writes of connections by consent, data sources, webhooks and users: each applies only to some states of a record. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Connection } from 'mongoose';

import { ATTEMPT_STATES, OPEN_ATTEMPT_STATES } from '../../../contract/accounts/oauth.js';
import { storedTags } from '../../../contract/files/tags.js';
import { createAttempts } from '../../../store/connections/attempts.js';
import { createDataSourceCommands } from '../../../store/dataSources/commands.js';
import { createDataSourceListings } from '../../../store/dataSources/listings.js';
import { createSequence } from '../../../store/database/sequence.js';
import { type AttemptDoc, attemptModel } from '../../../store/models/connections.js';
import { type DataSourceDoc, dataSourceModel } from '../../../store/models/dataSources.js';
import { type UserDoc, userModel } from '../../../store/models/users.js';
import { type WebhookDoc, webhookModels } from '../../../store/models/webhooks.js';
import { createSecrets } from '../../../store/secrets/secrets.js';
import { createUserRecords } from '../../../store/users/records.js';
import { createWebhooks } from '../../../store/webhooks/webhooks.js';
import { everyRow } from '../../support/everyRow.js';
import {
  ADA,
  AGO,
  AHEAD,
  STRANGERS,
  checkWrites,
  dropDatabase,
  openDatabase,
  seed,
  sorted,
  withoutTransaction,
} from './writes.js';

let connection: Connection;
beforeAll(async () => {
  connection = await openDatabase();
});
afterAll(() => dropDatabase(connection));

const secrets = createSecrets([{ id: 'k1', key: Buffer.alloc(32, 1) }]);

const ATTEMPTS: Readonly<Record<string, Partial<AttemptDoc>>> = {
  ...Object.fromEntries(ATTEMPT_STATES.map((state) => [state, { state }])),
  late: { state: 'waiting', expiresAt: AGO },
  acknowledged: { state: 'returned', isAcknowledged: true },
  onPage: { state: 'connected', pageHash: 'hash', pageExpiresAt: AHEAD },
};
const ALL_ATTEMPTS = Object.keys(ATTEMPTS).join(' ');

test('a connection by consent changes only in the states from which it may', async () => {
  const model = attemptModel(connection);
  const attempts = createAttempts(model, secrets);
  const sealed = secrets.seal({ organizationId: 1, record: 'r', field: 'f' }, 's');
  const secret = { sealed, sealedCode: sealed, sealedGrant: sealed };
  const common = (id: number) => ({
    ...{ ...ADA, service: 'BOX', facts: {}, options: {}, actions: {}, knownSourceId: null, runIds: [], ...secret },
    ...{ isAcknowledged: false, expiresAt: AHEAD, updatedAt: AGO, createdAt: AGO, stateHash: `state ${id}` },
  });
  const fresh = () => seed(model, common, ATTEMPTS);
  await checkWrites(model, fresh, [
    ['return with a code', (id) => attempts.recordReturn(id, 'code'), 'waiting'],
    ['return after a refusal', (id) => attempts.recordReturn(id, null), 'waiting'],
    ['grant', (id) => attempts.saveGrant(id, {} as never), 'exchanging'],
    ['new state', (id) => attempts.changeState(id, ['returned', 'granted'], 'failed'), 'returned acknowledged granted'],
    ['page', (id) => attempts.createPage(id, AHEAD).then((name) => name !== null), ALL_ATTEMPTS.replace(' onPage', '')],
    ['acknowledgement', (id) => attempts.acknowledge(id), ALL_ATTEMPTS.replace(' acknowledged', '')],
  ]);
  const ids = await fresh();
  const nameOf = new Map([...ids].map(([name, id]) => [id, name]));
  const unacknowledged = async (before: Date) =>
    (await attempts.listUnacknowledged(before, 10)).map(({ _id }) => nameOf.get(_id) ?? '').toSorted();
  expect(await unacknowledged(new Date(AGO.getTime() + 1))).toEqual(['denied', 'returned']);
  expect(await unacknowledged(AGO)).toEqual([]);
  for (const stranger of STRANGERS) await attempts.removeAll(stranger);
  expect(await model.countDocuments()).toBe(ids.size);

  // Only an open attempt keeps its secrets.
  await everyRow(ATTEMPT_STATES, String, async (state) => {
    const id = (await fresh()).get('waiting')!;
    await attempts.changeState(id, ['waiting'], state);
    const isOpen = (OPEN_ATTEMPT_STATES as readonly string[]).includes(state);
    const none = { sealed: null, sealedCode: null, sealedGrant: null };
    expect(await attempts.find(id)).toMatchObject({ state, ...(isOpen ? secret : none) });
  });
});

const written: object[] = [];
const events = { write: (some: readonly object[]) => Promise.resolve(void written.push(...some)) } as never;

const LISTING = 905;
const TAGS = storedTags({ team: 'red' });
const SOURCES: Readonly<Record<string, Partial<DataSourceDoc>>> = {
  ready: {},
  listing: { itemsRunId: LISTING, syncStatus: 'SYNCING' },
  listingByOther: { itemsRunId: LISTING + 1, syncStatus: 'SYNCING' },
  revoked: { revokedAccess: true, sealedCredentials: null },
  renewed: { sealedCredentials: 'renewed' },
  behind: { tagsVersion: 2, tagsCopied: 1 },
};
const ALL_SOURCES = Object.keys(SOURCES).join(' ');

test('a data source changes only in the states from which it may', async () => {
  const dataSources = dataSourceModel(connection);
  const marked: number[] = [];
  const schedules = { markSource: (_owner: unknown, id: number) => Promise.resolve(void marked.push(id)) };
  const commands = createDataSourceCommands(dataSources, createSequence(connection), events, secrets, schedules);
  const listings = createDataSourceListings(dataSources, events, withoutTransaction);
  const blank = new dataSources().toObject({ minimize: false });
  const common = (id: number) => ({
    ...{ ...blank, ...ADA, type: 'BOX', externalId: `BOX|${id}`, sealedCredentials: 'sealed', syncStatus: 'READY' },
    ...{ tagsVersion: 1, tagsCopied: 1, lastSyncedAt: AGO, lastSyncAction: 'ADD', updatedAt: AGO, createdAt: AGO },
    ...{ itemsRunId: null, revokedAccess: false, metadata: {} },
  });
  const fresh = () => {
    written.length = 0;
    return seed(dataSources, common, SOURCES);
  };
  const open = ALL_SOURCES.replace(' listing listingByOther', '');
  const end = { status: 'READY', whole: true, metadata: {} } as never;
  const refused = { refused: 'sealed', workflowId: null } as never;
  await checkWrites(dataSources, fresh, [
    [
      'request for a listing',
      (id, _row, tenant) => listings.queueListing(tenant, id, LISTING, null as never),
      open,
      'tenant',
    ],
    ['start of a listing', (id, _row, tenant) => listings.beginListing(tenant, id, LISTING), 'listing', 'tenant'],
    ['end of a listing', (id, _row, tenant) => listings.endListing(tenant, id, LISTING, end), 'listing', 'tenant'],
    [
      'revocation',
      (id, _row, tenant) => commands.revoke(tenant, id, null),
      ALL_SOURCES.replace(' revoked', ''),
      'tenant',
    ],
    [
      'refused credentials',
      (id, _row, tenant) => commands.revoke(tenant, id, null, refused),
      ALL_SOURCES.replace(' revoked renewed', ''),
      'tenant',
    ],
    ['stopped copy of tags', (id, _row, tenant) => commands.markTagsStopped(tenant, id), 'behind', 'tenant'],
    ['copied tags', (id, _row, tenant) => commands.markTagsCopied(tenant, id, 2), 'behind', 'tenant'],
    ['applied listing', (id, _row, tenant) => listings.markListingApplied(tenant, id, AGO), ALL_SOURCES, 'tenant'],
    ['metadata', (id, _row, tenant) => listings.mergeMetadata(tenant, id, { a: 1 }), ALL_SOURCES, 'tenant'],
    ['synced files', (id, _row, tenant) => commands.recordFilesSynced(tenant, id), ALL_SOURCES, 'tenant'],
    ['options', (id, _row, tenant) => commands.storeOptions(tenant, id, {} as never, null), ALL_SOURCES, 'tenant'],
    [
      'selection',
      (id, _row, tenant) => commands.recordSelection(tenant, id, null as never, null),
      ALL_SOURCES,
      'tenant',
    ],
    ['new tags', (id, _row, tenant) => commands.changeTags(tenant, id, () => TAGS, null), ALL_SOURCES, 'tenant'],
    ['the same tags', (id, _row, tenant) => commands.changeTags(tenant, id, () => [], null), ''],
  ]);
  const ids = await fresh();
  marked.length = 0;
  for (const id of ids.values()) await commands.revoke(ADA, id, null);
  // Only a revocation has an event and stops the schedule, not its repetition.
  expect(marked).toEqual([...ids].filter(([name]) => name !== 'revoked').map(([, id]) => id));
  expect(written).toHaveLength(marked.length);
  for (const stranger of STRANGERS) await commands.removeAll(stranger);
  expect(await dataSources.countDocuments()).toBe(ids.size);
});

const HOOKS: Readonly<Record<string, Partial<WebhookDoc>>> = {
  idle: {},
  due: { wake: 5 },
  dueLater: { wake: 6 },
  signalled: { wake: 5, wokenAt: AGO },
  flagged: { status: 'FLAGGED', statusReason: 'broken' },
  deleted: { deletedAt: AGO, wake: 0 },
};
const USERS: Readonly<Record<string, Partial<UserDoc>>> = {
  live: {},
  deleted: { deletedAt: AGO },
  erased: { deletedAt: AGO, erasedAt: AGO },
};

test('a webhook and a user change only in the states from which they may', async () => {
  const { webhooks: hooks, deliveries } = webhookModels(connection);
  const userRows = userModel(connection);
  const webhooks = createWebhooks(hooks, deliveries, null as never, { secrets } as never);
  const hook = () => ({
    ...{ organizationId: 1, url: 'u', signingKey: {}, status: 'ACTIVE', statusReason: '', cursor: 10, wake: null },
    ...{ wokenAt: null, failing: null, disabledAt: null, deletedAt: null, createdAt: AGO, updatedAt: AGO },
  });
  const progress = { cursor: 9, outcome: null, failing: null, disabled: false, done: null };
  const flag = { status: 'FLAGGED', reason: 'broken' } as const;
  const fresh = () => seed(hooks, hook, HOOKS);
  const all = Object.keys(HOOKS).join(' ');
  await checkWrites(hooks, fresh, [
    ['removal', (id) => webhooks.remove(1, id), all.replace(' deleted', '')],
    ['removal by another organization', (id) => webhooks.remove(2, id), ''],
    ['erasure', (id) => webhooks.erase(id), 'deleted'],
    ['a batch without news', (id) => webhooks.saveProgress(id, progress), ''],
    ['a later cursor', (id) => webhooks.saveProgress(id, { ...progress, cursor: 11 }), all],
    ['the end of the work', (id) => webhooks.saveProgress(id, { ...progress, done: 5 }), 'due signalled'],
    [
      'the same failure',
      (id) => webhooks.saveProgress(id, { ...progress, outcome: flag }),
      all.replace(' flagged', ''),
    ],
    ['an answer', (id) => webhooks.saveProgress(id, { ...progress, outcome: { status: 'ACTIVE' } }), 'flagged'],
    ['a signal', (id) => webhooks.acknowledgeWake(id, 5), 'due signalled'],
    ['a redelivery', (id) => webhooks.enableAndWake(id), all],
  ]);
  const ids = await fresh();
  const nameOf = new Map([...ids].map(([name, id]) => [id, name]));
  const unsignalled = async (before: Date) =>
    (await webhooks.listUnsignalled(before, 10)).map(({ _id }) => nameOf.get(_id) ?? '').toSorted();
  expect(await unsignalled(AGO)).toEqual(sorted('due dueLater deleted'));
  expect(await unsignalled(new Date(AGO.getTime() + 1))).toEqual(sorted('due dueLater deleted signalled'));

  // The receiver answered 410: nothing is sent until the webhook is enabled.
  await webhooks.saveProgress(ids.get('idle')!, { ...progress, outcome: flag, disabled: true });
  expect(await webhooks.find(ids.get('idle')!)).toMatchObject({ status: 'FLAGGED', disabledAt: expect.any(Date) });
  await webhooks.enableAndWake(ids.get('idle')!);
  expect(await webhooks.find(ids.get('idle')!)).toMatchObject({ disabledAt: null, wokenAt: null });
  // The failure of a webhook is shown until a batch of its deliveries ends without a failure.
  const failing = { event: 'FILE_READY', tries: 2, error: 'HTTP 500', at: AGO, nextTryAt: AHEAD };
  await webhooks.saveProgress(ids.get('due')!, { ...progress, failing });
  expect(await webhooks.find(ids.get('due')!)).toMatchObject({ failing });
  await webhooks.saveProgress(ids.get('due')!, progress);
  expect(await webhooks.find(ids.get('due')!)).toMatchObject({ failing: null });
  // Webhooks that were just enabled or deleted await a signal: to send again, or to delete their rows.
  await hooks.updateMany({}, { $set: { wake: null, wokenAt: AGO } });
  await webhooks.enableAndWake(ids.get('signalled')!);
  await webhooks.remove(1, ids.get('flagged')!);
  expect(await unsignalled(AGO)).toEqual(sorted('signalled flagged'));

  const invalidated: number[] = [];
  const liveness = {
    invalidate: (of: readonly { userId: number }[]) => invalidated.push(...of.map((one) => one.userId)),
  };
  const users = createUserRecords(userRows, liveness as never);
  const user = (id: number) => ({ organizationId: 1, customerId: `user ${id}`, deletedAt: null, erasedAt: null });
  const freshUsers = () => seed(userRows, user, USERS);
  await checkWrites(userRows, freshUsers, [
    ['deletion', (_id, row) => users.markDeleted(1, [row.customerId], null), 'live'],
    ['deletion by another organization', (_id, row) => users.markDeleted(2, [row.customerId], null), ''],
    ['erasure', (id) => users.markErased({ organizationId: 1, userId: id }, null), 'deleted'],
    ['erasure by another organization', (id) => users.markErased({ organizationId: 2, userId: id }, null), ''],
    ['feature', (id) => users.setFeature({ organizationId: 1, userId: id }, 'f', true), 'live deleted erased'],
    ['feature in another organization', (id) => users.setFeature({ organizationId: 2, userId: id }, 'f', true), ''],
    [
      'limits',
      (_id, row) => users.update(1, [row.customerId], { customLimits: { max_files: 1 } } as never, null),
      'live',
    ],
  ]);
  // A repeated deletion returns users that are not erased yet, so that their erasure starts again.
  const [live, deleted, erased] = (await freshUsers()).values();
  invalidated.length = 0;
  const found = await users.markDeleted(
    1,
    [live, deleted, erased].map((id) => `user ${id}`),
    null,
  );
  expect(found.map(({ _id }) => _id)).toEqual([live, deleted]);
  expect(invalidated).toEqual([live, deleted]);
});
