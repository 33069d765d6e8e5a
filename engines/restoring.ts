import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { EngineError } from './errors.js';

/** Marker file in a data directory while a backup is restored into it. */
export const RESTORING = 'restoring';

/**
 * Refuses to start on a half-restored data directory.
 * @throws EngineError after an interrupted restore, because the stores would be from different times
 */
export function refuseIncompleteRestore(dataDir: string): void {
  if (!existsSync(join(dataDir, RESTORING))) return;
  throw new EngineError(
    `A restore into ${dataDir} was interrupted. Run it again: npm run cli -- restore, with the folder that ${join(dataDir, RESTORING)} names.`,
  );
}
