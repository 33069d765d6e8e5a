import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Request headers of MCP clients that the proxy forwards. */
const FORWARDED_HEADERS = [
  'accept',
  'content-type',
  'origin',
  'mcp-session-id',
  'mcp-protocol-version',
  'last-event-id',
];

const forwardedHeaders = (headers: IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(
    FORWARDED_HEADERS.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]]] : [])),
  );

/** Starts a proxy that adds a token to requests for an MCP endpoint, because the conformance tests send none. */
export async function startTokenProxy() {
  let to = { endpoint: '', token: '' };
  const proxy = createServer((request, response) => {
    const forward = async () => {
      const body = request.method === 'POST' ? await buffer(request) : null;
      const headers = { ...forwardedHeaders(request.headers), authorization: `Bearer ${to.token}` };
      const answer = await fetch(to.endpoint, { method: request.method ?? 'GET', headers, body });
      const forwarded = ['content-type', 'mcp-session-id'].flatMap((name) => {
        const value = answer.headers.get(name);
        return value === null ? [] : [[name, value]];
      });
      response.writeHead(answer.status, Object.fromEntries(forwarded));
      // Event streams are forwarded as they arrive.
      if (answer.body) await pipeline(Readable.fromWeb(answer.body as never), response);
      else response.end();
    };
    forward().catch(() => response.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const origin = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  return {
    origin,
    url: `${origin}/mcp`,
    /** Sets the endpoint and the token of later requests. */
    forwardTo(endpoint: string, token: string) {
      to = { endpoint, token };
    },
    close() {
      proxy.closeAllConnections();
      proxy.close();
    },
  };
}
