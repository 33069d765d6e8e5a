import type { Migration } from './migration.js';
import { dropIndex, renameFields } from './renameFields.js';

const rename = renameFields({
  connection_attempts: { wishes: 'actions' },
  dataSources: { passedListingAt: 'appliedListingAt' },
  files: { 'feedReading.asked': 'feedReading.fingerprint' },
  items: { place: 'path' },
  originals: { doomed: 'markedForDeletion', 'transcription.wishes': 'transcription.options' },
  quarantined_files: { 'file.feedReading.asked': 'file.feedReading.fingerprint' },
  runs: {
    'progress.told': 'progress.coveredRoots',
    'progress.point': 'progress.nextChangeToken',
    'progress.since': 'progress.changeToken',
    'progress.found.reading.asked': 'progress.found.reading.fingerprint',
  },
  users: { limitTurns: 'limitVersion' },
});

/** Migrates records from version 1 (release 0.2.0) to version 2: renames fields and drops one index. */
export const migrateFieldNames: Migration = async (connection) => {
  await rename(connection);
  await dropIndex(connection, 'items', 'dataSourceId_1_place_1');
};
