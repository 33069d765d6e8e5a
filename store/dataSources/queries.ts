import type { Model } from 'mongoose';

import type { DataSourceFilters, DataSourceListing } from '../../contract/accounts/dataSourceFilters.js';
import type { SourceType } from '../../contract/sources/sources.js';
import { inParts } from '../database/inParts.js';
import { tagTreeQuery } from '../tagQuery.js';
import type { Tenant } from '../users/accept.js';
import type { Secrets } from '../secrets/secrets.js';
import { openCredentials } from './credentials.js';
import type { DataSourceDoc } from '../models/dataSources.js';

/** The owner of data sources: one user, or all users of an organization. */
export type DataSourceScope = Tenant | { readonly organizationId: number };

export interface DataSourceQueries {
  /** Streams a page of data sources in batches. */
  list(scope: DataSourceScope, listing: DataSourceListing): AsyncIterable<DataSourceDoc[]>;
  count(scope: DataSourceScope, listing: DataSourceListing): Promise<number>;
  find(tenant: Tenant, id: number): Promise<DataSourceDoc | null>;
  /**
   * Finds the data source of a type if the user does not name it: the only one with access or, if none has access, the
   * only one. If there are more, returns `several`, which states whether they have access.
   */
  findSingle(tenant: Tenant, type: SourceType): Promise<SingleDataSource>;
  /**
   * Returns whether the account of a data source is also connected as another data source of some types, in any
   * organization.
   */
  isConnectedElsewhere(source: DataSourceDoc, types: readonly SourceType[]): Promise<boolean>;
  /**
   * Returns the decrypted credentials; null if the source needs none or its access is revoked.
   */
  credentialsOf(source: DataSourceDoc): string | null;
}

export type SingleDataSource = { readonly source: DataSourceDoc | null } | { readonly several: 'open' | 'revoked' };

const ORDER_FIELDS = { created_at: 'createdAt', updated_at: 'updatedAt' } as const;

function scopeQuery(scope: DataSourceScope): Record<string, number> {
  const { organizationId } = scope;
  return 'userId' in scope ? { organizationId, userId: scope.userId } : { organizationId };
}

function query(scope: DataSourceScope, filters: DataSourceFilters, startingId: number) {
  const tags = filters.tagTree && tagTreeQuery(filters.tagTree);
  const and = [
    ...(filters.ids?.length ? [{ _id: { $in: [...filters.ids] } }] : []),
    ...(startingId > 0 ? [{ _id: { $gt: startingId } }] : []),
    ...(filters.type === undefined ? [] : [{ type: filters.type }]),
    ...(filters.revokedAccess === undefined ? [] : [{ revokedAccess: filters.revokedAccess }]),
    ...(tags ? [tags] : []),
  ];
  return { ...scopeQuery(scope), ...(and.length > 0 ? { $and: and } : {}) };
}

export function createDataSourceQueries(dataSources: Model<DataSourceDoc>, secrets: Secrets): DataSourceQueries {
  return {
    async isConnectedElsewhere({ _id, type, externalId }, types) {
      if (externalId === null) return false;
      const account = externalId.slice(type.length);
      const externalIds = types.map((otherType) => `${otherType}${account}`);
      const other = { _id: { $ne: _id }, externalId: { $in: externalIds }, revokedAccess: false };
      return (await dataSources.exists(other)) !== null;
    },
    credentialsOf: (source) => openCredentials(secrets, source),
    list(scope, { filters, orderBy, orderDir, page }) {
      const cursor = dataSources
        .find(query(scope, filters, page.startingId))
        .sort({ [ORDER_FIELDS[orderBy]]: orderDir, _id: orderDir })
        .skip(page.offset)
        .limit(page.limit)
        .lean()
        .cursor();
      return inParts<DataSourceDoc>(cursor);
    },
    count: (scope, { filters, page }) => dataSources.countDocuments(query(scope, filters, page.startingId)).exec(),
    find: ({ organizationId, userId }, id) => dataSources.findOne({ _id: id, organizationId, userId }).lean().exec(),
    async findSingle({ organizationId, userId }, type) {
      const [first = null, second] = await dataSources
        .find({ organizationId, userId, type })
        // Sources with access come first.
        .sort({ revokedAccess: 1, _id: 1 })
        .limit(2)
        .lean();
      if (!first || !second || first.revokedAccess !== second.revokedAccess) return { source: first };
      return { several: first.revokedAccess ? 'revoked' : 'open' };
    },
  };
}
