import { type Connection, type Model, Schema } from 'mongoose';

export interface OrganizationDoc {
  _id: number;
  name: string;
  createdAt: Date;
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

const organization: Schema<OrganizationDoc> = new Schema<OrganizationDoc>(
  { _id: Number, name: { type: String, required: true }, createdAt: { type: Date, required: true } },
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
apiKey.index({ hash: 1 }, { unique: true });
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
