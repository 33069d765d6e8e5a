/**
 * The base of all source emulators: an HTTP server on loopback that logs requests, counts concurrent ones and injects
 * faults.
 */
import { channel } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An error response, before a source formats its body. */
export interface Refused {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A response of status 200 with an unexpected body: a proxy's page, or JSON that lacks the requested data. */
export interface WrongAnswer {
  readonly wrongBody: string;
  readonly contentType: string;
}

/**
 * A fault injected into a request: an error response, a closed connection, no answer, a wrong body, or a body cut in
 * the middle; null for none. Only bodies sent without content-length can be cut.
 */
export type InjectedFault<R extends Refused = Refused> =
  | R
  | WrongAnswer
  | 'brokenConnection'
  | 'cutBody'
  | 'hang'
  | null;

/** A request for an emulator to answer. */
export interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly method: string;
  readonly url: URL;
  /** The decoded segments of the path. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
  readonly body: Buffer;
}

export interface Emulator<R extends Refused = Refused> {
  /** host:port. */
  readonly host: string;
  readonly origin: string;
  /** Path and query of each request, in order. */
  readonly requests: string[];
  /** The current number of concurrent requests, and the maximum since the last reset. */
  readonly load: { current: number; max: number };
  /**
   * Calls `how` for every admitted request and applies the fault it returns.
   * @param how receives the text of `faultTargetOf`; by default the path, without the query
   */
  injectFault(how: (path: string) => InjectedFault<R>): void;
  /** Stops injecting faults and clears the log of requests. */
  reset(): void;
  close(): Promise<void>;
}

/** An answer of an emulator, before a connector reads it. */
export interface EmulatedAnswer {
  readonly method: string;
  readonly url: string;
  readonly status: number;
  readonly text: string;
}

/**
 * Name of the channel on which emulators publish each answer of their source as an EmulatedAnswer. Refusals by `admit`
 * and injected faults are not published, except `cutBody`: the answer is published with its complete body.
 */
export const EMULATED_ANSWERS = 'allotrope.emulatedAnswers';
const emulatedAnswers = channel(EMULATED_ANSWERS);

export interface EmulatedSource<R extends Refused> {
  /** Whether a request is admitted; if not, `admit` sends the refusal. Unset: all requests are admitted. */
  admit?(call: Call): boolean;
  refuse(response: ServerResponse, refused: R): void;
  answer(call: Call): void | Promise<void>;
  /** Returns the text for the function given to `injectFault`. Unset: the path of the request. */
  faultTargetOf?(call: Call): string;
}

/** Sends JSON: a string as it is, any other value serialized. */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers }).end(text);
}

/** Returns the bearer token of a request; '' if it has none. */
export const bearerOf = ({ headers }: IncomingMessage): string =>
  /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? '';

/** Refuses the next `count` requests only. @param refusal receives the index of the request, from 0 */
export function nextRequests<R extends Refused>(count: number, refusal: (number: number) => R): () => InjectedFault<R> {
  let refused = 0;
  return () => (refused < count ? refusal(refused++) : null);
}

/** Makes the response send only the first half of its body. */
function cutBody(response: ServerResponse): void {
  const end = response.end.bind(response) as (body: unknown) => ServerResponse;
  response.end = ((body?: string | Buffer) => end(body?.slice(0, Math.floor(body.length / 2)))) as typeof response.end;
}

/** Publishes the answer to a call when its body is complete. */
function publishAnswer({ request, response, method }: Call): void {
  const end = response.end.bind(response) as (body: unknown) => ServerResponse;
  response.end = ((body?: string | Buffer) => {
    const answer: EmulatedAnswer = {
      ...{ method, url: `http://${request.headers.host ?? ''}${request.url ?? ''}` },
      ...{ status: response.statusCode, text: body?.toString() ?? '' },
    };
    emulatedAnswers.publish(answer);
    return end(body);
  }) as typeof response.end;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

/** Starts an emulator on a free port. */
export async function startEmulator<R extends Refused>(source: EmulatedSource<R>): Promise<Emulator<R>> {
  const requests: string[] = [];
  const load = { current: 0, max: 0 };
  const noInjectedFault = (): InjectedFault<R> => null;
  let injectedFaultOf: (path: string) => InjectedFault<R> = noInjectedFault;

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://emulator');
    requests.push(`${url.pathname}${url.search}`);
    load.current += 1;
    load.max = Math.max(load.max, load.current);
    response.once('close', () => {
      load.current -= 1;
    });
    const body = await bodyOf(request);
    const path = url.pathname.slice(1).split('/').map(decodeURIComponent);
    const method = request.method ?? 'GET';
    const call = { request, response, method, url, path, query: url.searchParams, body };
    if (source.admit?.(call) === false) return;
    const injectedFault = injectedFaultOf(source.faultTargetOf?.(call) ?? url.pathname);
    if (injectedFault === 'hang') return;
    if (injectedFault === 'brokenConnection') return void request.socket.destroy();
    if (injectedFault === 'cutBody') cutBody(response);
    else if (injectedFault !== null && 'wrongBody' in injectedFault)
      return void response.writeHead(200, { 'content-type': injectedFault.contentType }).end(injectedFault.wrongBody);
    else if (injectedFault !== null) return source.refuse(response, injectedFault);
    if (emulatedAnswers.hasSubscribers) publishAnswer(call);
    await source.answer(call);
  };

  const server = createServer((request, response) => {
    // The caller sees a broken connection, and its test fails.
    answer(request, response).catch(() => request.socket.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    host,
    origin: `http://${host}`,
    requests,
    load,
    injectFault(how) {
      injectedFaultOf = how;
    },
    reset() {
      injectedFaultOf = noInjectedFault;
      requests.length = 0;
      load.max = 0;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
