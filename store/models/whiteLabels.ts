import type { Connection, Model } from 'mongoose';

import type { OAuthSource, PLAIN_CREDENTIALS, SecretCredential } from '../../contract/accounts/whiteLabel.js';
import type { SealedSecret } from '../secrets/secrets.js';
import { byDefault, date, json, number, type RecordOf, required, schemaOf, textOf } from '../database/record.js';

const WHITE_LABEL = {
  _id: number,
  organizationId: required(number),
  dataSourceType: required(textOf<OAuthSource>()),
  plain: required(json<Partial<Record<(typeof PLAIN_CREDENTIALS)[number], string>>>()),
  secrets: byDefault(json<Partial<Record<SecretCredential, SealedSecret>>>(), () => ({})),
  createdAt: required(date),
  updatedAt: required(date),
};

/** An organization's own OAuth client for one source. */
export interface WhiteLabelDoc extends RecordOf<typeof WHITE_LABEL> {}

const whiteLabel = schemaOf<WhiteLabelDoc>(WHITE_LABEL, { keepEmpty: true });
whiteLabel.index({ organizationId: 1, dataSourceType: 1 }, { unique: true });
// Used by `list`, in its default order.
whiteLabel.index({ organizationId: 1, createdAt: 1, _id: 1 });

export function whiteLabelModel(connection: Connection): Model<WhiteLabelDoc> {
  return connection.model<WhiteLabelDoc>('whiteLabels', whiteLabel, 'white_labels');
}
