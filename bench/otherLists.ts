/**
 * Lists of users, data sources and web pages, the last chunks of the largest file, and /whoami, which adds up the
 * values of a user's files.
 */
import type mongoose from 'mongoose';

import { OFFSET, PAGE } from './listCases.js';
import type { Seeded } from './seedLists.js';
import type { ApiClient } from '../test/support/client.js';
import type { Tenant } from '../store/users/accept.js';

const ROWS = 10_000;
const dateOf = (number: number): Date => new Date(Date.UTC(2026, 0, 1) + Math.floor(number / 50) * 1_000);

export interface OtherList {
  readonly name: string;
  request(): Promise<{ readonly status: number }>;
  queryByDriver(): Promise<unknown>;
}

/** Seeds ten thousand end users of the organization, and as many data sources of the user. */
export async function seedOthers(connection: mongoose.Connection, { organizationId, userId }: Tenant): Promise<void> {
  const users = Array.from({ length: ROWS }, (_, number) => ({
    _id: 5_000_000 + number,
    organizationId,
    customerId: `seeded-${number}`,
    createdAt: dateOf(number),
    updatedAt: dateOf(ROWS - number),
    deletedAt: null,
  }));
  const sources = Array.from({ length: ROWS }, (_, number) => ({
    _id: 5_000_000 + number,
    ...{ organizationId, userId, customerId: 'bench', type: 'GOOGLE_DRIVE', externalId: null, sealedCredentials: null },
    ...{ syncStatus: 'READY', revokedAccess: false, lastSyncedAt: dateOf(number), lastSyncAction: 'ADD', metadata: {} },
    tags: [{ key: 'team', value: `team-${number % 10}` }],
    tagPairs: [`team=team-${number % 10}`],
    ...{ createdAt: dateOf(number), updatedAt: dateOf(ROWS - number) },
  }));
  await connection.collection('users').insertMany(users as never);
  await connection.collection('dataSources').insertMany(sources as never);
}

export function otherLists(
  connection: mongoose.Connection,
  tenant: Tenant,
  { user, organization }: { user: ApiClient; organization: ApiClient },
  { largest }: Seeded,
): OtherList[] {
  const { organizationId, userId } = tenant;
  const pagination = { limit: PAGE, offset: OFFSET };
  const page = (name: string, query: object) =>
    Promise.all([
      connection.collection(name).find(query).sort({ updatedAt: -1, _id: -1 }).skip(OFFSET).limit(PAGE).toArray(),
      connection.collection(name).countDocuments(query),
    ]);
  const ordered = { order_by: 'updated_at', order_dir: 'desc', pagination };
  const team = { filters: { tags: { AND: [{ key: 'team', value: 'team-7' }] } } };
  const last = { filters: { user_file_id: largest.id }, pagination: { limit: PAGE, offset: largest.chunks - PAGE } };
  return [
    {
      name: `/list_users of ${ROWS} with include_count`,
      request: () => organization.post('/list_users', { ...ordered, include_count: true }),
      queryByDriver: () => page('users', { organizationId, deletedAt: null }),
    },
    {
      name: `/user_data_sources of ${ROWS}`,
      request: () => user.post('/user_data_sources', ordered),
      queryByDriver: () => page('dataSources', { organizationId, userId }),
    },
    {
      name: `/user_data_sources of ${ROWS}, a tag`,
      request: () => user.post('/user_data_sources', { ...ordered, ...team }),
      queryByDriver: () => page('dataSources', { organizationId, userId, tagPairs: 'team=team-7' }),
    },
    {
      name: `/data_sources of ${ROWS}`,
      request: () => organization.post('/data_sources', ordered),
      queryByDriver: () => page('dataSources', { organizationId }),
    },
    {
      name: '/user_webpages',
      request: () => user.post('/user_webpages', ordered),
      queryByDriver: () => page('files', { ...tenant, source: 'WEB_SCRAPE', isContainer: false }),
    },
    {
      name: `/text_chunks, the end of ${largest.chunks}`,
      request: () => user.post('/text_chunks', last),
      queryByDriver: () =>
        connection
          .collection('segments')
          .find({ ...tenant, fileId: largest.id, generation: 1, last: { $gte: largest.chunks - PAGE } })
          .toArray(),
    },
    {
      name: '/whoami',
      request: () => user.get('/whoami'),
      queryByDriver: () =>
        connection
          .collection('files')
          .aggregate([
            { $match: { ...tenant, isContainer: false } },
            {
              $group: {
                _id: { source: '$source', format: '$statistics.fileFormat' },
                files: { $sum: 1 },
                characters: { $sum: '$statistics.numCharacters' },
                tokens: { $sum: '$statistics.numTokens' },
              },
            },
          ])
          .toArray(),
    },
  ];
}
