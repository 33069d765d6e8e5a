import { pino } from 'pino';

import { hideSecrets } from './hideSecrets.js';

/** The logger interface of the service: fields first, then a short sentence. */
export interface Log {
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
  error(fields: Record<string, unknown>, message: string): void;
  debug(fields: Record<string, unknown>, message: string): void;
  child(fields: Record<string, unknown>): Log;
}

/** Creates a logger that writes JSON lines without secrets to standard output, or to `destination`. */
export function createLog(
  settings: { level: string; name: string; /** Added to each line. */ fields?: () => object },
  destination?: { write(line: string): void },
): Log {
  const options = {
    name: settings.name,
    level: settings.level,
    hooks: { streamWrite: hideSecrets },
    timestamp: pino.stdTimeFunctions.isoTime,
    // Copy the fields, because pino adds those of the line to the object.
    ...(settings.fields && { mixin: () => ({ ...settings.fields?.() }) }),
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}
