import type { AuthScheme, DocumentedOperation } from '../../http/operation.js';
import type { Example } from '../examples.js';
import { PATH_PARAMETERS } from '../pathParameters.js';

/** Address of the service in examples and samples. The page at /docs replaces it with its own. */
export const EXAMPLE_ORIGIN = 'https://api.example.com';

/** Name of the environment variable from which samples read the API key. */
export const KEY_VARIABLE = 'API_KEY';

/** The end user that samples name. */
export const CUSTOMER_ID = 'user-42';

/** The request that the samples of an operation send. */
export interface SampleRequest {
  /** In capitals. */
  readonly method: string;
  /** Absolute, with the values of path and query. */
  readonly url: string;
  /** Whether the request has an API key, which is read from the environment. */
  readonly sendsKey: boolean;
  /** Headers besides that with the API key. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON body; undefined: none. */
  readonly body: unknown;
  /** Name of the file that is sent as a form; null: none. */
  readonly file: string | null;
  /** Kind of the body of a successful response. */
  readonly answer: 'json' | 'bytes' | 'events';
}

/** Schemes of calls on behalf of an end user. Samples run on servers, so they send the API key and name the user. */
const FOR_A_USER: readonly AuthScheme[] = ['user', 'reader', 'either', 'issuing'];

const DEFAULT_FILE = 'report.pdf';

function urlOf({ path }: DocumentedOperation, parameters: Readonly<Record<string, unknown>>): string {
  const inPath = new Set([...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name));
  const filled = path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => {
    const value = parameters[name] ?? PATH_PARAMETERS[name]?.['example'];
    return encodeURIComponent(String(value));
  });
  const query = new URLSearchParams(
    Object.entries(parameters)
      .filter(([name]) => !inPath.has(name))
      .map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
  return `${EXAMPLE_ORIGIN}${filled}${query === '' ? '' : `?${query}`}`;
}

/** Returns the request of an operation with the values of its recorded example. */
export function sampleRequest(operation: DocumentedOperation, example: Example = {}): SampleRequest {
  const { method, auth, body, takesFile, answersContent, answersEvents } = operation;
  const { name } = (example.response ?? {}) as { readonly name?: unknown };
  const sentBody = body === undefined || takesFile ? undefined : example.request;
  return {
    method: method.toUpperCase(),
    url: urlOf(operation, example.parameters ?? {}),
    sendsKey: auth !== 'open',
    headers: {
      ...(FOR_A_USER.includes(auth) ? { 'customer-id': CUSTOMER_ID } : {}),
      ...(sentBody === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    body: sentBody,
    file: takesFile ? (typeof name === 'string' ? name : DEFAULT_FILE) : null,
    answer: answersEvents !== undefined ? 'events' : answersContent ? 'bytes' : 'json',
  };
}
