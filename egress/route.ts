import type { Duplex, Readable } from 'node:stream';
import type { Agent, Dispatcher } from 'undici';

import type { Fault } from '../contract/failures.js';
import { createConnector } from './connect.js';
import type { Guard, Target } from './guard.js';
import { networkFault } from './networkFault.js';
import type { EgressSettings } from './types.js';

export interface RouteRequest {
  readonly method: Dispatcher.HttpMethod;
  readonly headers: Record<string, string | string[]>;
  readonly body: string | Uint8Array | Readable | null;
  readonly signal: AbortSignal;
}

/** The path of a request: directly to its site, or through a proxy. Both check the target with the guard. */
export interface Route {
  /** Sends one request without following redirects. Throws the network error, or a Fault. */
  request(target: Target, request: RouteRequest): Promise<Dispatcher.ResponseData>;
  /** Opens a raw connection for a tunnel. Throws the network error, or a Fault. */
  connect(host: string, port: number): Promise<Duplex>;
  /** Converts a network error to a Fault with a message for the user. */
  explain(error: unknown, host: string): Fault;
}

/** Creates a route that connects to the site itself, at checked addresses only. */
export function createDirectRoute(guard: Guard, agent: Agent, settings: EgressSettings): Route {
  return {
    request: ({ url }, request) => agent.request({ ...request, origin: url.origin, path: url.pathname + url.search }),
    connect: (host, port) =>
      new Promise((resolve, reject) => {
        const connect = createConnector(guard, port, settings.connectTimeoutMs);
        connect({ hostname: host, protocol: 'http:', port: String(port) }, (error, socket) => {
          if (error) reject(error);
          else if (socket) resolve(socket);
        });
      }),
    explain: (error, host) => networkFault(error, host, settings),
  };
}
