/** When MongoDB deletes rows by itself, and which rows it refuses to store twice. */
import { expect, test } from '@jest/globals';
import mongoose, { type Connection, type Model } from 'mongoose';

import { attemptModel } from '../../store/models/connections.js';
import { dataSourceModel } from '../../store/models/dataSources.js';
import { eventModels, newRows } from '../../store/models/events.js';
import { fileModel } from '../../store/models/files.js';
import { crawlPageModel } from '../../store/models/frontier.js';
import { itemModel } from '../../store/models/items.js';
import { ledgerModel } from '../../store/models/ledger.js';
import { organizationModels } from '../../store/models/organizations.js';
import { recognizedPageModel } from '../../store/models/recognizedPages.js';
import { reembedModel } from '../../store/models/reembeds.js';
import { runModel } from '../../store/models/runs.js';
import { selectionModel, skippedItemModel } from '../../store/models/selections.js';
import { siteBlocksModel } from '../../store/models/siteBlocks.js';
import { userModel } from '../../store/models/users.js';
import { webhookModels } from '../../store/models/webhooks.js';
import { whiteLabelModel } from '../../store/models/whiteLabels.js';
import { everyRow } from '../support/everyRow.js';

const DAY_S = 24 * 3_600;
type Open = (connection: Connection) => Model<never>;
const connection = mongoose.createConnection();
const indexesOf = (open: unknown) => (open as Open)(connection).schema.indexes();

const EXPIRING: readonly (readonly [collection: string, open: unknown, field: string, seconds: number])[] = [
  ['events', (db: Connection) => eventModels(db).rows, 'expiresAt', 0],
  ['runs', runModel, 'expiresAt', 0],
  ['ledger', ledgerModel, 'expiresAt', 0],
  ['deliveries', (db: Connection) => webhookModels(db).deliveries, 'expiresAt', 0],
  ['connection attempts through a consent page', attemptModel, 'updatedAt', 7 * DAY_S],
  ['pages of a crawl', crawlPageModel, 'changedAt', 30 * DAY_S],
  ['re-embedded files', reembedModel, 'at', 30 * DAY_S],
];

test('rows that are kept for a limited time are deleted by MongoDB', () =>
  everyRow(
    EXPIRING,
    ([collection]) => collection,
    ([, open, field, seconds]) => {
      const expiring = indexesOf(open).filter(([, options]) => options.expireAfterSeconds !== undefined);
      expect(expiring.map(([keys, options]) => [keys, options.expireAfterSeconds])).toEqual([
        [{ [field]: 1 }, seconds],
      ]);
    },
  ));

test('events of one write are stored in one row per organization, which expires after the given days', () => {
  const event = (organizationId: number, objectId: string, workflowId?: string | null) => ({
    ...{ kind: 'FILE_READY' as const, organizationId, customerId: 'ada', objectId, info: null },
    ...(workflowId === undefined ? {} : { workflowId }),
  });
  const rows = newRows([event(1, 'a', 'w'), event(2, 'b', null), event(1, 'c')], 3, 'name');
  const stored = { kind: 'FILE_READY', customerId: 'ada', info: null };
  expect(
    rows.map(({ _id, organizationId, events, first, last }) => [_id, organizationId, events, first, last]),
  ).toEqual([
    [
      'name:1',
      1,
      [
        { ...stored, objectId: 'a', workflowId: 'w' },
        { ...stored, objectId: 'c' },
      ],
      null,
      null,
    ],
    ['name:2', 2, [{ ...stored, objectId: 'b' }], null, null],
  ]);
  for (const { at, expiresAt } of rows) expect(expiresAt.getTime() - at.getTime()).toBe(3 * DAY_S * 1_000);
});

const TENANT = ['organizationId', 'userId'];
const UNIQUE: readonly (readonly [record: string, open: unknown, keys: readonly (readonly string[])[]])[] = [
  ['a file of an account', fileModel, [[...TENANT, 'source', 'externalFileId', 'accountId']]],
  ['an item of an account', itemModel, [['dataSourceId', 'externalId']]],
  ['an account of a user', dataSourceModel, [[...TENANT, 'type', 'externalId']]],
  ['a part or an execution of a scheduled sync', runModel, [['parentRunId', 'part'], ['temporalRunId']]],
  ['a live user', userModel, [['organizationId', 'customerId', 'deletedAt']]],
  ['an API key', (db: Connection) => organizationModels(db).apiKeys, [['hash']]],
  ['an OAuth client', whiteLabelModel, [['organizationId', 'dataSourceType']]],
  ['a link of a connection attempt', attemptModel, [['stateHash'], ['pageHash']]],
  ['a page of a crawl', crawlPageModel, [['runId', 'url']]],
  ['a selected item', selectionModel, [['dataSourceId', 'externalId']]],
  ['a skipped item', skippedItemModel, [['scheduleId', 'externalFileId']]],
  ['the repeated blocks of a site', siteBlocksModel, [[...TENANT, 'fileId']]],
  ['a recognized page', recognizedPageModel, [[...TENANT, 'fileId', 'reading', 'number']]],
];

test('concurrent writers cannot store a record twice', () =>
  everyRow(
    UNIQUE,
    ([record]) => record,
    ([, open, keys]) => {
      const unique = indexesOf(open).filter(([, options]) => options.unique === true);
      expect(unique.map(([fields]) => Object.keys(fields))).toEqual(keys);
    },
  ));
