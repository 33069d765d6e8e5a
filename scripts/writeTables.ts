/** `npm run docs:tables`: writes the tables of the guide that are generated from the code. */
import { readFile, writeFile } from 'node:fs/promises';

import { filled, TABLES } from './tables/fill.js';

for (const [page, table] of TABLES) {
  const file = new URL(`../docs/${page}`, import.meta.url);
  await writeFile(file, filled(page, await readFile(file, 'utf8'), table()));
}
