/**
 * `npm run docs:guide`: builds the guide from docs/ to dist/guide/, if it does not exist or its sources have changed.
 * `npm run docs:guide -- OUTPUT [DOCS]`: builds it to OUTPUT, from the folder DOCS instead of docs/.
 */
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { DOCS } from './guide/sources.js';
import { updateGuide } from './guide/update.js';

const [output = fileURLToPath(new URL('../dist/guide', import.meta.url)), docs = DOCS] = process.argv.slice(2);
if (!(await updateGuide(path.resolve(output), path.resolve(docs)))) {
  console.error('The guide needs the development dependencies. Run `npm ci` without --omit=dev.');
  process.exitCode = 1;
}
