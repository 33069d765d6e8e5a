/** Tests all connected sources, each with every fault. Takes some minutes. */
import { catalogueSuite } from '../system/sources/suite.js';

catalogueSuite(() => true);
