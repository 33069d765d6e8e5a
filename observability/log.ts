import { pino } from 'pino';

/** The part of a logger that the service uses. Fields first, then a short sentence. */
export interface Log {
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
  error(fields: Record<string, unknown>, message: string): void;
  debug(fields: Record<string, unknown>, message: string): void;
  child(fields: Record<string, unknown>): Log;
}

/** Field names whose values are never written, wherever they appear in the first levels of a log line. */
const SECRET_FIELDS = [
  'authorization',
  'api_key',
  'apiKey',
  'access_token',
  'access_key_secret',
  'accessToken',
  'refresh_token',
  'client_secret',
  'signing_key',
  'password',
  'cookie',
  'premiumProxies',
];

/** JSON lines on standard output, or on `destination`; secrets out. */
export function createLog(settings: { level: string; name: string }, destination?: { write(line: string): void }): Log {
  const options = {
    name: settings.name,
    level: settings.level,
    redact: { paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]), censor: '[hidden]' },
    timestamp: pino.stdTimeFunctions.isoTime,
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}
