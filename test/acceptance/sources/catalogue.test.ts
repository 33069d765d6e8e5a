/** The catalogue of connected sources; troubles are met by one of each kind here, by all in test/long/catalogue.test.ts. */
import type { ConnectedSourceType } from '../../../contract/sources.js';
import { catalogueSuite } from './suite.js';

/** One whose user hands over a token, and one with consent and a feed of changes. */
const ONE_OF_EACH_KIND: readonly ConnectedSourceType[] = ['GITBOOK', 'GOOGLE_DRIVE'];

catalogueSuite((type) => ONE_OF_EACH_KIND.includes(type));
