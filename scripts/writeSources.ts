import { writeFile } from 'node:fs/promises';

import { sourcesPage } from './sourcesPage.js';

await writeFile(new URL('../docs/sources.md', import.meta.url), sourcesPage());
