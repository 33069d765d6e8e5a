/** Creates data sources and assigns files to them, directly in the store. */
import { QdrantClient } from '@qdrant/js-client-rest';

import type { TagValue } from '../../contract/files/records.js';
import { storedTags } from '../../contract/files/tags.js';
import type { Connection } from '../../store/dataSources/commands.js';
import type { DataSourceDoc } from '../../store/models/dataSources.js';
import type { FileDoc } from '../../store/models/files.js';
import type { Tenant } from '../../store/users/accept.js';
import type { TestService } from './service.js';
import { withDatabase } from './mongo.js';

type Connecting = Partial<Omit<Connection, 'tags'>> & { readonly tags?: Readonly<Record<string, TagValue>> };

/** Connects an account of an end user by calling the store, not the API. */
export async function connectSource(
  { store }: Pick<TestService, 'store'>,
  owner: Tenant & { customerId: string },
  { tags = {}, ...fields }: Connecting = {},
): Promise<DataSourceDoc> {
  const connection: Connection = {
    type: 'GOOGLE_DRIVE',
    externalId: null,
    credentials: 'sealed',
    metadata: {},
    enableAutoSync: null,
    ...fields,
    tags: storedTags(tags),
  };
  const { dataSource } = await store.transaction((session) => store.dataSources.connect(owner, connection, session));
  return dataSource;
}

/** Revokes the access of a data source by calling the store, not the API. */
export async function revokeSource(
  { store }: Pick<TestService, 'store'>,
  owner: Tenant,
  id: number,
): Promise<DataSourceDoc | null> {
  return store.transaction((session) => store.dataSources.revoke(owner, id, session));
}

/** Assigns files to a data source. */
export async function adoptFiles(
  service: Pick<TestService, 'env'>,
  dataSourceId: number,
  ids: readonly number[],
): Promise<void> {
  await withDatabase(service, (connection) =>
    connection.collection<FileDoc>('files').updateMany({ _id: { $in: [...ids] } }, { $set: { dataSourceId } }),
  );
}

/** Returns the distinct tag lists of a file's points. */
export async function pointTags({ env }: Pick<TestService, 'env'>, fileId: number): Promise<string[][]> {
  const client = new QdrantClient({ url: env['QDRANT_URL'] ?? '', checkCompatibility: false });
  const { collections } = await client.getCollections();
  const tagLists = new Map<string, string[]>();
  for (const { name } of collections) {
    if (!name.startsWith(env['QDRANT_COLLECTION_PREFIX'] ?? '')) continue;
    const { points } = await client.scroll(name, {
      filter: { must: [{ key: 'file_id', match: { value: fileId } }] },
      limit: 1_000,
      with_payload: ['tags'],
    });
    for (const { payload } of points) {
      const tags = payload?.['tags'] as string[];
      tagLists.set(tags.join('\n'), tags);
    }
  }
  return [...tagLists.values()];
}
