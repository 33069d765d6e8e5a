import { type Connection, type Model, Schema } from 'mongoose';

import type { OAuthSource, PLAIN_CREDENTIALS, SecretCredential } from '../../contract/whiteLabel.js';
import type { SealedSecret } from '../secrets.js';

/** An organization's own OAuth client for one source. */
export interface WhiteLabelDoc {
  _id: number;
  organizationId: number;
  dataSourceType: OAuthSource;
  plain: Partial<Record<(typeof PLAIN_CREDENTIALS)[number], string>>;
  secrets: Partial<Record<SecretCredential, SealedSecret>>;
  createdAt: Date;
  updatedAt: Date;
}

const whiteLabel: Schema<WhiteLabelDoc> = new Schema<WhiteLabelDoc>(
  {
    _id: Number,
    organizationId: { type: Number, required: true },
    dataSourceType: { type: String, required: true },
    plain: { type: Schema.Types.Mixed, required: true },
    secrets: { type: Schema.Types.Mixed, default: () => ({}) },
    createdAt: { type: Date, required: true },
    updatedAt: { type: Date, required: true },
  },
  { versionKey: false, minimize: false },
);
whiteLabel.index({ organizationId: 1, dataSourceType: 1 }, { unique: true });
// list, in its default order.
whiteLabel.index({ organizationId: 1, createdAt: 1, _id: 1 });

export function whiteLabelModel(connection: Connection): Model<WhiteLabelDoc> {
  return connection.model<WhiteLabelDoc>('whiteLabels', whiteLabel, 'white_labels');
}
