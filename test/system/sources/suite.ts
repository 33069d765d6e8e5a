import { describe, expect, test } from '@jest/globals';

import type { ConnectedSourceType } from '../../../contract/sources/connectedSources.js';
import { readStoredState } from '../../support/storedState.js';
import { Customer, SOURCES, useCatalogue } from '../../support/sourceFixtures/catalogue.js';
import { defineConnectionOptionTests } from './rows/connectionOptions.js';
import { defineConnectingTests } from './rows/connecting.js';
import { defineDiagnosisTests } from './rows/diagnosis.js';
import { defineListingTests } from './rows/listing.js';
import { defineScheduledSyncTests } from './rows/scheduledSyncs.js';
import { defineSecretTests } from './rows/secrets.js';
import { defineSyncingTests } from './rows/syncing.js';
import { defineWholeAccountTests } from './rows/wholeAccount.js';

/**
 * Runs the tests in rows/ for every connected source. Each file of rows/ tests one subject.
 * @param hasFaults selects the sources that are also tested with faults and repeated syncs, which take most of the
 * time
 * @param isConnectedOften selects the sources that are also tested with each way of connecting
 * @param hasOptions selects the sources that are also tested with the options of a connection
 */
export function catalogueSuite(
  hasFaults: (type: ConnectedSourceType) => boolean,
  isConnectedOften: (type: ConnectedSourceType) => boolean = hasFaults,
  hasOptions: (type: ConnectedSourceType) => boolean = hasFaults,
): void {
  const catalogue = useCatalogue();

  describe.each(SOURCES)('%s', (type) => {
    const customer = new Customer(catalogue, type);
    defineWholeAccountTests(customer, hasFaults(type));
    defineConnectionOptionTests(customer, catalogue, hasOptions(type));
    if (isConnectedOften(type)) defineConnectingTests(customer);
    if (!hasFaults(type)) return;
    defineListingTests(customer);
    defineSyncingTests(customer);
    defineScheduledSyncTests(customer);
    // Last, because rate limits remain in force after it, at some sources for all accounts of an OAuth client.
    defineDiagnosisTests(customer);
  });

  describe('the service after all sources', () => {
    test('has consistent stores for every customer', async () => {
      expect((await readStoredState(catalogue.service.env)).findInconsistencies()).toEqual([]);
    });
    defineSecretTests(catalogue);
  });
}
