import type { ErrorRequestHandler, Express, Request, RequestHandler, Response } from 'express';

import { JSON_LIMITS } from '../http/body/json/limits.js';
import { readJson } from '../http/body/json/read.js';
import type { AppDeps } from '../http/deps.js';
import { HttpError } from '../http/errors.js';
import { authenticateAgent } from '../http/identity/authenticate.js';
import { type Admission, endOf, peerOf } from '../http/mount.js';
import { createPerform } from '../http/perform.js';
import { setRoute } from '../http/telemetry/metrics.js';
import { createUnitOfWork } from '../http/unitOfWork.js';
import type { Agent } from './agent.js';
import { answerOnTransport } from './answerOnTransport.js';
import { messageOf } from './callTool.js';
import { createAgentServer } from './server.js';

const PATH = '/mcp';
const METADATA_PATH = '/.well-known/oauth-protected-resource';

/** JSON-RPC error codes for requests that are rejected before an MCP server receives them. */
const PARSE_ERROR = -32_700;
const REFUSED = -32_000;

/**
 * Rejects a request with 403 if its Origin header, which browsers send, is neither an own origin nor one of
 * CORS_ORIGINS. MCP requires servers to check this header, against DNS rebinding; which origins are allowed is our
 * choice.
 * https://modelcontextprotocol.io/specification/2025-06-18/basic/transports#security-warning
 */
function requireOrigin({ publicUrl, publicUrlAliases, corsOrigins }: AppDeps['settings']): RequestHandler {
  const ownOrigins = [...(publicUrl === null ? [] : [publicUrl]), ...publicUrlAliases].map(
    (url) => new URL(url).origin,
  );
  const allowed = new Set([...ownOrigins, ...corsOrigins]);
  return (request, _response, next) => {
    const { origin } = request.headers;
    if (origin !== undefined && !allowed.has('*') && !allowed.has(origin))
      throw new HttpError(403, 'Requests from this origin are not allowed. The operator allows it by CORS_ORIGINS.');
    next();
  };
}

/** Accepts one message per request, so that the rate limit counts each. */
const requireMessage: RequestHandler = (request, _response, next) => {
  if (request.body === undefined) throw new HttpError(415, 'Send JSON with content-type: application/json.');
  if (Array.isArray(request.body)) throw new HttpError(400, 'Send one message per request instead of a batch.');
  next();
};

/** Responds to errors as JSON-RPC. A 401 also contains the URL of the metadata of the resource. */
const answerError =
  (metadataUrl: string | null): ErrorRequestHandler =>
  (error: unknown, request, response, next) => {
    if (!(error instanceof HttpError) || response.headersSent) return next(error);
    const { status, retryAfterSeconds } = error;
    if (status === 401) {
      // RFC 6750, section 3.1: without credentials, no error code. With one, clients would try to renew a token that
      // they lack.
      const parameters = [
        ...(request.headers.authorization === undefined ? [] : ['error="invalid_token"']),
        ...(metadataUrl === null ? [] : [`resource_metadata="${metadataUrl}"`]),
      ];
      response.setHeader('www-authenticate', ['Bearer', parameters.join(', ')].join(' ').trim());
    }
    if (retryAfterSeconds !== null) response.setHeader('retry-after', retryAfterSeconds);
    const code = status === 422 ? PARSE_ERROR : REFUSED;
    response
      .status(status === 422 ? 400 : status)
      .json({ jsonrpc: '2.0', error: { code, message: messageOf(error) }, id: null });
  };

/** Answers one message of an authenticated agent. @param request with its parsed body */
export type AnswerAgent = (agent: Agent, request: Request, response: Response) => Promise<void>;

const answerAgent: AnswerAgent = (agent, request, response) =>
  answerOnTransport(createAgentServer(agent), request, response);

/**
 * Serves the MCP endpoint at /mcp, and its metadata (RFC 9728) if PUBLIC_URL is set. There is no authorization server:
 * the operator's backend issues the tokens.
 * @param answerWith answers the messages; tests of the protocol set it
 */
export function mountMcp(app: Express, deps: AppDeps, admit: Admission, answerWith = answerAgent): void {
  const { publicUrl, maxContentsBytes } = deps.settings;
  const count: RequestHandler = (_request, response, next) => {
    setRoute(response, PATH);
    next();
  };
  const identify: RequestHandler = async (request, response, next) => {
    const apiDeps = { ...deps, unit: createUnitOfWork(deps) };
    const { caller, scope } = await authenticateAgent(request.headers.authorization, apiDeps);
    response.locals['identity'] = { caller, confirmed: null };
    admit.rate(caller);
    response.locals['mayWrite'] = scope === 'read write';
    next();
  };
  const answer: RequestHandler = async (request, response) => {
    const { identity, requestId, mayWrite } = response.locals;
    const { caller } = identity as { caller: Agent['caller'] };
    const performer = { caller, requestId: String(requestId), signal: endOf(response), peer: peerOf(request) };
    const perform = createPerform(deps, admit.searches, performer);
    const agent: Agent = { ...performer, mayWrite: mayWrite === true, perform, deps };
    await answerWith(agent, request, response);
  };
  const refuse: RequestHandler = (_request, response) => {
    response.setHeader('allow', 'POST');
    throw new HttpError(405, 'This endpoint supports neither sessions nor streams. Send messages by POST.');
  };
  app.post(
    PATH,
    ...[count, requireOrigin(deps.settings), identify],
    ...readJson(maxContentsBytes, JSON_LIMITS),
    ...[requireMessage, answer],
  );
  app.all(PATH, count, refuse);
  app.use(PATH, answerError(publicUrl === null ? null : `${publicUrl}${METADATA_PATH}${PATH}`));
  if (publicUrl === null) return;
  const metadata = {
    resource: `${publicUrl}${PATH}`,
    resource_name: 'Allotrope',
    bearer_methods_supported: ['header'],
    scopes_supported: ['read', 'write'],
  };
  app.get([METADATA_PATH, `${METADATA_PATH}${PATH}`], (_request, response) => {
    setRoute(response, METADATA_PATH);
    response.json(metadata);
  });
}
