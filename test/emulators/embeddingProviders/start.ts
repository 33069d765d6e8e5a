/** Emulates the five embedding providers on one loopback address, with faults that a test injects. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import {
  type ProviderRequest,
  AZURE_DEPLOYMENTS,
  isValidAssertion,
  isRefusal,
  KEY,
  type ProviderName,
  PROVIDERS,
  parseRequest,
} from './apis.js';

/**
 * A fault of one request. `invalidJson`: the JSON ends in the middle. `brokenConnection`: the connection closes in the
 * middle. `hang`: no answer. The others are well-formed answers with wrong contents: `few`: one vector is missing;
 * `dimension`: each vector is one number too short; `nan`: a vector of NaN; `zero`: vectors of zeros; `unnumbered`:
 * entries without `index`.
 */
export type ProviderFault =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  | 'invalidJson'
  | 'brokenConnection'
  | 'hang'
  | 'few'
  | 'dimension'
  | 'nan'
  | 'zero'
  | 'unnumbered';

/** A received request, as interpreted by its provider. */
export interface EmbeddingCall {
  readonly provider: ProviderName;
  readonly texts: readonly string[];
  readonly images: readonly string[];
  readonly purpose: 'document' | 'query' | null;
  readonly at: number;
  /** HTTP status of the answer; 0: not answered yet. */
  status: number;
}

export interface EmbeddingEmulator {
  /** Returns the settings that configure all five providers, or the given ones. */
  settings(...providers: ProviderName[]): Record<string, string>;
  readonly requests: EmbeddingCall[];
  /** Returns the maximum number of concurrent requests since the last reset. */
  maxConcurrent(): number;
  /** Sets the faults of later requests; `nth` is 1 for the first request after this call. */
  injectFault(how: (call: EmbeddingCall, nth: number) => ProviderFault | null): void;
  /** Sets the delay of each answer. */
  setDelay(ms: number): void;
  /** Revokes all access tokens. */
  revokeTokens(): void;
  /** Returns the number of access tokens issued so far. */
  tokensIssued(): number;
  /** Clears the log of requests, the faults, the delay and the maximum of concurrent requests. */
  reset(): void;
  close(): Promise<void>;
}

/**
 * Returns a vector such that texts with common words have similar directions. All numbers are small and none is zero.
 */
export function vectorOf(text: string, dimensions: number): number[] {
  const vector = new Array<number>(dimensions).fill(0.001);
  for (const word of text.toLowerCase().match(/\p{L}+|\p{N}+/gu) ?? []) {
    let hash = 2166136261;
    for (const character of word) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16777619) >>> 0;
    vector[hash % dimensions]! += 1;
  }
  return vector;
}

