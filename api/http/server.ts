import {
  createServer,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Duplex } from 'node:stream';

/**
 * Time for a rejected client to read the response. If the connection were closed at once, it would be reset and the
 * response lost.
 */
const LINGER_MS = 2_000;

/**
 * Lifetime of an idle connection. It exceeds the lifetime that clients and load balancers use (mostly 60 s), so that
 * they close the connection first and do not send a request while it closes.
 */
const KEEP_ALIVE_MS = 65_000;

/** Responses to requests that Node could not parse, by Node's error code. */
const REFUSALS: Readonly<Record<string, readonly [status: number, detail: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The address and headers of the request are larger than this server accepts.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The chunk extensions of the body are larger than this server accepts.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive.'],
};
const INVALID_HTTP = [400, 'The request is not valid HTTP/1.1. Nothing was done.'] as const;

/** Responds without Express, in the format of the contract, and closes the connection once the response has arrived. */
function refuse(socket: Duplex, [status, detail]: readonly [number, string]): void {
  const body = JSON.stringify({ detail });
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-type: application/json; charset=utf-8\r\nx-content-type-options: nosniff\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  const lingering = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(lingering));
  socket.on('error', () => socket.destroy());
}

/**
 * Maximum number of waiting pipelined requests per connection. Above it the connection is closed, which such a client
 * must expect (https://www.rfc-editor.org/rfc/rfc9112.html#section-9.3.2). Further requests cannot be left unread: Node
 * continues to read after every response, even if the socket was paused
 * (https://github.com/nodejs/node/blob/v20.x/lib/_http_incoming.js, readStart).
 */
const MAX_WAITING = 100;

/**
 * Passes the requests of a connection to the application one after the other, each in its own iteration of the event
 * loop. A pipelining client can send thousands of requests in one packet, which Node would pass on in one iteration.
 * @param begin called before a request is passed on
 */
function oneAtATime(app: RequestListener, begin: (socket: Duplex, response: ServerResponse) => void): RequestListener {
  /** The waiting requests of each connection with an active request. */
  const waiting = new WeakMap<Duplex, Parameters<RequestListener>[]>();
  const run = (socket: Duplex, ...exchange: Parameters<RequestListener>): void => {
    const [, response] = exchange;
    begin(socket, response);
    response.once('close', () => {
      if ((waiting.get(socket)?.length ?? 0) > 0) setImmediate(runNext, socket);
      else waiting.delete(socket);
    });
    app(...exchange);
  };
  const runNext = (socket: Duplex): void => {
    const next = waiting.get(socket)?.shift();
    if (next && !socket.destroyed) run(socket, ...next);
    else waiting.delete(socket);
  };
  return (request, response) => {
    const { socket } = request;
    if (socket.destroyed) return;
    const queue = waiting.get(socket);
    if (!queue) {
      waiting.set(socket, []);
      run(socket, request, response);
    } else if (queue.length < MAX_WAITING) queue.push([request, response]);
    else socket.destroy();
  };
}

/**
 * Creates the server of an application. Requests that cannot be passed to it are also rejected with `{detail}`, not
 * with Node's bare status.
 */
export function createHttpServer(app: RequestListener, options: ServerOptions = {}): Server {
  const answering = new WeakMap<Duplex, ServerResponse>();
  // The application itself checks the Host header, so that its error has the usual format.
  const server = createServer(
    { keepAliveTimeout: KEEP_ALIVE_MS, ...options, requireHostHeader: false },
    oneAtATime(app, (socket, response) => answering.set(socket, response)),
  );
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const answer = answering.get(socket);
    // A partial response must not look complete, and a disconnected client receives nothing.
    const hasStarted = answer?.headersSent === true && !answer.writableFinished;
    if (hasStarted || !socket.writable) {
      // The socket of a refused request stays open until its sender has read the response; its body is discarded.
      if (!socket.writableEnded) socket.destroy();
      return;
    }
    // Ignore all output for a request whose body was aborted.
    if (answer?.socket) answer.detachSocket(answer.socket);
    refuse(socket, REFUSALS[error.code ?? ''] ?? INVALID_HTTP);
  });
  server.on('checkExpectation', (_request, response) => {
    const body = JSON.stringify({ detail: 'The header expect supports only 100-continue.' });
    const length = Buffer.byteLength(body);
    response.writeHead(417, { 'content-type': 'application/json; charset=utf-8', 'content-length': length }).end(body);
  });
  server.on('connect', (_request, socket) => {
    refuse(socket, [405, 'This server is not a proxy.']);
    socket.resume();
  });
  return server;
}
