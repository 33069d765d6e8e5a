import type { Connection, Model } from 'mongoose';

import { QUARANTINE_STATES } from '../../contract/files/quarantine.js';
import type { ColdCopy, FileDoc } from './files.js';
import { date, json, nullable, number, oneOf, type RecordOf, required, schemaOf, text } from '../database/record.js';

const QUARANTINED = {
  /** The file's own. */
  _id: number,
  organizationId: required(number),
  userId: required(number),
  customerId: required(text),
  dataSourceId: nullable(number),
  parentId: nullable(number),
  state: required(oneOf(QUARANTINE_STATES)),
  /** The run that missed it. */
  missedBy: required(number),
  /** The run that processes it, or the last one. */
  runId: required(number),
  quarantinedAt: required(date),
  /** From then on it can't be restored, and is erased. */
  keptUntil: required(date),
  /** Where its vectors lie, once they are safe there; null without vectors. */
  copy: nullable(json<ColdCopy>()),
  /** The record before the deletion. */
  file: required(json<FileDoc>()),
};

/** A file that vanished at its source. Its record lies here and not with the others, so that no list or search can find it. */
export interface QuarantinedDoc extends RecordOf<typeof QUARANTINED> {}

/** How many there are of each data source, and until when: without a look at the records. */
export const OVERVIEW_INDEX = { organizationId: 1, state: 1, keptUntil: 1, dataSourceId: 1, parentId: 1 } as const;

const quarantined = schemaOf<QuarantinedDoc>(QUARANTINED, { keepEmpty: true });
// claimAll, list and any: of a user.
quarantined.index({ organizationId: 1, userId: 1, _id: 1 });
// list, of an organization.
quarantined.index({ organizationId: 1, _id: 1 });
// owners and claimDue: what is kept no longer.
quarantined.index({ keptUntil: 1 }, { partialFilterExpression: { state: 'kept' } });
// adopt: steps that were left halfway.
quarantined.index({ state: 1, runId: 1 });
// createQuarantineOverview, by keys alone.
quarantined.index(OVERVIEW_INDEX);

export function quarantinedModel(connection: Connection): Model<QuarantinedDoc> {
  return connection.model<QuarantinedDoc>('quarantined_files', quarantined, 'quarantined_files');
}
