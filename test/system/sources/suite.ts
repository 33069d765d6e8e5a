import { describe, expect, test } from '@jest/globals';

import type { ConnectedSourceType } from '../../../contract/sources.js';
import { readAtRest } from '../../support/atRest.js';
import { Customer, SOURCES, useCatalogue } from '../../support/sourceStands/catalogue.js';
import { askedRows } from './rows/asked.js';
import { connectingRows } from './rows/connecting.js';
import { diagnosisRows } from './rows/diagnosis.js';
import { listingRows } from './rows/listing.js';
import { passRows } from './rows/passes.js';
import { secretRows } from './rows/secrets.js';
import { syncingRows } from './rows/syncing.js';
import { wholeAccountRows } from './rows/wholeAccount.js';

/**
 * Every connected source, the same way: what it must do is in rows/, each file on one subject.
 * @param isTroubled of which sources also what goes wrong on the way is met, and what takes several syncs: most of the time
 * @param isConnectedOften of which sources also each way of connecting is met, with what a connection asks of later syncs
 */
export function catalogueSuite(
  isTroubled: (type: ConnectedSourceType) => boolean,
  isConnectedOften: (type: ConnectedSourceType) => boolean = isTroubled,
): void {
  const catalogue = useCatalogue();

  describe.each(SOURCES)('%s', (type) => {
    const customer = new Customer(catalogue, type);
    wholeAccountRows(customer, isTroubled(type));
    askedRows(customer, catalogue, isConnectedOften(type));
    if (isConnectedOften(type)) connectingRows(customer);
    if (!isTroubled(type)) return;
    listingRows(customer);
    syncingRows(customer);
    passRows(customer);
    // The last, for it leaves limits behind, at some sources for all accounts of a client.
    diagnosisRows(customer);
  });

  describe('after all of them', () => {
    test('nothing is amiss with anything of any customer', async () => {
      expect((await readAtRest(catalogue.service.env)).findInconsistencies()).toEqual([]);
    });
    secretRows(catalogue);
  });
}
