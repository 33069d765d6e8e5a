import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Request, Response } from 'express';

/**
 * Answers one POST with a new server and without a session, so any API process can answer any request.
 * @param request with its parsed body
 */
export async function answerOnTransport(mcp: McpServer, request: Request, response: Response): Promise<void> {
  // Answers are JSON, since no tool sends progress.
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
  response.once('close', () => void mcp.close());
  // The cast is for exactOptionalPropertyTypes: the class declares handlers that may be undefined, Transport declares
  // optional ones.
  await mcp.connect(transport as Transport);
  await transport.handleRequest(request, response, request.body);
}
