/**
 * The catalogue of connected sources. All sources are tested here, but only one of them with faults;
 * test/long/catalogue.test.ts tests each source with faults.
 */
import type { ConnectedSourceType } from '../../../contract/sources/connectedSources.js';
import { catalogueSuite } from './suite.js';

/** A source with an expiring consent and a change feed, so that every kind of fault can occur. */
const WITH_FAULTS: ConnectedSourceType = 'GOOGLE_DRIVE';
/** A source that is connected by a token, and one that is connected by consent. */
const ONE_OF_EACH_KIND: readonly ConnectedSourceType[] = ['GITBOOK', WITH_FAULTS];

catalogueSuite(
  (type) => type === WITH_FAULTS,
  (type) => ONE_OF_EACH_KIND.includes(type),
);
