import type { Connection, Model } from 'mongoose';

import type { CustomLimits } from '../../contract/limits.js';
import type { FileStatisticsTotals } from '../../contract/files/statistics.js';
import {
  date,
  json,
  list,
  nullable,
  number,
  optional,
  type RecordOf,
  required,
  schemaOf,
  text,
} from '../database/record.js';

/** Settings of an organization for connectors of one source, or of all (DEFAULT). */
export interface ConnectorSettings {
  /** Empty: all formats. */
  allowed_file_formats: string[];
  google_workspace_docs_save_as?: string | null;
}

const ORGANIZATION = {
  _id: number,
  name: required(text),
  createdAt: required(date),
  updatedAt: optional(nullable(date)),
  /** Limits of users without limits of their own. */
  userLimits: optional(nullable(json<CustomLimits>())),
  /** Sources for users without a setting of their own: source types, or ALL_SOURCES alone. */
  userAutoSyncSources: optional(nullable(list(text))),
  /** By source type or DEFAULT. */
  connectorSettings: optional(nullable(json<Record<string, ConnectorSettings>>())),
  /** Totals over the files of the organization, as counted at `statisticsAt`. Null or absent: never counted. */
  statistics: optional(nullable(json<FileStatisticsTotals>())),
  statisticsAt: optional(nullable(date)),
};

export interface OrganizationDoc extends RecordOf<typeof ORGANIZATION> {}

const API_KEY = {
  _id: number,
  organizationId: required(number),
  /** The first characters, by which people recognize a key. */
  prefix: required(text),
  hash: required(text),
  createdAt: required(date),
  revokedAt: nullable(date),
};

/** A key is stored as the SHA-256 of its text: keys are long random texts, so a slow hash would add nothing. */
export interface ApiKeyDoc extends RecordOf<typeof API_KEY> {}

const organization = schemaOf<OrganizationDoc>(ORGANIZATION);

const apiKey = schemaOf<ApiKeyDoc>(API_KEY);
// Used by `organizationOfKey` for each request, and by `idOf`.
apiKey.index({ hash: 1 }, { unique: true });
// Used by `list`.
apiKey.index({ organizationId: 1 });

export interface OrganizationModels {
  organizations: Model<OrganizationDoc>;
  apiKeys: Model<ApiKeyDoc>;
}

/** Registers the mongoose models of organizations and API keys. */
export function organizationModels(connection: Connection): OrganizationModels {
  return {
    organizations: connection.model<OrganizationDoc>('organizations', organization, 'organizations'),
    apiKeys: connection.model<ApiKeyDoc>('apiKeys', apiKey, 'api_keys'),
  };
}
