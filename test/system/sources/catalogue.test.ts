/**
 * The catalogue of connected sources. All sources are tested here, but only one of them with faults;
 * test/long/catalogue.test.ts tests each source with faults.
 */
import type { ConnectedSourceType } from '../../../contract/sources/connectedSources.js';
import { catalogueSuite } from './suite.js';

/** A source with an expiring consent and a change feed, so that every kind of fault can occur. */
const WITH_FAULTS: ConnectedSourceType = 'GOOGLE_DRIVE';
/** A source that is connected by a token, and supports sync_files_on_connection. */
const BY_TOKEN: ConnectedSourceType = 'GITBOOK';

catalogueSuite(
  (type) => type === WITH_FAULTS,
  // test/acceptance/oauthConnect.test.ts tests the ways of connecting by consent.
  (type) => type === BY_TOKEN,
  (type) => type === BY_TOKEN || type === WITH_FAULTS,
);
