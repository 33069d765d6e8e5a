/**
 * The MCP endpoint of the service, with its authentication, limits and allowed origins, in front of fixture servers.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { InMemoryEventStore } from '@modelcontextprotocol/sdk/examples/shared/inMemoryEventStore.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import express from 'express';

import type { AppDeps } from '../../../api/http/deps.js';
import { createTokens } from '../../../api/http/identity/tokens.js';
import { createConcurrencyLimiter } from '../../../api/http/limits/concurrency.js';
import { answerOnTransport } from '../../../api/mcp/answerOnTransport.js';
import { type AnswerAgent, mountMcp } from '../../../api/mcp/mountMcp.js';
import { loadConfig } from '../../../config/config.js';
import type { TestService } from '../service.js';
import { createFixtureServer } from './fixtureServer.js';

/** Answers like the service: with a new server and transport for each message. */
export const withoutSessions: AnswerAgent = (_agent, request, response) =>
  answerOnTransport(createFixtureServer(), request, response);

/**
 * Answers with one server and transport per session, for scenarios in which the server sends requests to the client.
 */
export function withSessions(): AnswerAgent {
  const transports = new Map<string, StreamableHTTPServerTransport>();
  return async (_agent, request, response) => {
    const existingTransport = transports.get(String(request.headers['mcp-session-id']));
    if (existingTransport) return existingTransport.handleRequest(request, response, request.body);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: new InMemoryEventStore(),
      onsessioninitialized: (id) => void transports.set(id, transport),
    });
    await createFixtureServer().connect(transport as Transport);
    return transport.handleRequest(request, response, request.body);
  };
}

/** Starts the endpoint, which accepts the access tokens of the service. @param origins as in CORS_ORIGINS */
export async function startFixtureEndpoint({ env, store }: TestService, answer: AnswerAgent, origins: string[]) {
  const { secretKeys } = loadConfig(env);
  const settings = { publicUrl: null, publicUrlAliases: [], corsOrigins: origins, maxContentsBytes: 1_000_000 };
  // The endpoint itself uses only these dependencies; others are for API operations, which fixtures do not call.
  const deps = { settings, store, tokens: createTokens(secretKeys) } as unknown as AppDeps;
  const app = express();
  mountMcp(app, deps, { rate: () => undefined, searches: createConcurrencyLimiter(0, 'searches') }, answer);
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
