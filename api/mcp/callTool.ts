import { type CallToolResult, ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';

import { storeAnswer, storeFailureOf } from '../http/answers/storeAnswers.js';
import { HttpError, type ValidationDetail } from '../http/errors.js';
import { validate } from '../http/validate.js';
import type { Agent } from './agent.js';
import { asContent, NOTICE } from './content.js';
import { describedTool, needsWrite, toolsOf } from './tools/index.js';
import type { Tool } from './tool.js';

/**
 * Returns the name of a field from its path: without the first element (`body`, `query`), and without the index in a
 * body that is a list.
 */
const fieldOf = ([, ...loc]: ValidationDetail['loc']): string =>
  (typeof loc[0] === 'number' ? loc.slice(1) : loc).join('.');

/** Returns the message of an error response: what to do, without internals. */
export function messageOf({ detail, retryAfterSeconds }: HttpError): string {
  const text = typeof detail === 'string' ? detail : detail.map(({ loc, msg }) => `${fieldOf(loc)}: ${msg}`).join('. ');
  return retryAfterSeconds === null ? text : `${text} Retry after ${retryAfterSeconds} s.`;
}

/** Returns the HTTP error of a failed call. Logs the error if neither the request nor a store caused it. */
export function toHttpError(error: unknown, { requestId, deps }: Pick<Agent, 'requestId' | 'deps'>): HttpError {
  if (error instanceof HttpError) return error;
  const failure = storeFailureOf(error);
  if (failure) return storeAnswer(failure);
  deps.log.error({ requestId, err: error }, 'an MCP call failed because of a defect');
  return new HttpError(
    500,
    `The service failed to run this tool. Try again; if it fails again, give the operator of the service the request id ${requestId}: the service's log has the cause under it.`,
  );
}

/** @throws McpError for an unknown tool, or one that the token does not permit */
function toolNamed(name: string, agent: Agent): Tool {
  const permitted = toolsOf(agent);
  const permittedTool = permitted.find((tool) => tool.name === name);
  if (permittedTool) return permittedTool;
  const names = permitted.map((tool) => tool.name).join(', ');
  throw new McpError(
    ErrorCode.InvalidParams,
    needsWrite(name)
      ? `The tool ${name} writes, and this access token may only read. Ask the user for a token with the scope "read write". Permitted tools: ${names}.`
      : `There is no such tool. Call one of: ${names}.`,
  );
}

/**
 * Validates the arguments of a call.
 * @throws HttpError 422 that names each invalid argument, or counts the unknown ones, and lists the allowed ones
 */
function argumentsOf(tool: Tool, sentArguments: Readonly<Record<string, unknown>>): unknown {
  const { properties = {} } = describedTool(tool).inputSchema as { properties?: object };
  const unknown = Object.keys(sentArguments).filter((key) => !Object.hasOwn(properties, key));
  const argumentNames = `Arguments of ${tool.name}: ${Object.keys(properties).join(', ')}.`;
  if (unknown.length > 0)
    throw new HttpError(422, `Unknown arguments: ${unknown.length}. Remove them. ${argumentNames}`);
  try {
    return validate(tool.input, sentArguments, 'body', { mayCall: () => true, redirectUriSchemes: [] });
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    throw new HttpError(422, `Invalid arguments. ${messageOf(error)}. ${argumentNames}`);
  }
}

/**
 * Calls a tool and logs the call. Errors that the agent can act on are results, so that the model reads them; wrong
 * arguments too (https://modelcontextprotocol.io/specification/2025-11-25/server/tools#error-handling).
 * @throws McpError for an unknown tool
 */
export async function callTool(
  name: string,
  sentArguments: Readonly<Record<string, unknown>>,
  agent: Agent,
): Promise<CallToolResult> {
  const startedAt = performance.now();
  let outcome: 'ok' | 'failed' | 'refused' = 'refused';
  let called = 'unknown';
  try {
    const tool = toolNamed(name, agent);
    called = tool.name;
    const input = argumentsOf(tool, sentArguments);
    outcome = 'failed';
    const result = { notice: NOTICE, ...(await tool.run(input, agent)) };
    outcome = 'ok';
    return { structuredContent: result, content: [{ type: 'text', text: asContent(result) }] };
  } catch (error) {
    if (error instanceof McpError) throw error;
    return { isError: true, content: [{ type: 'text', text: messageOf(toHttpError(error, agent)) }] };
  } finally {
    const { requestId, caller } = agent;
    agent.deps.log.info(
      {
        requestId,
        ...{ organizationId: caller.organizationId, userId: caller.userId, tool: called, outcome },
        ms: Math.round(performance.now() - startedAt),
      },
      'MCP tool call',
    );
  }
}
