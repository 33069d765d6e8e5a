import { outdatedMessage } from '../../store/migrations/schemaWatch.js';
import type { DeploymentRules } from '../schemas/deploymentRules.js';
import { createRequestContents } from './body/requestContents.js';
import type { ApiDeps, AppDeps } from './deps.js';
import { HttpError } from './errors.js';
import type { ConcurrencyLimiter } from './limits/concurrency.js';
import {
  type AuthScheme,
  type Call,
  type KeyCaller,
  ListAnswer,
  type Operation,
  type OperatorCaller,
  type UserCaller,
} from './operation.js';
import { createUnitOfWork } from './unitOfWork.js';
import { validate } from './validate.js';

/** Retry-After in seconds: a process of the newer version may respond then. */
const OUTDATED_RETRY_S = 30;

/** Returns whether requests of an operation change records. */
export const changesRecords = ({ changesRecords: changes, method, auth }: Operation): boolean =>
  changes ?? (method !== 'get' && auth !== 'reader');

/** @throws HttpError 503 while a newer version of the service has migrated the stored data */
export function refuseOutdated({ store }: Pick<ApiDeps, 'store'>): void {
  const { newer } = store.schema;
  if (newer !== null) throw new HttpError(503, `${outdatedMessage(newer)}.`, OUTDATED_RETRY_S);
}

/** Returns the validation rules that depend on the deployment. */
export const rulesOf = ({ addresses, settings }: ApiDeps): DeploymentRules => ({
  mayCall: (url) => addresses.mayCall(url),
  redirectUriSchemes: settings.redirectUriSchemes,
});

/** Returns the name under which concurrent requests of a user are limited. */
export function userOf({ caller }: Pick<Call<AuthScheme, unknown>, 'caller'>): string {
  if (caller === null || !('userId' in caller))
    throw new Error('Only requests on behalf of an end user are limited by user');
  return `${caller.organizationId}:${caller.userId}`;
}

/** Returns the names of the fields that have a value. */
export function fieldsOf(body: unknown): ReadonlySet<string> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return new Set();
  return new Set(Object.entries(body).flatMap(([name, value]) => (value === null ? [] : [name])));
}

/** The input of an operation, as a REST client would send it. */
export interface OperationInput {
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string>>;
  readonly params?: Readonly<Record<string, string>>;
}

/** The caller of an operation, and the request in which it runs. */
export interface CallContext {
  readonly caller: UserCaller;
  readonly requestId: string;
  readonly signal: AbortSignal;
  readonly peer: string;
}

/** Performs an operation for a user, without an HTTP request of its own. @returns its response; for a list, the page */
export type Perform = (operation: Operation, input: OperationInput) => Promise<unknown>;

/**
 * Returns a function that performs operations as REST does, after authentication and the rate limit: the same
 * validation, limit of concurrent searches, unit of work and handler. Operations that take a file are not supported.
 */
export function createPerform(app: AppDeps, searches: ConcurrencyLimiter, context: CallContext): Perform {
  const deps: ApiDeps = { ...app, unit: createUnitOfWork(app) };
  const rules = rulesOf(deps);
  return async (operation, { body, query = {}, params = {} }) => {
    if (changesRecords(operation)) refuseOutdated(deps);
    const contents = createRequestContents(deps.store.originals, context.caller);
    const call: Call<AuthScheme, unknown> = {
      ...context,
      caller: context.caller as UserCaller & KeyCaller & OperatorCaller,
      body: operation.body ? validate(operation.body, body ?? {}, 'body', rules) : {},
      given: fieldsOf(body),
      query: operation.query ? validate(operation.query, query, 'query', rules) : {},
      params,
      file: null,
      receive: contents.receive,
      lastEventId: null,
      deps,
    };
    const leave = operation.searches ? searches.enter(userOf(call)) : null;
    try {
      const answer = await operation.handle(call);
      return answer instanceof ListAnswer ? await listed(answer) : answer;
    } finally {
      leave?.();
      await contents.discardUnaccepted();
    }
  };
}

async function listed({ count, results }: ListAnswer): Promise<{ results: unknown[]; count: number | null }> {
  const rows: unknown[] = [];
  for await (const part of results) rows.push(...part);
  return { results: rows, count: await count };
}
