/** `npm run docs:guide`: builds the guide from docs/ to dist/guide/, if its sources have changed. */
import { fileURLToPath } from 'node:url';

import { updateGuide } from './guide/update.js';

if (!(await updateGuide(fileURLToPath(new URL('../dist/guide', import.meta.url))))) {
  console.error('The guide needs the development dependencies. Run `npm ci` without --omit=dev.');
  process.exitCode = 1;
}
