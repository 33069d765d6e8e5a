import type { LookupFunction } from 'node:net';
import { buildConnector } from 'undici';

import type { Guard } from './guard.js';

/**
 * Connects to checked addresses only. A name is resolved and judged inside the connection's own lookup, so that the
 * addresses judged are the ones connected to; a literal, for which Node calls no lookup, is judged before; and what
 * the socket says it reached is judged once more. Made once per host and port.
 */
export function createConnector(guard: Guard, port: number, connectTimeoutMs: number): buildConnector.connector {
  const lookup: LookupFunction = (hostname, options, callback) => {
    guard.resolve(hostname, port).then(
      (addresses) => {
        if (options.all) {
          callback(
            null,
            addresses.map(({ address, family }) => ({ address, family })),
          );
        } else {
          callback(null, addresses[0]?.address ?? '', addresses[0]?.family);
        }
      },
      (fault: Error) => {
        callback(fault, '');
      },
    );
  };
  // Node gives the first of several addresses 250 ms only, less than a round trip to the far side of the earth.
  const connect = buildConnector({
    timeout: connectTimeoutMs,
    lookup,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: 1000,
  });

  return (options, callback) => {
    const host = options.hostname.replace(/^\[|\]$/g, '');
    try {
      guard.literal(host, port);
    } catch (fault) {
      callback(fault as Error, null);
      return;
    }
    connect(options, (error, socket) => {
      if (error !== null || socket === null) {
        callback(error ?? new Error('no socket'), null);
        return;
      }
      try {
        guard.connected(socket.remoteAddress, host, port);
      } catch (fault) {
        socket.destroy();
        callback(fault as Error, null);
        return;
      }
      callback(null, socket);
    });
  };
}
