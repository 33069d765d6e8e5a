import { pino } from 'pino';

import { hideSecrets } from './hideSecrets.js';

/** The part of a logger that the service uses. Fields first, then a short sentence. */
export interface Log {
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
  error(fields: Record<string, unknown>, message: string): void;
  debug(fields: Record<string, unknown>, message: string): void;
  child(fields: Record<string, unknown>): Log;
}

/** JSON lines on standard output, or on `destination`; secrets out. */
export function createLog(
  settings: { level: string; name: string; /** Said in each line. */ fields?: () => object },
  destination?: { write(line: string): void },
): Log {
  const options = {
    name: settings.name,
    level: settings.level,
    hooks: { streamWrite: hideSecrets },
    timestamp: pino.stdTimeFunctions.isoTime,
    // A copy: pino writes the fields of the line into it.
    ...(settings.fields && { mixin: () => ({ ...settings.fields?.() }) }),
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}
