import type { DataSourceDoc } from '../models/dataSources.js';

/** Returns the account name of a data source; null if the source has none. */
export const accountName = ({ type, externalId }: Pick<DataSourceDoc, 'type' | 'externalId'>): string | null =>
  externalId?.slice(type.length + 1) ?? null;
