/** When a source is asked to end a grant: never while its account is connected as something else too. MongoDB is real. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose, { type Model } from 'mongoose';

import { endGrant } from '../../api/dataSources/endGrant.js';
import type { StoredGrant } from '../../contract/oauth.js';
import type { ConnectedSourceType } from '../../contract/sources.js';
import { dataSourceModel, type DataSourceDoc } from '../../store/dataSources/model.js';
import { createDataSourceQueries } from '../../store/dataSources/queries.js';
import type { Secrets } from '../../store/secrets.js';
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
const other = (type: ConnectedSourceType, fields: Partial<DataSourceDoc> = {}) =>
  source(type, { _id: 2, userId: 2, revokedAccess: false, ...fields });

/** What is connected beside one of Google Drive, and whether Google is asked to end the grant of that. */
const ROWS: [what: string, beside: Partial<DataSourceDoc> | null, isAsked: boolean][] = [
  ['nothing', null, true],
  ['the account as the same service, by another user', other('GOOGLE_DRIVE'), false],
  ['the same in another organization', other('GOOGLE_DRIVE', { organizationId: 2, userId: 1 }), false],
  ['the account as another service of the same consent', other('GMAIL'), false],
  ['the account as a service of another consent', other('OUTLOOK'), true],
  ['the same, whose access is revoked', other('GOOGLE_DRIVE', { revokedAccess: true }), true],
  ['another of the consent, whose access is revoked', other('GMAIL', { revokedAccess: true }), true],
  ['another account', other('GOOGLE_DRIVE', { externalId: 'GOOGLE_DRIVE|bob@a.test' }), true],
  ['an account whose name begins alike', other('GOOGLE_DRIVE', { externalId: `GOOGLE_DRIVE|${ACCOUNT}.org` }), true],
  ['itself, not revoked yet', source('GOOGLE_DRIVE', { revokedAccess: false }), true],
];

test('a grant is ended at its source unless the account is connected elsewhere with the same consent', () =>
  everyRow(
    ROWS,
    ([what]) => what,
    async ([, beside, isAsked]) => {
      await model.collection.deleteMany({});
      if (beside !== null) await model.collection.insertOne(beside as never);
      const ended: unknown[] = [];
      const store = { dataSources: createDataSourceQueries(model, {} as Secrets) };
      const connectors = { consent: () => ({ revoke: (grant: unknown) => Promise.resolve(void ended.push(grant)) }) };
      const log = { info: () => undefined, warn: () => undefined };
      const grant = { accessToken: 'a' } as unknown as StoredGrant;
      await endGrant(source('GOOGLE_DRIVE') as DataSourceDoc, grant, { store, connectors, log } as never);
      expect(ended).toEqual(isAsked ? [grant] : []);
    },
  ));

test('of a data source without an account nothing is known to be connected elsewhere', async () => {
  const queries = createDataSourceQueries(model, {} as Secrets);
  const nameless = source('GOOGLE_DRIVE', { externalId: null }) as DataSourceDoc;
  await model.collection.deleteMany({});
  await model.collection.insertOne(other('GOOGLE_DRIVE', { externalId: null }) as never);
  expect(await queries.isConnectedElsewhere(nameless, ['GOOGLE_DRIVE'])).toBe(false);
});

test('neither a source that refuses nor a store that is away makes it fail; the log has the cause', () =>
  everyRow([true, false], String, async (isStoreAway) => {
    const warned: unknown[] = [];
    const cause = new Error('away');
    const refused = () => Promise.reject(cause);
    const store = { dataSources: { isConnectedElsewhere: isStoreAway ? refused : () => Promise.resolve(false) } };
    const connectors = { consent: () => ({ revoke: refused }) };
    const log = { info: () => undefined, warn: (fields: unknown) => void warned.push(fields) };
    const grant = {} as StoredGrant;
    await endGrant(source('GOOGLE_DRIVE') as DataSourceDoc, grant, { store, connectors, log } as never);
    expect(warned).toEqual([expect.objectContaining({ dataSourceId: 1, err: cause })]);
  }));
