/** The published behaviour of the five providers, as pure functions from a request to an answer or a refusal. */
import { createPublicKey, verify } from 'node:crypto';

import { countTokens } from '../../../documents/chunking/countTokens.js';

export interface ProviderRequest {
  readonly provider: ProviderName;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A valid request, as interpreted by the provider. */
export interface ParsedRequest {
  readonly texts: readonly string[];
  /** Images in base64. */
  readonly images: readonly string[];
  readonly dimensions: number;
  readonly purpose: 'document' | 'query' | null;
  /** Returns vectors in the provider's response format; a fault may have changed them before. */
  present(vectors: readonly (readonly number[])[]): object;
}

export interface Refusal {
  readonly status: number;
  readonly body: object;
}

export const KEY = 'a-key-of-the-emulator';
export const PROVIDERS = ['openai', 'azure', 'cohere', 'vertex', 'solar'] as const;
export type ProviderName = (typeof PROVIDERS)[number];

export const isRefusal = (result: ParsedRequest | Refusal): result is Refusal => 'status' in result;

const openAiError = (status: number, message: string, code: string | null = null): Refusal => ({
  status,
  body: { error: { message, type: 'invalid_request_error', param: null, code } },
});
const plainError = (status: number, message: string): Refusal => ({ status, body: { id: 'e', message } });
const googleError = (status: number, message: string, name: string): Refusal => ({
  status,
  body: { error: { code: status, message, status: name } },
});

const textsOf = (value: unknown): string[] => (typeof value === 'string' ? [value] : ((value ?? []) as string[]));
const bearer = ({ headers }: ProviderRequest): string => String(headers['authorization'] ?? '').replace(/^Bearer /, '');

function openAiLimits(texts: readonly string[]): Refusal | null {
  if (texts.length === 0 || texts.some((text) => text === '')) return openAiError(400, "'$.input' is invalid.");
  if (texts.length > 2048) return openAiError(400, "'$.input' is invalid: at most 2048 items.");
  const tokens = texts.map(countTokens);
  const longest = Math.max(...tokens);
  if (longest > 8192)
    return openAiError(
      400,
      `This model's maximum context length is 8192 tokens, however you requested ${longest} tokens.`,
    );
  const sum = tokens.reduce((a, b) => a + b, 0);
  return sum > 300_000
    ? openAiError(400, `Requested ${sum} tokens, max 300000 tokens per request`, 'max_tokens_per_request')
    : null;
}

function base64(vector: readonly number[]): string {
  return Buffer.from(Float32Array.from(vector).buffer).toString('base64');
}

/** Returns the list in reverse order: a client must match entries by `index`, not by position. */
const openAiList = (vectors: readonly (readonly number[])[], format: unknown, tokens: number): object => ({
  object: 'list',
  data: vectors
    .map((vector, index) => ({ object: 'embedding', index, embedding: format === 'base64' ? base64(vector) : vector }))
    .toReversed(),
  usage: { prompt_tokens: tokens, total_tokens: tokens },
});

const sumOf = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + countTokens(text), 0);

function openAiLike(body: ProviderRequest['body'], nativeDimensions: number): ParsedRequest | Refusal {
  const texts = textsOf(body['input']);
  const refusal = openAiLimits(texts);
  if (refusal) return refusal;
  const dimensions = typeof body['dimensions'] === 'number' ? body['dimensions'] : nativeDimensions;
  if (dimensions > nativeDimensions) return openAiError(400, `Invalid value for 'dimensions' = ${dimensions}.`);
  return {
    ...{ texts, images: [], dimensions, purpose: null },
    present: (vectors) => openAiList(vectors, body['encoding_format'], sumOf(texts)),
  };
}

const OPENAI_MODELS: Readonly<Record<string, number>> = {
  'text-embedding-3-small': 1536,
  'text-embedding-3-large': 3072,
};
export const AZURE_DEPLOYMENTS: Readonly<Record<string, number>> = { 'my-small': 1536, 'my-large': 3072 };

function openai(request: ProviderRequest): ParsedRequest | Refusal {
  if (request.path !== '/v1/embeddings') return openAiError(404, 'Invalid URL');
  if (bearer(request) !== KEY) return openAiError(401, 'Incorrect API key provided: wr***ng.', 'invalid_api_key');
  const nativeDimensions = OPENAI_MODELS[String(request.body['model'])];
  return nativeDimensions === undefined
    ? openAiError(404, 'The model does not exist.', 'model_not_found')
    : openAiLike(request.body, nativeDimensions);
}

function azure(request: ProviderRequest): ParsedRequest | Refusal {
  const deployment = /^\/openai\/deployments\/([^/]+)\/embeddings$/.exec(request.path)?.[1] ?? '';
  if (request.headers['api-key'] !== KEY)
    return openAiError(401, 'Access denied due to invalid subscription key.', '401');
  if (!request.query.get('api-version')) return openAiError(404, 'Resource not found', '404');
  const nativeDimensions = AZURE_DEPLOYMENTS[deployment];
  return nativeDimensions === undefined
    ? openAiError(404, 'The API deployment for this resource does not exist.', 'DeploymentNotFound')
    : openAiLike(request.body, nativeDimensions);
}

