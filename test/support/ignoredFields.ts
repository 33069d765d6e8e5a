/** Records which request fields a service ignores, as reported in the header Allotrope-Ignored-Fields. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** https://nodejs.org/api/diagnostics_channel.html#http */
const CHANNEL = 'http.server.response.finish';

/** Watches the responses of a service in this process. @returns a function that stops and returns the ignored fields */
export function watchIgnoredFields(url: string): () => readonly string[] {
  const port = Number(new URL(url).port);
  const ignored: string[] = [];
  const see = (message: unknown): void => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    const fields = response.getHeader('allotrope-ignored-fields');
    if (request.socket.localPort === port && fields !== undefined)
      ignored.push(`${request.method} ${request.url?.split('?', 1)[0]}: ${String(fields)}`);
  };
  subscribe(CHANNEL, see);
  return () => {
    unsubscribe(CHANNEL, see);
    return ignored;
  };
}
