import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Page } from '../site.js';

/** Where the sites of a test are. */
export interface Origins {
  readonly own: string;
  /** Another site that may be called. */
  readonly foreign: string;
}

/** What becomes of a page, as a user sees it. */
export type Outcome =
  /** READY, with these words in its chunks and none of the others. */
  | { readonly words: readonly string[]; readonly without?: readonly string[]; readonly requests?: number }
  /** SYNC_ERROR, with a sentence that says this; asked for so many times. */
  | { readonly sentence: RegExp; readonly requests?: number };

/** One page that does what pages should not, and what must become of it. To add a trap, add a row. */
export interface Trap {
  /** Under /traps/; the page's address, and the name of its row. */
  readonly name: string;
  readonly page: Page | ((origins: Origins) => Page);
  /** Whether `page` has to be told the origins: a function alone may also be a handler. */
  readonly needsOrigins?: true;
  /** Further paths that the page leads to. */
  readonly also?: Readonly<Record<string, Page>>;
  readonly outcome: Outcome;
}

/** A trap whose page depends on where the sites are. */
export const placed = (name: string, page: (origins: Origins) => Page, outcome: Outcome): Trap => ({
  name,
  page,
  needsOrigins: true,
  outcome,
});

/** A small whole page around some text. */
export const html = (text: string, head = ''): string =>
  `<!doctype html><html><head>${head}<title>A page</title></head><body><main><p>${text}</p></main></body></html>`;

export const redirect = (location: string, status = 302): Page => ({ status, headers: { location } });

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Writes bytes on the connection as they are, without HTTP's help, and closes it unless told to leave it open. */
export const raw =
  (text: string | Buffer, { open = false } = {}): Handler =>
  (_request, response) => {
    response.socket?.write(text);
    if (!open) response.socket?.end();
  };

/** The first answers of a path, then another for ever. */
export function inTurn(first: readonly Handler[], then: Handler): Handler {
  // Rows are shared by all sites of a process: each site, known by its port, counts for itself.
  const asked = new Map<number | undefined, number>();
  return (request, response) => {
    const { localPort } = request.socket;
    const times = asked.get(localPort) ?? 0;
    asked.set(localPort, times + 1);
    (first[times] ?? then)(request, response);
  };
}

/** Answers in one go. */
export const answer =
  (status: number, body: string | Buffer = '', headers: Record<string, string> = {}): Handler =>
  (_request, response) =>
    void response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', ...headers }).end(body);

/** A page sent in pieces with a pause before each; without an end when `pieces` has none. */
export const drip =
  (pieces: Iterable<string>, pauseMs: number): Handler =>
  (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    const left = pieces[Symbol.iterator]();
    const timer = setInterval(() => {
      const piece = left.next();
      if (piece.done !== true) return void response.write(piece.value);
      clearInterval(timer);
      response.end();
    }, pauseMs);
    response.on('close', () => {
      clearInterval(timer);
    });
  };
