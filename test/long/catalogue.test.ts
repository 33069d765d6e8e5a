/** The whole catalogue of connected sources, with all troubles for each: some minutes. */
import { catalogueSuite } from '../system/sources/suite.js';

catalogueSuite(() => true);
