/** Runs all tests of test/system/sources/rows/ for every connected source. Takes some minutes. */
import { catalogueSuite } from '../system/sources/suite.js';

catalogueSuite(() => true);
