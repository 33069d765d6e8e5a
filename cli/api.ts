/** A client of the deployment's public API. */
import { apiSettings } from '../config/config.js';
import { CommandError, type Call } from './command.js';

export interface Answer<T> {
  readonly status: number;
  readonly body: T;
}

export interface Api {
  readonly url: string;
  /** @param customerId the end user of the call; absent: the organization */
  get<T>(path: string, customerId?: string): Promise<T>;
  post<T>(path: string, body: unknown, customerId?: string): Promise<T>;
  /** Returns the response, regardless of its status. @throws CommandError without a response in JSON */
  fetchResponse<T>(path: string): Promise<Answer<T>>;
}

/**
 * Time limit of a response in milliseconds. Operations that fetch pages of other sites before they respond could take
 * longer, but no command calls one.
 */
const TIMEOUT_MS = 60_000;

const HINTS: Readonly<Record<number, string>> = {
  401: 'The API rejects API_KEY. Set a valid one, or create one: npm run cli -- key create',
  429: 'Too many requests for this organization (RATE_LIMIT_ORGANIZATION); try again in a minute.',
  503: 'A store or engine is unavailable. Find out which one: npm run cli -- doctor',
};

/** One problem in the `detail` of a 422: the field, and the error. */
interface Problem {
  readonly loc?: readonly (string | number)[];
  readonly msg?: string;
}

/** Returns the error message in the body of a failed response as text. Its `detail` is a text or a list of problems. */
export function detailOf(body: unknown): string {
  const { detail } = (body ?? {}) as { readonly detail?: string | readonly Problem[] };
  if (typeof detail === 'string') return detail;
  if (!Array.isArray(detail)) return 'the response has no message. See the log of the service.';
  return detail.map(({ loc = [], msg = 'is invalid' }: Problem) => `${loc.join('.')}: ${msg}`).join('; ');
}

/** Returns a client of the API. @throws CommandError if its URL or the API key is unknown */
export function openApi({ text, terminal }: Call): Api {
  const settings = apiSettings(terminal.env);
  const url = text('url')?.replace(/\/+$/, '') ?? settings.url;
  if (url === null) throw new CommandError('PORT is 0, so the URL of the API is unknown. Pass it with --url.');
  if (settings.apiKey === null)
    throw new CommandError(
      'API_KEY is not set, and DATA_DIR contains none. Set it, or run the command on the machine where npm start runs.',
    );
  const bearer = { authorization: `Bearer ${settings.apiKey}` };
  const send = async <T>(path: string, init: RequestInit): Promise<Answer<T>> => {
    const { status, text: received } = await fetch(`${url}${path}`, {
      ...init,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
      .then(async (response) => ({ status: response.status, text: await response.text() }))
      .catch((error: unknown) => {
        const cause = (error as Error).cause;
        throw new CommandError(
          `The API does not answer at ${url} (${cause instanceof Error ? cause.message : (error as Error).message}). ` +
            'Start it with npm start, or pass its URL with --url.',
        );
      });
    try {
      return { status, body: JSON.parse(received) as T };
    } catch {
      throw new CommandError(
        `${url}${path} answers HTTP ${status}, but not with JSON, so the answer is not from the API. ` +
          'Check the reverse proxy in front of it, or pass the URL of the API with --url.',
      );
    }
  };
  const callApi = async <T>(path: string, init: RequestInit): Promise<T> => {
    const { status, body } = await send<T>(path, init);
    if (status === 200) return body;
    throw new CommandError(
      `${path} failed with HTTP ${status}: ${detailOf(body)}${HINTS[status] ? `\n${HINTS[status]}` : ''}`,
    );
  };
  const headersFor = (customerId?: string): Record<string, string> => ({
    ...bearer,
    ...(customerId === undefined ? {} : { 'customer-id': customerId }),
  });
  return {
    url,
    get: (path, customerId) => callApi(path, { headers: headersFor(customerId) }),
    post: (path, body, customerId) =>
      callApi(path, {
        method: 'POST',
        headers: { ...headersFor(customerId), 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    fetchResponse: (path) => send(path, { headers: bearer }),
  };
}

/** Returns the id of an existing user. @throws CommandError if there is none: an API call would create the user */
export async function knownCustomer(api: Api, customerId: string | undefined): Promise<string> {
  if (customerId === undefined) throw new CommandError('Name the user: --customer ID');
  const { users } = await api.post<{ users: unknown[] }>('/list_users', { filters: { customer_ids: [customerId] } });
  if (users.length === 0)
    throw new CommandError(`There is no user ${customerId}. List the users: npm run cli -- status`);
  return customerId;
}
