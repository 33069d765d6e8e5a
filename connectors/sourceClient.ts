import { Fault } from '../contract/failures.js';
import type { CallOptions, SourceAnswer, SourceClient, SourceRequest } from './accountClient.js';
import { isObject } from './json.js';
import { parseAnswer } from './parseAnswer.js';
import { createTransport, faultOf, type Outgoing, type TransportSettings } from './transport.js';

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const MAX_REDIRECTS = 5;
const UNAUTHORIZED = 401;

export type SourceClientSettings = TransportSettings;

interface Answered {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

/** Creates the client of one account; its signal aborts all calls. */
export function createSourceClient(settings: SourceClientSettings): SourceClient {
  const { name, urls } = settings;
  const send = createTransport(settings);
  const urlOf = (path: readonly string[], query: Readonly<Record<string, string>>, at: string): string => {
    // Such segments would change the path, even if encoded.
    if (path.some((part) => part === '' || part === '.' || part === '..'))
      throw faultOf(settings, { status: 404, headers: {}, body: null }, null);
    const base = urls[at];
    if (base === undefined) throw new Error(`${name} has no address called ${at}`);
    const search = new URLSearchParams(query).toString();
    // Colons and dollar signs are valid in a path segment, and some sources recognise them only unencoded.
    const encoded = path.map((part) => encodeURIComponent(part).replaceAll('%3A', ':').replaceAll('%24', '$'));
    return `${base}/${encoded.join('/')}${search === '' ? '' : `?${search}`}`;
  };
  const call = async (
    path: readonly string[],
    query: Readonly<Record<string, string>>,
    { at = 'api', headers: callHeaders = {}, asForm = false }: CallOptions = {},
    posted?: unknown,
  ): Promise<Answered> => {
    const isPost = posted !== undefined;
    const type = asForm ? 'application/x-www-form-urlencoded' : 'application/json';
    const defaultHeaders = { accept: 'application/json', ...(isPost ? { 'content-type': type } : {}) };
    const url = urlOf(path, query, at);
    const request: Outgoing = {
      url,
      withCredentials: true,
      defaultHeaders,
      headers: callHeaders,
      isContent: false,
      isExpected: () => false,
    };
    const body = asForm ? new URLSearchParams(posted as Record<string, string>).toString() : JSON.stringify(posted);
    const answer = await send(isPost ? { ...request, method: 'POST', body } : request);
    return { status: answer.status, body: parseAnswer(answer.bytes), headers: answer.headers };
  };
  /** Fetches content. A redirect may point to another host; no credentials are sent there. */
  const content = async (
    path: readonly string[],
    query: Readonly<Record<string, string>>,
    { at = 'api', headers: more = {} }: CallOptions = {},
  ): Promise<SourceAnswer> => {
    let request: Outgoing = {
      url: urlOf(path, query, at),
      withCredentials: true,
      headers: more,
      isContent: true,
      isExpected: ({ status }) => REDIRECTS.has(status),
    };
    for (let steps = 0; steps <= MAX_REDIRECTS; steps += 1) {
      const answer = await send(request);
      if (answer.status === UNAUTHORIZED)
        throw new Fault(
          'access_denied',
          `${name} redirects to an address that refuses the file (HTTP ${UNAUTHORIZED}). ` +
            `Open the item in ${name}, then sync it again.`,
        );
      if (!REDIRECTS.has(answer.status)) return answer;
      const { location } = answer.headers;
      if (location === undefined || !URL.canParse(location, request.url)) break;
      request = {
        url: new URL(location, request.url).href,
        headers: {},
        isContent: true,
        // Without credentials, 401 says nothing about those of the connection: a link may have expired.
        isExpected: ({ status }) => REDIRECTS.has(status) || status === UNAUTHORIZED,
      };
    }
    throw new Fault(
      'too_many_redirects',
      `${name} redirects too often, or to no valid address. Open the item in ${name}, then sync it again.`,
    );
  };
  const incomplete = (expectedType: string): Fault =>
    new Fault(
      'server_error',
      `${name} gave an answer that is not a complete JSON ${expectedType}. The request is retried automatically.`,
    );

  return {
    urls,
    signal: settings.signal,
    send: (request: SourceRequest) => send(request),
    content,
    async get(path, query, options) {
      const { body } = await call(path, query, options);
      if (isObject(body)) return body;
      throw incomplete('object');
    },
    async post(path, posted, options) {
      const { body } = await call(path, {}, options, posted === undefined ? {} : posted);
      if (isObject(body)) return body;
      throw incomplete('object');
    },
    async list(path, query, { within, isEmptyAt204 = false } = {}) {
      const { status, body, headers } = await call(path, query);
      if (isEmptyAt204 && status === 204) return { values: [], headers };
      const values = within === undefined ? body : isObject(body) ? body[within] : null;
      if (Array.isArray(values)) return { values: values as unknown[], headers };
      throw incomplete('list');
    },
  };
}
