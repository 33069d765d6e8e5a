import { createServer } from 'node:net';

import { EngineError } from './errors.js';

/** A port to begin the search at (the next free one is taken), or 'free' for any that nobody uses. */
export type WantedPort = number | 'free';

const TRIES = 100;
/** Below the range from which the kernel takes ports for outgoing connections, so that nothing slips in between. */
const FREE = { first: 20_000, count: 10_000 };

/** The first port from `wanted` on that is free on loopback and not among `taken`. */
export async function findPort(wanted: WantedPort, taken: readonly number[] = []): Promise<number> {
  const first = wanted === 'free' ? FREE.first + Math.floor(Math.random() * FREE.count) : wanted;
  for (let port = first; port < first + TRIES; port++) {
    if (!taken.includes(port) && (await isFree(port))) return port;
  }
  throw new EngineError(`No free port between ${first} and ${first + TRIES - 1}.`);
}

/** Whether a server could listen on this port of the loopback address now. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((answer) => {
    const server = createServer();
    server.once('error', () => answer(false));
    server.listen({ host: '127.0.0.1', port }, () => server.close(() => answer(true)));
  });
}
