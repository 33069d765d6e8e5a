import type Joi from 'joi';

import { IDEMPOTENCY_HEADER, MAX_IDEMPOTENCY_KEY } from './http/idempotency.js';
import type { AuthScheme, Operation } from './http/operation.js';
import { operations } from './routes.js';

type Json = Record<string, unknown>;

const SECURITY: Record<Exclude<AuthScheme, 'issuing'>, readonly Json[]> = {
  user: [{ accessToken: [] }, { apiKey: [], customerId: [] }],
  reader: [{ accessToken: [] }, { apiKey: [], customerId: [] }],
  key: [{ apiKey: [] }],
  operator: [{ apiKey: [] }],
  either: [{ accessToken: [] }, { apiKey: [], customerId: [] }, { apiKey: [] }],
  open: [],
};

const DETAIL = { type: 'object', properties: { detail: { type: 'string' } }, required: ['detail'] };
const VALIDATION = {
  type: 'object',
  required: ['detail'],
  properties: {
    detail: {
      type: 'array',
      items: {
        type: 'object',
        required: ['loc', 'msg', 'type'],
        properties: {
          loc: { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'integer' }] } },
          msg: { type: 'string' },
          type: { type: 'string' },
        },
      },
    },
  },
};

const IDEMPOTENCY_PARAMETER: Json = {
  name: IDEMPOTENCY_HEADER,
  in: 'header',
  required: false,
  description: 'The same key and request again within 24 hours: one effect, and the first answer once more.',
  schema: { type: 'string', minLength: 1, maxLength: MAX_IDEMPOTENCY_KEY },
};

/** Both headers are always required, so they are documented as headers. */
const ISSUING_PARAMETERS: readonly Json[] = ['authorization', 'customer-id'].map((name) => ({
  ...{ name, in: 'header', required: true },
  schema: { type: 'string' },
}));

/**
 * Returns the JSON Schema of a Joi schema, for requests (input) or responses (output). It corrects Joi's output: Joi
 * marks objects that ignore unknown fields as closed, and omits null from nullable enums.
 */
function jsonSchema(schema: Joi.Schema, direction: 'input' | 'output'): Json {
  const standard = schema['~standard'] as unknown as {
    jsonSchema: Record<'input' | 'output', (options: { target: string }) => Json>;
  };
  return corrected(standard.jsonSchema[direction]({ target: 'draft-2020-12' }), direction) as Json;
}

function corrected(schema: unknown, direction: 'input' | 'output'): unknown {
  if (Array.isArray(schema)) return schema.map((part) => corrected(part, direction));
  if (typeof schema !== 'object' || schema === null) return schema;
  const { type, enum: values } = schema as { type?: unknown; enum?: unknown };
  const entries = Object.entries(schema).filter(
    ([key, value]) => direction === 'output' || key !== 'additionalProperties' || value !== false,
  );
  return {
    ...Object.fromEntries(
      entries.map(([key, value]) => [key, key === 'default' ? value : corrected(value, direction)]),
    ),
    ...(Array.isArray(values) && Array.isArray(type) && type.includes('null') ? { enum: [...values, null] } : {}),
  };
}

const content = (schema: Json): Json => ({ 'application/json': { schema } });
const failure = (description: string, schema: Json): Json => ({ description, content: content(schema) });

const INVALID = failure('A field is wrong; `loc` names it', VALIDATION);
/** Responses while a store fails. */
const STORE_FAILURES = {
  503: failure('A store, or an outside service that the operation needs, does not answer; see Retry-After', DETAIL),
  507: failure('The disk of a store is full; see Retry-After', DETAIL),
};
/** Error responses of operations. */
const FAILURES = {
  400: failure('Nothing that could be done was asked for, or what was named could not be read', DETAIL),
  401: failure('Absent, unknown or expired credentials', DETAIL),
  403: failure('A credential of the wrong kind', DETAIL),
  404: failure('No such thing, or not yours', DETAIL),
  409: failure('Not in this state', DETAIL),
  413: failure('Too large', DETAIL),
  415: failure('A charset or content encoding that is not read', DETAIL),
  422: INVALID,
  429: failure('Too many requests; see Retry-After', DETAIL),
  ...STORE_FAILURES,
};
const LINK_FAILURES = {
  400: failure('The address is not encoded as one', DETAIL),
  403: failure('The link is altered or has expired', DETAIL),
  404: failure('Its content no longer exists', DETAIL),
  422: INVALID,
  ...STORE_FAILURES,
};
const PROBE_FAILURES = { 503: failure('A dependency is away', DETAIL) };

const FORM: Json = {
  'multipart/form-data': {
    schema: { type: 'object', required: ['file'], properties: { file: { type: 'string', format: 'binary' } } },
  },
};

function describe({
  method,
  path,
  auth,
  summary,
  body,
  query,
  answer,
  dryAnswer,
  createsWork,
  takesFile,
}: Operation): Json {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const queried = query ? jsonSchema(query, 'input') : {};
  const queries = Object.entries((queried['properties'] ?? {}) as Record<string, Json>);
  const needed = (queried['required'] ?? []) as readonly string[];
  const answers = dryAnswer ? [answer, dryAnswer] : [answer];
  const parameters = [
    ...names.map((name) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: /_(?:id|number)$/.test(name) ? 'integer' : 'string' },
    })),
    ...queries.map(([name, schema]) => ({ name, in: 'query', required: needed.includes(name), schema })),
    ...(createsWork ? [IDEMPOTENCY_PARAMETER] : []),
    ...(auth === 'issuing' ? ISSUING_PARAMETERS : []),
  ];
  return {
    operationId: `${method}${path.replaceAll(/[^a-zA-Z0-9]+/g, '_')}`,
    summary,
    ...(auth === 'issuing' ? {} : { security: SECURITY[auth] }),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: { required: true, content: content(jsonSchema(body, 'input')) } } : {}),
    ...(takesFile ? { requestBody: { required: true, content: FORM } } : {}),
    responses: {
      200: {
        description: 'Success',
        content: content(
          dryAnswer ? { anyOf: answers.map((one) => jsonSchema(one, 'output')) } : jsonSchema(answer, 'output'),
        ),
      },
      ...(auth === 'open' ? (parameters.length > 0 ? LINK_FAILURES : PROBE_FAILURES) : FAILURES),
    },
  };
}

/** Returns the OpenAPI document, generated from the schemas that validate requests and describe responses. */
export function openApiDocument(): Json {
  const paths: Record<string, Json> = {};
  for (const operation of operations)
    paths[operation.path] = { ...paths[operation.path], [operation.method]: describe(operation) };
  const header = (name: string, description: string): Json => ({ type: 'apiKey', in: 'header', name, description });
  return {
    openapi: '3.1.0',
    info: {
      title: 'Allotrope',
      version: '0.2.0',
      description: 'Takes in content from anywhere and gives it back searchable.',
    },
    servers: [{ url: '/' }],
    paths,
    components: {
      securitySchemes: {
        accessToken: header('authorization', 'Token <access token>, from GET /auth/v1/access_token'),
        apiKey: header('authorization', 'Bearer <API key>'),
        customerId: header('customer-id', "The organization's own name for its end user"),
      },
    },
  };
}
