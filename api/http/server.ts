import {
  createServer,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Duplex } from 'node:stream';

/** How long a refused connection may take to read its answer: closed at once, it would be reset and the answer lost. */
const LINGER_MS = 2_000;

/** How long an idle connection is kept: longer than clients and balancers do (mostly 60 s), so that none of them sends on one that is just being closed. */
const KEEP_ALIVE_MS = 65_000;

/** What is answered to a request that never becomes one, by Node's code for what is wrong with it. */
const REFUSALS: Readonly<Record<string, readonly [status: number, detail: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The address and headers of the request are larger than this server accepts.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The chunk extensions of the body are larger than this server accepts.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive.'],
};
const BROKEN = [400, 'The request is not HTTP/1.1 that can be read. Nothing was done.'] as const;

/** Answers past Express, in the words of the contract, and closes the connection once that has arrived. */
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
 * Requests of one connection that may wait for the answers before them. Above it the connection is closed, which a client
 * that pipelines must expect (https://www.rfc-editor.org/rfc/rfc9112.html#section-9.3.2). They can't be left unread: Node
 * reads on after every answer, whether or not the socket was paused (https://github.com/nodejs/node/blob/v20.x/lib/_http_incoming.js, readStart).
 */
const MAX_WAITING = 100;

/**
 * Hands the requests of one connection to the application one after the other, each in a turn of the event loop of its own.
 * A client that does not wait for answers (HTTP pipelining) sends thousands of requests in one packet, and Node hands over all
 * of them in one turn.
 * @param begin called before a request is handed over
 */
function oneAtATime(app: RequestListener, begin: (socket: Duplex, response: ServerResponse) => void): RequestListener {
  /** For each connection with a request under way: the requests that wait. */
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

/** The server of an application: whatever cannot be handed to it is refused with `{detail}` as well, not with Node's bare status. */
export function createHttpServer(app: RequestListener, options: ServerOptions = {}): Server {
  const answering = new WeakMap<Duplex, ServerResponse>();
  // The application itself asks for the host, so that its absence is answered like any other fault.
  const server = createServer(
    { keepAliveTimeout: KEEP_ALIVE_MS, ...options, requireHostHeader: false },
    oneAtATime(app, (socket, response) => answering.set(socket, response)),
  );
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const answer = answering.get(socket);
    // Half an answer must not look like a whole one, and whoever is gone hears none.
    const begun = answer?.headersSent === true && !answer.writableFinished;
    if (begun || !socket.writable) {
      // What comes behind a request that was refused is read over until its sender has read why.
      if (!socket.writableEnded) socket.destroy();
      return;
    }
    // Whatever the application still makes of a request whose body broke off goes nowhere.
    if (answer?.socket) answer.detachSocket(answer.socket);
    refuse(socket, REFUSALS[error.code ?? ''] ?? BROKEN);
  });
  server.on('checkExpectation', (_request, response) => {
    const body = JSON.stringify({ detail: 'Of the header expect only 100-continue is understood.' });
    const length = Buffer.byteLength(body);
    response.writeHead(417, { 'content-type': 'application/json; charset=utf-8', 'content-length': length }).end(body);
  });
  server.on('connect', (_request, socket) => {
    refuse(socket, [405, 'This server is no proxy.']);
    socket.resume();
  });
  return server;
}
