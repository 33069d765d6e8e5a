/** The five providers' published behaviour, as pure functions of a request: what is refused, and what is answered. */
import { createPublicKey, verify } from 'node:crypto';

import { countTokens } from '../../../documents/chunking/countTokens.js';

export interface Asked {
  readonly provider: ProviderName;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What a provider understood: from here on it only computes. */
export interface Understood {
  readonly texts: readonly string[];
  /** Base64. */
  readonly images: readonly string[];
  readonly dimensions: number;
  readonly purpose: 'document' | 'query' | null;
  /** Puts vectors into the provider's form; entries may have been spoilt before. */
  present(vectors: readonly (readonly number[])[]): object;
}

export interface Refusal {
  readonly status: number;
  readonly body: object;
}

export const KEY = 'a-key-of-the-emulator';
export const PROVIDERS = ['openai', 'azure', 'cohere', 'vertex', 'solar'] as const;
export type ProviderName = (typeof PROVIDERS)[number];

export const isRefusal = (one: Understood | Refusal): one is Refusal => 'status' in one;

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
const bearer = ({ headers }: Asked): string => String(headers['authorization'] ?? '').replace(/^Bearer /, '');

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

/** In reverse, since nothing but the index says which is which. */
const openAiList = (vectors: readonly (readonly number[])[], format: unknown, tokens: number): object => ({
  object: 'list',
  data: vectors
    .map((vector, index) => ({ object: 'embedding', index, embedding: format === 'base64' ? base64(vector) : vector }))
    .toReversed(),
  usage: { prompt_tokens: tokens, total_tokens: tokens },
});

const sumOf = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + countTokens(text), 0);

function openAiLike(body: Asked['body'], native: number): Understood | Refusal {
  const texts = textsOf(body['input']);
  const refused = openAiLimits(texts);
  if (refused) return refused;
  const dimensions = typeof body['dimensions'] === 'number' ? body['dimensions'] : native;
  if (dimensions > native) return openAiError(400, `Invalid value for 'dimensions' = ${dimensions}.`);
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

function openai(asked: Asked): Understood | Refusal {
  if (asked.path !== '/v1/embeddings') return openAiError(404, 'Invalid URL');
  if (bearer(asked) !== KEY) return openAiError(401, 'Incorrect API key provided: wr***ng.', 'invalid_api_key');
  const native = OPENAI_MODELS[String(asked.body['model'])];
  return native === undefined
    ? openAiError(404, 'The model does not exist.', 'model_not_found')
    : openAiLike(asked.body, native);
}

function azure(asked: Asked): Understood | Refusal {
  const deployment = /^\/openai\/deployments\/([^/]+)\/embeddings$/.exec(asked.path)?.[1] ?? '';
  if (asked.headers['api-key'] !== KEY)
    return openAiError(401, 'Access denied due to invalid subscription key.', '401');
  if (!asked.query.get('api-version')) return openAiError(404, 'Resource not found', '404');
  const native = AZURE_DEPLOYMENTS[deployment];
  return native === undefined
    ? openAiError(404, 'The API deployment for this resource does not exist.', 'DeploymentNotFound')
    : openAiLike(asked.body, native);
}

/** Its tokenizer takes figures one by one. */
const cohereTokens = (text: string): number => Math.max(countTokens(text), text.replaceAll(/\D/g, '').length);

function cohere(asked: Asked): Understood | Refusal {
  if (asked.path !== '/v2/embed') return plainError(404, 'not found');
  if (bearer(asked) !== KEY) return plainError(401, 'invalid api token');
  const { body } = asked;
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

function solar(asked: Asked): Understood | Refusal {
  if (asked.path !== '/v1/embeddings') return openAiError(404, 'not found');
  if (bearer(asked) !== KEY) return openAiError(401, 'API key is invalid.');
  const texts = textsOf(asked.body['input']);
  const kind = SOLAR_MODEL.exec(String(asked.body['model']))?.[1];
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

function vertex(asked: Asked, tokens: ReadonlySet<string>): Understood | Refusal {
  if (asked.path !== PREDICT) return googleError(404, 'Not found', 'NOT_FOUND');
  if (!tokens.has(bearer(asked)))
    return googleError(401, 'Request had invalid authentication credentials.', 'UNAUTHENTICATED');
  const instances = (asked.body['instances'] ?? []) as readonly Instance[];
  if (instances.length !== 1) return googleError(400, 'One instance a request is taken.', 'INVALID_ARGUMENT');
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

/** Whether an assertion is one of the service account's, for this audience and now. */
export function holds(assertion: string, publicKey: string, audience: string): boolean {
  const [head = '', claims = '', signature = ''] = assertion.split('.');
  const read = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<string, unknown>;
  const now = Date.now() / 1000;
  return (
    verify(
      'RSA-SHA256',
      Buffer.from(`${head}.${claims}`),
      createPublicKey(publicKey),
      Buffer.from(signature, 'base64url'),
    ) &&
    read['aud'] === audience &&
    read['iss'] === 'ingest@my-project.iam.gserviceaccount.com' &&
    Number(read['exp']) > now &&
    Number(read['iat']) <= now + 1
  );
}

/** @param tokens access tokens that Vertex takes now */
export function understand(asked: Asked, tokens: ReadonlySet<string>): Understood | Refusal {
  const ways = { openai, azure, cohere, solar, vertex: (one: Asked) => vertex(one, tokens) };
  return ways[asked.provider](asked);
}
