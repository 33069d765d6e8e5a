/**
 * Tests that a grant is not revoked at its source while another connection of the account uses it. MongoDB is real.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose, { type Model } from 'mongoose';

import { endGrant } from '../../api/dataSources/endGrant.js';
import type { StoredGrant } from '../../contract/accounts/oauth.js';
import type { ConnectedSourceType } from '../../contract/sources/connectedSources.js';
import { dataSourceModel, type DataSourceDoc } from '../../store/models/dataSources.js';
import { createDataSourceQueries } from '../../store/dataSources/queries.js';
import type { Secrets } from '../../store/secrets/secrets.js';
import { testEngines } from '../support/engines.js';
import { everyRow } from '../support/everyRow.js';

let connection: mongoose.Connection;
let model: Model<DataSourceDoc>;
beforeAll(async () => {
  const { mongodbUri } = testEngines();
  connection = await mongoose.createConnection(mongodbUri, { dbName: `endgrant-${process.pid}` }).asPromise();
  model = dataSourceModel(connection);
});
afterAll(async () => {
  await connection.dropDatabase();
  await connection.close();
});

const ACCOUNT = 'ada@a.test';
const source = (type: ConnectedSourceType, fields: Partial<DataSourceDoc> = {}) => ({
  ...{ _id: 1, organizationId: 1, userId: 1, type, externalId: `${type}|${ACCOUNT}`, revokedAccess: true },
  ...fields,
});
const otherSourceOf = (type: ConnectedSourceType, fields: Partial<DataSourceDoc> = {}) =>
  source(type, { _id: 2, userId: 2, revokedAccess: false, ...fields });

/** A second data source next to one of Google Drive, and whether the grant of the Google Drive one is then revoked. */
const ROWS: [what: string, otherSource: Partial<DataSourceDoc> | null, isRevoked: boolean][] = [
  ['nothing', null, true],
  ['the same service and account, of another user', otherSourceOf('GOOGLE_DRIVE'), false],
  [
    'the same service and account, of another organization',
    otherSourceOf('GOOGLE_DRIVE', { organizationId: 2, userId: 1 }),
    false,
  ],
  ['another service of the same consent', otherSourceOf('GMAIL'), false],
  ['a service of another consent', otherSourceOf('OUTLOOK'), true],
  ['the same service, with access revoked', otherSourceOf('GOOGLE_DRIVE', { revokedAccess: true }), true],
  ['another service of the same consent, with access revoked', otherSourceOf('GMAIL', { revokedAccess: true }), true],
  ['another account', otherSourceOf('GOOGLE_DRIVE', { externalId: 'GOOGLE_DRIVE|bob@a.test' }), true],
  [
    'an account whose name has the same prefix',
    otherSourceOf('GOOGLE_DRIVE', { externalId: `GOOGLE_DRIVE|${ACCOUNT}.org` }),
    true,
  ],
  ['itself, not revoked yet', source('GOOGLE_DRIVE', { revokedAccess: false }), true],
];

test('revokes a grant at its source unless the account has another connection with the same consent', () =>
  everyRow(
    ROWS,
    ([what]) => what,
    async ([, otherSource, isRevoked]) => {
      await model.collection.deleteMany({});
      if (otherSource !== null) await model.collection.insertOne(otherSource as never);
      const revokedGrants: unknown[] = [];
      const store = { dataSources: createDataSourceQueries(model, {} as Secrets) };
      const connectors = {
        consent: () => ({ revoke: (grant: unknown) => Promise.resolve(void revokedGrants.push(grant)) }),
      };
      const log = { info: () => undefined, warn: () => undefined };
      const grant = { accessToken: 'a' } as unknown as StoredGrant;
      await endGrant(source('GOOGLE_DRIVE') as DataSourceDoc, grant, { store, connectors, log } as never);
      expect(revokedGrants).toEqual(isRevoked ? [grant] : []);
    },
  ));

test('a data source without an account never counts as connected elsewhere', async () => {
  const queries = createDataSourceQueries(model, {} as Secrets);
  const nameless = source('GOOGLE_DRIVE', { externalId: null }) as DataSourceDoc;
  await model.collection.deleteMany({});
  await model.collection.insertOne(otherSourceOf('GOOGLE_DRIVE', { externalId: null }) as never);
  expect(await queries.isConnectedElsewhere(nameless, ['GOOGLE_DRIVE'])).toBe(false);
});

test('logs the cause and does not fail if the source refuses or the store is unreachable', () =>
  everyRow([true, false], String, async (isStoreDown) => {
    const warned: unknown[] = [];
    const cause = new Error('unreachable');
    const refused = () => Promise.reject(cause);
    const store = { dataSources: { isConnectedElsewhere: isStoreDown ? refused : () => Promise.resolve(false) } };
    const connectors = { consent: () => ({ revoke: refused }) };
    const log = { info: () => undefined, warn: (fields: unknown) => void warned.push(fields) };
    const grant = {} as StoredGrant;
    await endGrant(source('GOOGLE_DRIVE') as DataSourceDoc, grant, { store, connectors, log } as never);
    expect(warned).toEqual([expect.objectContaining({ dataSourceId: 1, err: cause })]);
  }));
