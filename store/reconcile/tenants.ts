import type { Model } from 'mongoose';

import type { PointsCensus } from '../vectors/census.js';
import type { Models } from './records.js';

const TENANT_COLLECTIONS = [
  'files',
  'segments',
  'contents',
  'originals',
  'recognizedPages',
  'items',
  'quarantined',
] as const;

const ascending = (ids: Iterable<number>): number[] => [...new Set(ids)].toSorted((a, b) => a - b);

/** Lists all organizations and users that have a record or stored data. */
export interface Owners {
  organizations(): Promise<number[]>;
  users(organizationId: number): Promise<number[]>;
}

export function createOwners(models: Models, points: PointsCensus): Owners {
  // Each collection has an index that begins with these fields, so MongoDB skips from value to value.
  const distinct = (field: 'organizationId' | 'userId', query: object): Promise<number[]>[] =>
    TENANT_COLLECTIONS.map(
      async (name) => (await (models[name] as unknown as Model<object>).distinct(field, query)) as number[],
    );
  return {
    async organizations() {
      const recordIds = models.organizations.organizations.distinct('_id');
      return ascending(
        (await Promise.all([recordIds, ...distinct('organizationId', {}), points.organizations()])).flat(),
      );
    },
    async users(organizationId) {
      const recordIds = models.users.distinct('_id', { organizationId });
      const found = [recordIds, ...distinct('userId', { organizationId }), points.users(organizationId)];
      return ascending((await Promise.all(found)).flat());
    },
  };
}
