/** Reports why a process could not start. */
import { StartError } from '../../contract/startError.js';

/**
 * Ends the process with exit code 1 and one sentence if its start fails; only bugs print a stack trace. Call it first.
 * @returns a function to call once the process has started: from then on Node handles uncaught errors as usual
 */
export function explainFailedStart(): () => void {
  const explain = (error: unknown): void => {
    process.stderr.write(`${explanationOf(error)}\n`);
    process.exit(1);
  };
  process.on('uncaughtException', explain);
  return () => void process.off('uncaughtException', explain);
}

/** Returns the text that an operator sees for an error: a sentence if the cause is known, else the stack trace. */
export function explanationOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof StartError) return error.message;
  const { name, message } = error;
  if ((error as NodeJS.ErrnoException).code === 'ENOSPC')
    return `The disk is full (${message}). Free some space, then start again; DATA_DIR and FILE_STORAGE_DIR name the folders.`;
  if (name === 'MongooseServerSelectionError' || name === 'MongoServerSelectionError')
    return `MongoDB does not answer (${message}). Start it (npm start includes an embedded one), or correct MONGODB_URI.`;
  if (name === 'MongoParseError') return `MONGODB_URI is invalid: ${message}. Correct it, then start again.`;
  if (message === 'fetch failed')
    return 'Qdrant does not answer. Start it (npm start includes an embedded one), or correct QDRANT_URL.';
  if (name === 'TransportError')
    return `Temporal does not answer (${message}). Start it (npm start includes an embedded one), or correct TEMPORAL_ADDRESS.`;
  return error.stack ?? message;
}
