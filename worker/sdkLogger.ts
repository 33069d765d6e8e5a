import { DefaultLogger, type LogEntry } from '@temporalio/worker';

import type { Log } from '../observability/log.js';

/**
 * The SDK warns about a worker without workflows. The workers for deliveries, OCR and transcriptions have none on
 * purpose (temporalWorkers.ts).
 */
const EXPECTED_WARNING = /^No workflows registered/;

/** Returns whether a line of the SDK describes intended behaviour. */
export const isExpected = ({ message }: Pick<LogEntry, 'message'>): boolean => EXPECTED_WARNING.test(message);

/** Creates a logger that writes the SDK's lines to our log, in the same format. */
export function createSdkLogger(log: Log): DefaultLogger {
  return new DefaultLogger('INFO', (entry) => {
    const { level, message, meta } = entry;
    const write = level === 'ERROR' ? 'error' : level === 'WARN' && !isExpected(entry) ? 'warn' : 'debug';
    log[write]({ ...meta }, message);
  });
}
