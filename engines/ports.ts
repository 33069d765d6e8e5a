import { createServer } from 'node:net';

import { EngineError } from './errors.js';

/** The port at which the search for a free one starts, or 'free' for any unused port. */
export type WantedPort = number | 'free';

const PORTS_TRIED = 100;
/**
 * Below the range of ports that the kernel uses for outgoing connections: such a connection could take the port between
 * the check and its use.
 */
const FREE = { first: 20_000, count: 10_000 };

/** Returns the first port from `wanted` upwards that is free on loopback and not in `taken`. */
export async function findPort(wanted: WantedPort, taken: readonly number[] = []): Promise<number> {
  const first = wanted === 'free' ? FREE.first + Math.floor(Math.random() * FREE.count) : wanted;
  for (let port = first; port < first + PORTS_TRIED; port++) {
    if (!taken.includes(port) && (await isFree(port))) return port;
  }
  throw new EngineError(
    `No free port between ${first} and ${first + PORTS_TRIED - 1}. Stop the processes that use them.`,
  );
}

/** Returns whether a server could listen on this loopback port now. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((answer) => {
    const server = createServer();
    server.once('error', () => answer(false));
    server.listen({ host: '127.0.0.1', port }, () => server.close(() => answer(true)));
  });
}