export async function startEmbeddingEmulator(): Promise<EmbeddingEmulator> {
  const keys = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const requests: EmbeddingCall[] = [];
  const tokens = new Set<string>();
  let issued = 0;
  let [running, maxRunning] = [0, 0];
  let delayMs = 0;
  let nth = 0;
  let injectedFaultOf: (call: EmbeddingCall, nth: number) => ProviderFault | null = () => null;

  const server = createServer((request, response) => {
    running += 1;
    maxRunning = Math.max(maxRunning, running);
    response.on('close', () => (running -= 1));
    void serve(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const text = Buffer.concat(parts).toString();
    const url = new URL(request.url ?? '/', base);
    if (url.pathname === '/token') return issueToken(new URLSearchParams(text), response);
    const [, provider = '', ...rest] = url.pathname.split('/');
    const body = JSON.parse(text) as Record<string, unknown>;
    const providerRequest: ProviderRequest = {
      provider: provider as ProviderName,
      path: decodeURIComponent(`/${rest.join('/')}`),
      query: url.searchParams,
      headers: request.headers,
      body,
    };
    const parsed = parseRequest(providerRequest, tokens);
    const inputsOrNone = isRefusal(parsed) ? { texts: [], images: [], purpose: null } : parsed;
    const call: EmbeddingCall = {
      provider: providerRequest.provider,
      texts: inputsOrNone.texts,
      images: inputsOrNone.images,
      purpose: inputsOrNone.purpose,
      at: Date.now(),
      status: 0,
    };
    requests.push(call);
    const send = (status: number, content: string, headers: Record<string, string> = {}): void => {
      call.status = status;
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(content);
    };
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
    const fault = injectedFaultOf(call, (nth += 1));
    if (fault === 'hang') return;
    if (typeof fault === 'object' && fault) return send(fault.status, fault.body ?? '{"message":"no"}', fault.headers);
    if (isRefusal(parsed)) return send(parsed.status, JSON.stringify(parsed.body));
    const inputs = [...parsed.texts, ...parsed.images];
    let vectors = inputs.map((input) => vectorOf(input, parsed.dimensions));
    if (fault === 'few') vectors = vectors.slice(1);
    if (fault === 'dimension') vectors = vectors.map((vector) => vector.slice(1));
    if (fault === 'zero') vectors = vectors.map((vector) => vector.fill(0));
    if (fault === 'nan') vectors[0]?.fill(Number.NaN);
    let answer = JSON.stringify(parsed.present(vectors));
    // JSON.stringify writes null for NaN, but some servers write NaN into their JSON.
    if (fault === 'nan') answer = answer.replaceAll('null', 'NaN');
    if (fault === 'unnumbered') answer = answer.replaceAll(/"index":\d+,/g, '');
    if (fault === 'invalidJson') answer = answer.slice(0, answer.length / 2);
    if (fault === 'brokenConnection') {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length });
      response.write(answer.slice(0, answer.length / 2), () => request.socket.destroy());
      return;
    }
    send(200, answer);
  }

  function issueToken(form: URLSearchParams, response: ServerResponse): void {
    const isValid = isValidAssertion(form.get('assertion') ?? '', keys.publicKey, `${base}/token`);
    if (!isValid) return void response.writeHead(400).end('{"error":"invalid_grant"}');
    issued += 1;
    const token = randomBytes(8).toString('hex');
    tokens.add(token);
    response.writeHead(200).end(JSON.stringify({ access_token: token, expires_in: 3599, token_type: 'Bearer' }));
  }

  const serviceAccount = JSON.stringify({
    type: 'service_account',
    client_email: 'ingest@my-project.iam.gserviceaccount.com',
    private_key: keys.privateKey,
    token_uri: `${base}/token`,
  });
  const [small, large] = Object.keys(AZURE_DEPLOYMENTS);
  const settings: Record<ProviderName, Record<string, string>> = {
    openai: { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${base}/openai/v1` },
    azure: {
      AZURE_OPENAI_API_KEY: KEY,
      AZURE_OPENAI_ENDPOINT: `${base}/azure/`,
      AZURE_OPENAI_DEPLOYMENTS:
        `AZURE_OPENAI=${small},AZURE_ADA_SMALL_512=${small},AZURE_ADA_SMALL_1536=${small},` +
        `AZURE_ADA_LARGE_256=${large},AZURE_ADA_LARGE_1024=${large},AZURE_ADA_LARGE_3072=${large}`,
    },
    cohere: { COHERE_API_KEY: KEY, COHERE_BASE_URL: `${base}/cohere/v2` },
    vertex: { VERTEX_PROJECT: 'my-project', VERTEX_CREDENTIALS: serviceAccount, VERTEX_BASE_URL: `${base}/vertex/v1` },
    solar: { SOLAR_API_KEY: KEY, SOLAR_BASE_URL: `${base}/solar/v1` },
  };

  return {
    settings: (...providers) =>
      Object.assign(
        {},
        ...(providers.length > 0 ? providers : PROVIDERS).map((provider) => settings[provider]),
      ) as Record<string, string>,
    requests,
    maxConcurrent: () => maxRunning,
    injectFault(how) {
      nth = 0;
      injectedFaultOf = how;
    },
    setDelay(ms) {
      delayMs = ms;
    },
    revokeTokens: () => tokens.clear(),
    tokensIssued: () => issued,
    reset() {
      requests.length = 0;
      maxRunning = running;
      delayMs = 0;
      injectedFaultOf = () => null;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
