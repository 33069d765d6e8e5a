import type { Connection, Model } from 'mongoose';

import { QUARANTINE_STATES } from '../../contract/files/quarantine.js';
import type { ColdCopy, FileDoc } from './files.js';
import { date, json, nullable, number, oneOf, type RecordOf, required, schemaOf, text } from '../database/record.js';

const QUARANTINED = {
  /** Id of the file. */
  _id: number,
  organizationId: required(number),
  userId: required(number),
  customerId: required(text),
  dataSourceId: nullable(number),
  parentId: nullable(number),
  state: required(oneOf(QUARANTINE_STATES)),
  /** Run that found that the file is missing. */
  missedBy: required(number),
  /** Run that processes the file, or the last run that processed it. */
  runId: required(number),
  quarantinedAt: required(date),
  /** Time after which the file cannot be restored and is deleted. */
  keptUntil: required(date),
  /** Location of the vectors in file storage; null until all are stored there, and for a file without vectors. */
  copy: nullable(json<ColdCopy>()),
  /** Record of the file before the deletion. */
  file: required(json<FileDoc>()),
};

/**
 * A file that no longer exists at its source. Its record is stored here, not among the files, so that no list or search
 * finds it.
 */
export interface QuarantinedDoc extends RecordOf<typeof QUARANTINED> {}

/** Index for the number of files and the end of their retention by data source. Its query reads only keys. */
export const OVERVIEW_INDEX = { organizationId: 1, state: 1, keptUntil: 1, dataSourceId: 1, parentId: 1 } as const;

const quarantined = schemaOf<QuarantinedDoc>(QUARANTINED, { keepEmpty: true });
// Used by `claimAll`, `hasFiles`, `listClaimed` and `recordsAbove`: files of a user.
quarantined.index({ organizationId: 1, userId: 1, _id: 1 });
// Used by `list`: files of an organization.
quarantined.index({ organizationId: 1, _id: 1 });
// Used by `listOwnersOfDue` and `claimDue`: files whose retention has ended.
quarantined.index({ keptUntil: 1 }, { partialFilterExpression: { state: 'kept' } });
// Used by `adopt`: files that an ended run left unfinished.
quarantined.index({ state: 1, runId: 1 });
// Used by `createQuarantineOverview`, which reads keys only.
quarantined.index(OVERVIEW_INDEX);

export function quarantinedModel(connection: Connection): Model<QuarantinedDoc> {
  return connection.model<QuarantinedDoc>('quarantined_files', quarantined, 'quarantined_files');
}
