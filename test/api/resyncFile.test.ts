/** Tests of what a resync changes in the record of a file with uploaded chunks. The store is a fake. */
import { expect, test } from '@jest/globals';

import { resyncFile } from '../../api/files/resyncFile.js';
import { recorder } from '../support/recorder.js';

const ADA = { organizationId: 1, userId: 7, customerId: 'ada' };
const FILE = {
  ...{ _id: 5, ...ADA, syncStatus: 'READY', isContainer: false, dataSourceId: null, source: 'TEXT' },
  ...{ callerChunks: { id: 9, size: 1, sha256: '' }, options: { chunkSize: 400, chunkOverlap: 20 } },
};
/** Ends the handler after its transaction: the answer is not tested here. */
const COMMITTED = new Error('committed');

/** Returns the changes of a resync with these fields. */
async function resync(fields: object) {
  const { stores, of } = recorder({ 'runs.nextId': 3, 'files.byIds': [FILE], 'files.queueAgain': FILE });
  const unit = {
    transaction: (work: (session: null) => unknown) => work(null),
    start() {
      throw COMMITTED;
    },
  };
  const body = { file_id: 5, force_embedding_generation: false, skip_file_processing: false, ...fields };
  const call = { caller: ADA, body, deps: { store: stores, unit } };
  await expect(resyncFile.handle(call as never)).rejects.toBe(COMMITTED);
  const [[, , { change }]] = of('files.queueAgain') as [[unknown, unknown, { change: object }]];
  return { change, released: of('originals.release').map(([, id]) => id) };
}

test('a resync discards the uploaded chunks, unless skip_file_processing is set', async () => {
  expect(await resync({})).toEqual({ change: { callerChunks: null }, released: [9] });
  expect(await resync({ skip_file_processing: true })).toEqual({ change: {}, released: [] });
});
