import { describe, expect, test } from '@jest/globals';

import type { ConnectedSourceType } from '../../../contract/sources/connectedSources.js';
import { readStoredState } from '../../support/storedState.js';
import { Customer, SOURCES, useCatalogue } from '../../support/sourceFixtures/catalogue.js';
import { connectionOptionRows } from './rows/connectionOptions.js';
import { connectingRows } from './rows/connecting.js';
import { diagnosisRows } from './rows/diagnosis.js';
import { listingRows } from './rows/listing.js';
import { scheduledSyncRows } from './rows/scheduledSyncs.js';
import { secretRows } from './rows/secrets.js';
import { syncingRows } from './rows/syncing.js';
import { wholeAccountRows } from './rows/wholeAccount.js';

/**
 * Runs the tests in rows/ for every connected source. Each file of rows/ tests one subject.
 * @param hasFaults selects the sources that are also tested with faults and repeated syncs, which take most of the
 * time
 * @param isConnectedOften selects the sources that are also tested with each way of connecting, and the options of a
 * connection
 */
export function catalogueSuite(
  hasFaults: (type: ConnectedSourceType) => boolean,
  isConnectedOften: (type: ConnectedSourceType) => boolean = hasFaults,
): void {
  const catalogue = useCatalogue();

  describe.each(SOURCES)('%s', (type) => {
    const customer = new Customer(catalogue, type);
    wholeAccountRows(customer, hasFaults(type));
    connectionOptionRows(customer, catalogue, isConnectedOften(type));
    if (isConnectedOften(type)) connectingRows(customer);
    if (!hasFaults(type)) return;
    listingRows(customer);
    syncingRows(customer);
    scheduledSyncRows(customer);
    // Last, because rate limits remain in force after it, at some sources for all accounts of an OAuth client.
    diagnosisRows(customer);
  });

  describe('the service after all sources', () => {
    test('has consistent stores for every customer', async () => {
      expect((await readStoredState(catalogue.service.env)).findInconsistencies()).toEqual([]);
    });
    secretRows(catalogue);
  });
}
