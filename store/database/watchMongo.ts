import type { Connection, mongo } from 'mongoose';

import type { CallEnd, CallObserver } from '../../observability/watch.js';

/** Commands that manage connections, sessions and cursors. They are not reported. */
const HOUSEKEEPING: ReadonlySet<string> = new Set(['hello', 'ismaster', 'ping', 'endSessions', 'killCursors']);

/**
 * Reports each command to the observer, from the driver's events. The connection must be created with
 * `monitorCommands`.
 */
export function watchCommands(connection: Connection, watch: CallObserver): void {
  const inProgress = new Map<number, (end: CallEnd) => void>();
  const end = (requestId: number, failed: boolean): void => {
    inProgress.get(requestId)?.({ failed });
    inProgress.delete(requestId);
  };
  const client = connection.getClient() as unknown as mongo.MongoClient;
  client.on('commandStarted', ({ requestId, commandName, command }) => {
    if (HOUSEKEEPING.has(commandName)) return;
    const collection: unknown = commandName === 'getMore' ? command['collection'] : command[commandName];
    const target = typeof collection === 'string' ? collection : '';
    inProgress.set(requestId, watch({ system: 'mongodb', operation: commandName, target }));
  });
  client.on('commandSucceeded', ({ requestId }) => end(requestId, false));
  client.on('commandFailed', ({ requestId }) => end(requestId, true));
}
