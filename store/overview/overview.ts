import type { Model } from 'mongoose';

import type { DataSourceDoc } from '../models/dataSources.js';
import type { FileDoc } from '../models/files.js';
import type { QuarantinedDoc } from '../models/quarantine.js';
import type { RunDoc } from '../models/runs.js';
import type { ScheduleDoc } from '../models/schedules.js';
import type { UserDoc } from '../models/users.js';
import type { Vectors } from '../vectors/vectors.js';
import { createHeldOverview, type HeldRow } from './held.js';
import { createQuarantineOverview, type QuarantineOverview } from './quarantine.js';
import { createRunsOverview, type RunsOverview } from './runs.js';
import { createSourcesOverview, type SourcesOverview } from './sources.js';
import { createStorageOverview, type StorageOverview } from './storage.js';

/** State of one organization, for operators. Each query is bounded and uses indexes. */
export interface Overview {
  sources(organizationId: number, limit: number): Promise<SourcesOverview>;
  runs(organizationId: number, limit: number): Promise<RunsOverview>;
  storage(organizationId: number): Promise<StorageOverview>;
  /** Lists the deletions that wait for a decision of an operator. */
  held(organizationId: number, limit: number): Promise<HeldRow[]>;
  quarantine(organizationId: number, limit: number): Promise<QuarantineOverview>;
  /** Counts the users that are not deleted. */
  users(organizationId: number): Promise<number>;
}

interface OverviewParts {
  readonly dataSources: Model<DataSourceDoc>;
  readonly schedules: Model<ScheduleDoc>;
  readonly runs: Model<RunDoc>;
  readonly files: Model<FileDoc>;
  readonly users: Model<UserDoc>;
  readonly quarantined: Model<QuarantinedDoc>;
  readonly vectors: Pick<Vectors, 'countBySpace'>;
}

export const createOverview = ({
  dataSources,
  schedules,
  runs,
  files,
  users,
  quarantined,
  vectors,
}: OverviewParts): Overview => ({
  sources: createSourcesOverview(dataSources, schedules),
  runs: createRunsOverview(runs, files, dataSources),
  storage: createStorageOverview(files, vectors),
  held: createHeldOverview(dataSources, files),
  quarantine: createQuarantineOverview(quarantined, dataSources, files),
  users: (organizationId) => users.countDocuments({ organizationId, deletedAt: null }).exec(),
});
