import type { DataSourceDoc } from '../models/dataSources.js';

/** The account of a data source as its source calls it; null where it has no name for it. */
export const accountName = ({ type, externalId }: Pick<DataSourceDoc, 'type' | 'externalId'>): string | null =>
  externalId?.slice(type.length + 1) ?? null;
