import { writeFile } from 'node:fs/promises';

import { settingsPage } from './settingsPage.js';

await writeFile(new URL('../docs/settings.md', import.meta.url), settingsPage());
