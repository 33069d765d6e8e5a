import type { Model } from 'mongoose';

import type { CustomLimits } from '../../contract/limits.js';
import type { FileStatisticsTotals } from '../../contract/files/statistics.js';
import type { Session } from '../database/sequence.js';
import type { ConnectorSettings, OrganizationDoc } from '../models/organizations.js';

/** Fields of an update; absent fields stay unchanged. */
export interface OrganizationChange {
  readonly userLimits: CustomLimits;
  readonly userAutoSyncSources?: readonly string[];
  /** By source type or DEFAULT. Each value replaces the stored settings of its key. */
  readonly connectorSettings: Readonly<Record<string, ConnectorSettings>>;
}

/** Records of organizations. */
export interface OrganizationRecords {
  /** @throws if the record is missing, because the id comes from a key or user of the organization */
  findRecord(organizationId: number): Promise<OrganizationDoc>;
  update(organizationId: number, change: OrganizationChange, session: Session): Promise<void>;
  setStatistics(organizationId: number, statistics: FileStatisticsTotals): Promise<void>;
  /** Lists all organizations, for operators. */
  overview(): Promise<OrganizationOverview[]>;
}

export interface OrganizationOverview {
  readonly id: number;
  readonly name: string;
  readonly createdAt: Date;
  /** Number of users that are not deleted. */
  readonly users: number;
  /** Number of valid keys. */
  readonly keys: number;
}

/** Returns the stage that counts an organization's rows in another collection. */
const countRelated = (from: string, as: string, alive: object) => ({
  $lookup: {
    from,
    localField: '_id',
    foreignField: 'organizationId',
    pipeline: [{ $match: alive }, { $count: 'number' }],
    as,
  },
});

const mergeField = (field: string, values: object): object =>
  Object.keys(values).length === 0 ? {} : { [field]: { $mergeObjects: [`$${field}`, { $literal: values }] } };

export function createOrganizationRecords(organizations: Model<OrganizationDoc>): OrganizationRecords {
  return {
    async findRecord(organizationId) {
      const row = await organizations.findById(organizationId).lean();
      if (!row) throw new Error(`Organization ${organizationId} has no record`);
      return row;
    },
    async update(organizationId, { userLimits, userAutoSyncSources, connectorSettings }, session) {
      const $set = {
        ...mergeField('userLimits', userLimits),
        ...mergeField('connectorSettings', connectorSettings),
        ...(userAutoSyncSources === undefined ? {} : { userAutoSyncSources: [...userAutoSyncSources] }),
        updatedAt: new Date(),
      };
      await organizations.updateOne({ _id: organizationId }, [{ $set }], { updatePipeline: true }).session(session);
    },
    async setStatistics(organizationId, statistics) {
      await organizations.updateOne({ _id: organizationId }, { $set: { statistics, statisticsAt: new Date() } });
    },
    overview: () =>
      organizations.aggregate<OrganizationOverview>([
        { $sort: { _id: 1 } },
        countRelated('users', 'users', { deletedAt: null }),
        countRelated('api_keys', 'keys', { revokedAt: null }),
        {
          $project: {
            _id: 0,
            id: '$_id',
            name: 1,
            createdAt: 1,
            users: { $ifNull: [{ $first: '$users.number' }, 0] },
            keys: { $ifNull: [{ $first: '$keys.number' }, 0] },
          },
        },
      ]),
  };
}
