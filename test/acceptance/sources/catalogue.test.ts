/** Every connected source, the same way: what it must do is in rows/, each file on one subject. */
import { describe, expect, test } from '@jest/globals';

import { readAtRest } from '../../support/atRest.js';
import { Customer, SOURCES, useCatalogue } from './catalogue.js';
import { connectingRows } from './rows/connecting.js';
import { listingRows } from './rows/listing.js';
import { secretRows } from './rows/secrets.js';
import { syncingRows } from './rows/syncing.js';
import { wholeAccountRows } from './rows/wholeAccount.js';

const catalogue = useCatalogue();

describe.each(SOURCES)('%s', (type) => {
  const customer = new Customer(catalogue, type);
  wholeAccountRows(customer);
  connectingRows(customer);
  listingRows(customer);
  syncingRows(customer);
});

describe('after all of them', () => {
  test('nothing is amiss with anything of any customer', async () => {
    expect((await readAtRest(catalogue.service.env)).amiss()).toEqual([]);
  });
  secretRows(catalogue);
});
