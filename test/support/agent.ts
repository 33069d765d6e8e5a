import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';

import { apiClient } from './client.js';
import type { TestService } from './service.js';

/**
 * Returns an access token for an end user. @param query the scope and lifetime of the token @throws unless status 200
 */
export async function agentToken(
  { url, apiKey }: Pick<TestService, 'url' | 'apiKey'>,
  customerId: string,
  query: Record<string, string> = {},
): Promise<string> {
  const { status, body } = await apiClient(url).get<{ access_token: string }>(
    `/auth/v1/access_token?${new URLSearchParams(query).toString()}`,
    { authorization: `Bearer ${apiKey}`, 'customer-id': customerId },
  );
  if (status !== 200) throw new Error(`The token request was answered ${status}: ${JSON.stringify(body)}`);
  return body.access_token;
}

/** Connects the official MCP client to /mcp. The caller closes the client. */
export async function connectAgent(url: string, token: string, scheme = 'Bearer'): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const headers = { authorization: `${scheme} ${token}` };
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } });
  await client.connect(transport as Transport);
  return client;
}
