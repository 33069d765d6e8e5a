import { DefaultLogger, type LogEntry } from '@temporalio/worker';

import type { Log } from '../observability/log.js';

/** The SDK warns of a worker without workflows; that of the deliveries is one on purpose (createWorker.ts). */
const MEANT = /^No workflows registered/;

/** Whether a line of the SDK tells of what is so by intention. */
export const isMeant = ({ message }: Pick<LogEntry, 'message'>): boolean => MEANT.test(message);

/** Brings the SDK's own lines to where ours go, so that one reader finds both. */
export function createSdkLogger(log: Log): DefaultLogger {
  return new DefaultLogger('INFO', (entry) => {
    const { level, message, meta } = entry;
    const write = level === 'ERROR' ? 'error' : level === 'WARN' && !isMeant(entry) ? 'warn' : 'debug';
    log[write]({ ...meta }, message);
  });
}