/** Returns the number of tokens; Cohere's tokenizer makes each digit a token. */
const cohereTokens = (text: string): number => Math.max(countTokens(text), text.replaceAll(/\D/g, '').length);

function cohere(request: ProviderRequest): ParsedRequest | Refusal {
  if (request.path !== '/v2/embed') return plainError(404, 'not found');
  if (bearer(request) !== KEY) return plainError(401, 'invalid api token');
  const { body } = request;
  const texts = textsOf(body['texts']);
  const kind = body['input_type'];
  if (kind !== 'search_document' && kind !== 'search_query')
    return plainError(400, 'invalid request: valid input_type must be provided with the provided model');
  if (texts.length > 96) return plainError(400, 'invalid request: total number of texts must be at most 96');
  if (texts.some((text) => text.trim() === '')) return plainError(400, 'invalid request: texts must not be empty');
  if (body['truncate'] === 'NONE' && texts.some((text) => cohereTokens(text) > 510))
    return plainError(400, 'invalid request: too many tokens: size limit exceeded by a text, use truncate');
  return {
    ...{ texts, images: [], dimensions: 1024, purpose: kind === 'search_query' ? 'query' : 'document' },
    present: (vectors) => ({
      id: 'an-id',
      embeddings: { float: vectors },
      texts,
      response_type: 'embeddings_by_type',
      meta: { api_version: { version: '2' }, billed_units: { input_tokens: sumOf(texts) } },
    }),
  };
}

const SOLAR_MODEL = /^solar-embedding-1-large-(passage|query)$/;

function solar(request: ProviderRequest): ParsedRequest | Refusal {
  if (request.path !== '/v1/embeddings') return openAiError(404, 'not found');
  if (bearer(request) !== KEY) return openAiError(401, 'API key is invalid.');
  const texts = textsOf(request.body['input']);
  const kind = SOLAR_MODEL.exec(String(request.body['model']))?.[1];
  if (kind === undefined) return openAiError(404, 'The model does not exist.');
  if (texts.length > 100) return openAiError(400, 'input: at most 100 items');
  if (texts.some((text) => countTokens(text) * 1.2 > 4000))
    return openAiError(400, "This model's maximum context length is 4000 tokens.");
  return {
    ...{ texts, images: [], dimensions: 4096, purpose: kind === 'query' ? 'query' : 'document' },
    present: (vectors) => openAiList(vectors, null, sumOf(texts)),
  };
}

const PREDICT =
  '/v1/projects/my-project/locations/us-central1/publishers/google/models/multimodalembedding@001:predict';

interface Instance {
  readonly text?: string;
  readonly image?: { readonly bytesBase64Encoded: string };
}

function vertex(request: ProviderRequest, tokens: ReadonlySet<string>): ParsedRequest | Refusal {
  if (request.path !== PREDICT) return googleError(404, 'Not found', 'NOT_FOUND');
  if (!tokens.has(bearer(request)))
    return googleError(401, 'Request had invalid authentication credentials.', 'UNAUTHENTICATED');
  const instances = (request.body['instances'] ?? []) as readonly Instance[];
  if (instances.length !== 1) return googleError(400, 'Only one instance per request is allowed.', 'INVALID_ARGUMENT');
  const texts = instances.flatMap(({ text }) => text ?? []);
  if (texts.some((text) => Buffer.byteLength(text) >= 1024))
    return googleError(400, 'Text field must be smaller than 1024 characters.', 'INVALID_ARGUMENT');
  return {
    images: instances.flatMap(({ image }) => image?.bytesBase64Encoded ?? []),
    ...{ texts, dimensions: 1408, purpose: null },
    present: (vectors) => ({
      predictions: vectors.map((vector) => ({ [texts.length > 0 ? 'textEmbedding' : 'imageEmbedding']: vector })),
      deployedModelId: '1',
    }),
  };
}

/** Whether an assertion (a JWT) is signed by the service account, for this audience, and not expired. */
export function isValidAssertion(assertion: string, publicKey: string, audience: string): boolean {
  const [head = '', claims = '', signature = ''] = assertion.split('.');
  const payload = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<string, unknown>;
  const now = Date.now() / 1000;
  return (
    verify(
      'RSA-SHA256',
      Buffer.from(`${head}.${claims}`),
      createPublicKey(publicKey),
      Buffer.from(signature, 'base64url'),
    ) &&
    payload['aud'] === audience &&
    payload['iss'] === 'ingest@my-project.iam.gserviceaccount.com' &&
    Number(payload['exp']) > now &&
    Number(payload['iat']) <= now + 1
  );
}

/** Interprets a request. @param tokens access tokens that Vertex accepts */
export function parseRequest(request: ProviderRequest, tokens: ReadonlySet<string>): ParsedRequest | Refusal {
  const providers = { openai, azure, cohere, solar, vertex: (call: ProviderRequest) => vertex(call, tokens) };
  return providers[request.provider](request);
}
