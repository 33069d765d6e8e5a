import { type Connection, type Model, Schema } from 'mongoose';

import type { CustomLimits } from '../../contract/limits.js';
import type { FileStatisticsTotals } from '../../contract/statistics.js';

/** What an organization sets for connectors of one source, or of all (DEFAULT). */
export interface ConnectorSettings {
  /** Empty: all formats. */
  allowed_file_formats: string[];
  google_workspace_docs_save_as?: string | null;
}

export interface OrganizationDoc {
  _id: number;
  name: string;
  createdAt: Date;
  updatedAt?: Date | null;
  /** Holds for users without values of their own. */
  userLimits?: CustomLimits | null;
  /** The same; source types, or ALL_SOURCES alone. */
  userAutoSyncSources?: string[] | null;
  /** By source type or DEFAULT. */
  connectorSettings?: Record<string, ConnectorSettings> | null;
  /** As the last recount found them. */
  statistics?: FileStatisticsTotals | null;
  statisticsAt?: Date | null;
}

/** A key is stored as the SHA-256 of its text: keys are long random texts, so a slow hash would add nothing. */
export interface ApiKeyDoc {
  _id: number;
  organizationId: number;
  /** The first characters, shown to people to tell keys apart. */
  prefix: string;
  hash: string;
  createdAt: Date;
  revokedAt: Date | null;
}

const mixed = { type: Schema.Types.Mixed, default: null };
const organization: Schema<OrganizationDoc> = new Schema<OrganizationDoc>(
  {
    _id: Number,
    name: { type: String, required: true },
    createdAt: { type: Date, required: true },
    updatedAt: { type: Date, default: null },
    userLimits: mixed,
    userAutoSyncSources: { type: [String], default: null },
    connectorSettings: mixed,
    statistics: mixed,
    statisticsAt: { type: Date, default: null },
  },
  { versionKey: false },
);

const apiKey: Schema<ApiKeyDoc> = new Schema<ApiKeyDoc>(
  {
    _id: Number,
    organizationId: { type: Number, required: true },
    prefix: { type: String, required: true },
    hash: { type: String, required: true },
    createdAt: { type: Date, required: true },
    revokedAt: { type: Date, default: null },
  },
  { versionKey: false },
);
// idOf, for each request.
apiKey.index({ hash: 1 }, { unique: true });
// list.
apiKey.index({ organizationId: 1 });

export interface OrganizationModels {
  organizations: Model<OrganizationDoc>;
  apiKeys: Model<ApiKeyDoc>;
}

export function organizationModels(connection: Connection): OrganizationModels {
  return {
    organizations: connection.model<OrganizationDoc>('organizations', organization, 'organizations'),
    apiKeys: connection.model<ApiKeyDoc>('apiKeys', apiKey, 'api_keys'),
  };
}
