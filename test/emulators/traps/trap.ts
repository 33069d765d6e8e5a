import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Page } from '../site.js';

/** Origins of the sites of a test. */
export interface Origins {
  readonly own: string;
  /** Origin of a second site that the service may call. */
  readonly foreign: string;
}

/** The result of a page, as a user sees it. */
export type Outcome =
  /** READY: the chunks contain `words` and nothing from `without`. */
  | { readonly words: readonly string[]; readonly without?: readonly string[]; readonly requests?: number }
  /** SYNC_ERROR with a matching message. `requests` is the number of requests for the page. */
  | { readonly sentence: RegExp; readonly requests?: number };

/** A faulty page and its expected result. To add a trap, add a row. */
export interface Trap {
  /** Name of the row and, below /traps/, path of the page. */
  readonly name: string;
  readonly page: Page | ((origins: Origins) => Page);
  /** Whether `page` is a function of the origins: at run time it cannot be distinguished from a handler. */
  readonly needsOrigins?: true;
  /** Further paths that the page needs. */
  readonly also?: Readonly<Record<string, Page>>;
  readonly outcome: Outcome;
}

/** Returns a trap whose page depends on the origins of the sites. */
export const trapWithOrigins = (name: string, page: (origins: Origins) => Page, outcome: Outcome): Trap => ({
  name,
  page,
  needsOrigins: true,
  outcome,
});

/** Returns a small complete page with a text. */
export const html = (text: string, head = ''): string =>
  `<!doctype html><html><head>${head}<title>A page</title></head><body><main><p>${text}</p></main></body></html>`;

export const redirect = (location: string, status = 302): Page => ({ status, headers: { location } });

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Writes raw bytes to the connection, then closes the connection unless `open`. */
export const raw =
  (text: string | Buffer, { open = false } = {}): Handler =>
  (_request, response) => {
    response.socket?.write(text);
    if (!open) response.socket?.end();
  };

/** Answers the first requests with `first`, in order, and all later ones with `then`. */
export function inTurn(first: readonly Handler[], then: Handler): Handler {
  // All sites of a process share the rows, so requests are counted for each site's port.
  const counts = new Map<number | undefined, number>();
  return (request, response) => {
    const { localPort } = request.socket;
    const times = counts.get(localPort) ?? 0;
    counts.set(localPort, times + 1);
    (first[times] ?? then)(request, response);
  };
}

/** Returns a handler that answers in one write. */
export const answer =
  (status: number, body: string | Buffer = '', headers: Record<string, string> = {}): Handler =>
  (_request, response) =>
    void response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', ...headers }).end(body);

/** Returns a handler that sends a page in pieces with a pause before each; it never ends if `pieces` is infinite. */
export const drip =
  (pieces: Iterable<string>, pauseMs: number): Handler =>
  (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    const remaining = pieces[Symbol.iterator]();
    const timer = setInterval(() => {
      const piece = remaining.next();
      if (piece.done !== true) return void response.write(piece.value);
      clearInterval(timer);
      response.end();
    }, pauseMs);
    response.on('close', () => {
      clearInterval(timer);
    });
  };
