/** How a process says that it could not start. */
import { StartError } from '../../contract/startError.js';

/**
 * Ends the process with exit code 1 and one sentence when its start fails; the stack trace is for defects alone.
 * Call it first.
 * @returns call it once the process has started: from then on Node handles uncaught errors in its own way
 */
export function explainFailedStart(): () => void {
  const explain = (error: unknown): void => {
    process.stderr.write(`${explanationOf(error)}\n`);
    process.exit(1);
  };
  process.on('uncaughtException', explain);
  return () => void process.off('uncaughtException', explain);
}

/** What an operator is told of an error: a sentence where its cause is known, else the stack trace. */
export function explanationOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof StartError) return error.message;
  const { name, message } = error;
  if ((error as NodeJS.ErrnoException).code === 'ENOSPC')
    return `The disk is full (${message}). Free some space, then start again; DATA_DIR and FILE_STORAGE_DIR name the folders.`;
  if (name === 'MongooseServerSelectionError' || name === 'MongoServerSelectionError')
    return `MongoDB does not answer (${message}). Start it (npm start brings an embedded one), or correct MONGODB_URI.`;
  if (message === 'fetch failed')
    return 'Qdrant does not answer. Start it (npm start brings an embedded one), or correct QDRANT_URL.';
  if (name === 'TransportError')
    return `Temporal does not answer (${message}). Start it (npm start brings an embedded one), or correct TEMPORAL_ADDRESS.`;
  return error.stack ?? message;
}
