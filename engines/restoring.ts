import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { EngineError } from './errors.js';

/** Stands in a data directory while a backup is brought back into it. */
export const RESTORING = 'restoring';

/** @throws EngineError where a restore was broken off: parts of two moments are no data */
export function refuseHalfRestored(dataDir: string): void {
  if (!existsSync(join(dataDir, RESTORING))) return;
  throw new EngineError(
    `A restore into ${dataDir} did not come to its end. Run it again: npm run cli -- restore, with the folder that ${join(dataDir, RESTORING)} names.`,
  );
}
