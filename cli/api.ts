/** The public API of the deployment, called as any client would. */
import { apiSettings } from '../config/config.js';
import { CommandError, type Call } from './command.js';

export interface Answer<T> {
  readonly status: number;
  readonly body: T;
}

export interface Api {
  readonly url: string;
  /** @param customerId the end user to call for; absent: the organization itself */
  get<T>(path: string, customerId?: string): Promise<T>;
  post<T>(path: string, body: unknown, customerId?: string): Promise<T>;
  /** The answer whatever its status. @throws CommandError only when there is none */
  ask<T>(path: string): Promise<Answer<T>>;
}

/** Longer than the longest answer takes. */
const TIMEOUT_MS = 60_000;

const HINTS: Readonly<Record<number, string>> = {
  401: 'API_KEY is not one of its keys. Set API_KEY, or make one: npm run cli -- key create',
  429: 'Too many requests for this organization (RATE_LIMIT_ORGANIZATION); try again in a minute.',
  503: 'Something it needs is away: npm run cli -- doctor',
};

/** @throws CommandError where no key is known */
export function openApi({ text, terminal }: Call): Api {
  const settings = apiSettings(terminal.env);
  const url = text('url')?.replace(/\/+$/, '') ?? settings.url;
  if (url === null) throw new CommandError('PORT is 0: name the API with --url.');
  if (settings.apiKey === null)
    throw new CommandError('API_KEY is not set, and DATA_DIR holds none. Set it, or run where npm start runs.');
  const bearer = { authorization: `Bearer ${settings.apiKey}` };
  const send = async <T>(path: string, init: RequestInit): Promise<Answer<T>> => {
    try {
      const response = await fetch(`${url}${path}`, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
      return { status: response.status, body: (await response.json()) as T };
    } catch (error) {
      const cause = (error as Error).cause;
      throw new CommandError(
        `The API does not answer at ${url} (${cause instanceof Error ? cause.message : (error as Error).message}). ` +
          'Start it with npm start, or name it with --url.',
      );
    }
  };
  const whole = async <T>(path: string, init: RequestInit): Promise<T> => {
    const { status, body } = await send<T>(path, init);
    if (status === 200) return body;
    const { detail } = body as { readonly detail?: unknown };
    const said = typeof detail === 'string' ? detail : JSON.stringify(detail ?? body);
    throw new CommandError(`${path} answered ${status}: ${said}${HINTS[status] ? `\n${HINTS[status]}` : ''}`);
  };
  const headersFor = (customerId?: string): Record<string, string> => ({
    ...bearer,
    ...(customerId === undefined ? {} : { 'customer-id': customerId }),
  });
  return {
    url,
    get: (path, customerId) => whole(path, { headers: headersFor(customerId) }),
    post: (path, body, customerId) =>
      whole(path, {
        method: 'POST',
        headers: { ...headersFor(customerId), 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    ask: (path) => send(path, { headers: bearer }),
  };
}

/** The user that a call names. @throws CommandError for one that is not there: a call would make it */
export async function knownCustomer(api: Api, customerId: string | undefined): Promise<string> {
  if (customerId === undefined) throw new CommandError('Say for whom: --customer ID');
  const { users } = await api.post<{ users: unknown[] }>('/list_users', { filters: { customer_ids: [customerId] } });
  if (users.length === 0)
    throw new CommandError(`There is no user ${customerId}. npm run cli -- status lists those there are.`);
  return customerId;
}
