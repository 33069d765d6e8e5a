import type { Connection } from 'mongoose';

/**
 * Converts the records of the previous version. It may run several times, also at the same time in several processes.
 */
export type Migration = (connection: Connection) => Promise<void>;
