/** The catalogue of connected sources; troubles are met by one here, by all in test/long/catalogue.test.ts. */
import type { ConnectedSourceType } from '../../../contract/sources.js';
import { catalogueSuite } from './suite.js';

/** With a consent that ends and a feed of changes: what happens to any source may happen to it. */
const TROUBLED: ConnectedSourceType = 'GOOGLE_DRIVE';
/** One whose user hands over a token, and one with consent: what differs between these is their connecting. */
const ONE_OF_EACH_KIND: readonly ConnectedSourceType[] = ['GITBOOK', TROUBLED];

catalogueSuite(
  (type) => type === TROUBLED,
  (type) => ONE_OF_EACH_KIND.includes(type),
);
