import type { LookupFunction } from 'node:net';
import { buildConnector } from 'undici';

import type { Guard } from './guard.js';

/**
 * Creates the connector of one host and port, which connects to checked addresses only. A name is resolved and checked
 * inside the connection's own lookup, so the checked addresses are the ones used. Node calls no lookup for an IP
 * literal, so an IP literal is checked before the connection. The socket's remote address is checked once more.
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
  // Node's default of 250 ms for the first of several addresses is shorter than a round trip between continents.
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
