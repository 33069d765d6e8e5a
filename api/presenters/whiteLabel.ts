import { SECRET_CREDENTIALS } from '../../contract/accounts/whiteLabel.js';
import type { WhiteLabelDoc } from '../../store/models/whiteLabels.js';

/** Converts an OAuth client to its record without secrets: only whether they are set. */
export function presentWhiteLabel({ _id, dataSourceType, plain, secrets, createdAt, updatedAt }: WhiteLabelDoc) {
  return {
    id: _id,
    data_source_type: dataSourceType,
    credentials: {
      ...plain,
      ...Object.fromEntries(SECRET_CREDENTIALS.map((name) => [`has_${name}`, secrets[name] !== undefined])),
    },
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
  };
}
