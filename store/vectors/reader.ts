import { Agent as HttpAgent, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';

import { type QdrantAddress, qdrantEndpoint } from './address.js';

/** Maximum number of connections, as in the client that writes points. */
const CONNECTIONS = 25;
/** Default time limit of a request in milliseconds, including its wait for a connection. */
export const QDRANT_TIMEOUT_MS = 300_000;
/** Error codes of a persistent connection that the server has just closed. */
const CLOSED_CODES = new Set(['ECONNRESET', 'EPIPE']);

/**
 * Sends a read request to Qdrant. @returns the answer's `result`
 * @throws an error with the answer's `status`, as in errors of Qdrant's client; the reason of an aborted signal
 */
export type QueryQdrant = (path: string, query: unknown, signal?: AbortSignal) => Promise<unknown>;

/** Returns the error for an answer with a status other than 200. */
function statusError(status: number, text: string): Error {
  return Object.assign(new Error(`Qdrant answered ${status}: ${text.slice(0, 1_000)}`), { status });
}

/**
 * Sends queries on persistent connections, for callers that wait for the result. Qdrant's client uses fetch, which
 * costs about as much processor time as the engine's own search. An undici `Pool` is not suitable: none of its limits
 * includes the wait for a connection, and it does not report whether a socket was reused. Requests do not go through
 * egress/, which guards requests to addresses from callers: this address is the operator's.
 * @param timeoutMs milliseconds that a request may take
 */
export function createQdrantReader({ url, apiKey }: QdrantAddress, timeoutMs = QDRANT_TIMEOUT_MS): QueryQdrant {
  const { protocol, host, port, prefix } = qdrantEndpoint(url);
  const options = { keepAlive: true, maxSockets: CONNECTIONS };
  const [send, agent] =
    protocol === 'https:' ? [requestHttps, new HttpsAgent(options)] : [requestHttp, new HttpAgent(options)];
  const target = { host, port, method: 'POST', agent };
  const key = apiKey === null ? {} : { 'api-key': apiKey };

  const post = (path: string, body: Buffer, signal?: AbortSignal): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const headers = { ...key, 'content-type': 'application/json', 'content-length': body.length };
      const request = send({ ...target, path: prefix + path, headers, ...(signal && { signal }) });
      // Limits the whole request: a socket's own timeout does not include the wait for a free connection.
      const timer = setTimeout(() => request.destroy(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs);
      request.on('close', () => clearTimeout(timer));
      request.on('error', (error: NodeJS.ErrnoException) => {
        if (signal?.aborted === true) reject(signal.reason as Error);
        // The server closed this reused connection before it read the request, so send it again. The retries end,
        // because each removes one closed connection from the agent.
        else if (request.reusedSocket && CLOSED_CODES.has(error.code ?? '')) resolve(post(path, body, signal));
        else reject(error);
      });
      request.on('response', (response) => {
        const parts: Buffer[] = [];
        response.on('error', reject);
        response.on('data', (part: Buffer) => void parts.push(part));
        response.on('end', () => {
          try {
            const text = Buffer.concat(parts).toString();
            if (response.statusCode !== 200) throw statusError(response.statusCode ?? 0, text);
            resolve((JSON.parse(text) as { result: unknown }).result);
          } catch (error) {
            reject(error as Error);
          }
        });
      });
      request.end(body);
    });
  return async (path, query, signal) => {
    signal?.throwIfAborted();
    return post(path, Buffer.from(JSON.stringify(query)), signal);
  };
}
