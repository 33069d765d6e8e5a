/** What emulators of sources begin with: a server on loopback that keeps a log, counts what is under way, and misbehaves as a test wants. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An answer that is no success, before its source puts it in words of its own. */
export interface Refused {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A success whose body is not the source's: the page of a proxy, or an answer that lacks what it is about. */
export interface WrongAnswer {
  readonly wrongBody: string;
  readonly contentType: string;
}

/**
 * What goes wrong with a request: a refusal, a connection that ends, no answer at all, a wrong body, the right body cut in
 * the middle; null for nothing. Only bodies sent without content-length can be cut.
 */
export type Mishap<R extends Refused = Refused> = R | WrongAnswer | 'broken' | 'cut' | 'hang' | null;

/** A request as an emulator answers it. */
export interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly method: string;
  readonly url: URL;
  /** Its path, each part decoded. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
  readonly body: Buffer;
}

export interface Emulator<R extends Refused = Refused> {
  /** host:port. */
  readonly host: string;
  readonly origin: string;
  /** Paths with their queries, in the order asked. */
  readonly requests: string[];
  /** Requests under way at this moment, and at most so far. */
  readonly load: { now: number; most: number };
  /** Asked for every request that is admitted; what it answers goes wrong. @param how takes the path, without a query */
  misbehave(how: (path: string) => Mishap<R>): void;
  /** Nothing goes wrong any more, and nothing was asked. */
  mend(): void;
  close(): Promise<void>;
}

export interface EmulatedSource<R extends Refused> {
  /** Whether a request may be answered; where not, it has refused it. Unset: all may. */
  admit?(call: Call): boolean;
  refuse(response: ServerResponse, refused: R): void;
  answer(call: Call): void | Promise<void>;
  /** What `misbehave` is asked with. Unset: the path of the request. */
  placeOf?(call: Call): string;
}

/** Sends JSON, or a text that is JSON already. */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers }).end(text);
}

/** The token of a request; '' for none. */
export const bearerOf = ({ headers }: IncomingMessage): string =>
  /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? '';

/** Refuses the next requests only. @param refusal of the request whose number, from 0, it takes */
export function nextRequests<R extends Refused>(count: number, refusal: (number: number) => R): () => Mishap<R> {
  let asked = 0;
  return () => (asked < count ? refusal(asked++) : null);
}

/** Sends only the first half of the body that the source is about to answer with. */
function cutBody(response: ServerResponse): void {
  const end = response.end.bind(response) as (body: unknown) => ServerResponse;
  response.end = ((body?: string | Buffer) => end(body?.slice(0, Math.floor(body.length / 2)))) as typeof response.end;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

/** Starts an emulator. */
export async function startEmulator<R extends Refused>(source: EmulatedSource<R>): Promise<Emulator<R>> {
  const requests: string[] = [];
  const load = { now: 0, most: 0 };
  const nothing = (): Mishap<R> => null;
  let mishapOf: (path: string) => Mishap<R> = nothing;

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://emulator');
    requests.push(`${url.pathname}${url.search}`);
    load.now += 1;
    load.most = Math.max(load.most, load.now);
    response.once('close', () => {
      load.now -= 1;
    });
    const body = await bodyOf(request);
    const path = url.pathname.slice(1).split('/').map(decodeURIComponent);
    const method = request.method ?? 'GET';
    const call = { request, response, method, url, path, query: url.searchParams, body };
    if (source.admit?.(call) === false) return;
    const mishap = mishapOf(source.placeOf?.(call) ?? url.pathname);
    if (mishap === 'hang') return;
    if (mishap === 'broken') return void request.socket.destroy();
    if (mishap === 'cut') cutBody(response);
    else if (mishap !== null && 'wrongBody' in mishap)
      return void response.writeHead(200, { 'content-type': mishap.contentType }).end(mishap.wrongBody);
    else if (mishap !== null) return source.refuse(response, mishap);
    await source.answer(call);
  };

  const server = createServer((request, response) => {
    // What a caller sees then is a broken connection; the test fails on what that leads to.
    answer(request, response).catch(() => request.socket.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    host,
    origin: `http://${host}`,
    requests,
    load,
    misbehave(how) {
      mishapOf = how;
    },
    mend() {
      mishapOf = nothing;
      requests.length = 0;
      load.most = 0;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
