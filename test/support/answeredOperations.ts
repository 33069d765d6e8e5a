/**
 * Records the API operations that succeeded at least once. After a whole test run, scripts/test.ts compares them with
 * the public contract.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { Response } from 'express';

/** https://nodejs.org/api/diagnostics_channel.html#http */
const CHANNEL = 'http.server.response.finish';

/**
 * Watches the responses of a server in this process.
 * @returns a function that stops watching and appends the operations that answered with a status below 400 to the file
 * that TEST_ANSWERED names, one per line. Without TEST_ANSWERED nothing is recorded.
 */
export function watchAnswers(port: number): () => void {
  const file = process.env['TEST_ANSWERED'];
  if (file === undefined) return () => undefined;
  const answered = new Set<string>();
  const listen = (message: unknown): void => {
    const { request, response } = message as { request: IncomingMessage; response: Response };
    if (request.socket.localPort !== port || response.statusCode >= 400) return;
    const route: unknown = response.locals?.['route'];
    if (typeof route === 'string') answered.add(`${request.method} ${route}`);
  };
  subscribe(CHANNEL, listen);
  return () => {
    unsubscribe(CHANNEL, listen);
    appendFileSync(file, [...answered].map((line) => `${line}\n`).join(''));
  };
}
