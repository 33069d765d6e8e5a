/**
 * The catalogue of connected sources. Here one source is tested with faults; test/long/catalogue.test.ts tests all with
 * them.
 */
import type { ConnectedSourceType } from '../../../contract/sources/connectedSources.js';
import { catalogueSuite } from './suite.js';

/** Has an expiring consent and a change feed, so every fault of any source can occur. */
const WITH_FAULTS: ConnectedSourceType = 'GOOGLE_DRIVE';
/** A source with a token and one with consent: they differ in how they are connected. */
const ONE_OF_EACH_KIND: readonly ConnectedSourceType[] = ['GITBOOK', WITH_FAULTS];

catalogueSuite(
  (type) => type === WITH_FAULTS,
  (type) => ONE_OF_EACH_KIND.includes(type),
);
