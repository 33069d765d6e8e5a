import { IDEMPOTENCY_HEADER, MAX_IDEMPOTENCY_KEY } from '../http/idempotency.js';
import type { DocumentedOperation } from '../http/operation.js';
import { PATH_PARAMETERS } from './pathParameters.js';
import type { Schemas } from './toJsonSchema.js';
import type { Json } from './types.js';

/** `components.parameters`: headers of requests that several operations accept. */
export const SHARED_PARAMETERS: Json = {
  IdempotencyKey: {
    name: IDEMPOTENCY_HEADER,
    in: 'header',
    required: false,
    description:
      'A key of your choice, such as a UUID. A repeated request with the same key and content within 24 hours has no second effect: it returns the first answer with `Idempotent-Replayed: true`. The same key with another content returns 422.',
    schema: { type: 'string', minLength: 1, maxLength: MAX_IDEMPOTENCY_KEY },
    'x-allotrope-extension': true,
  },
  Prefer: {
    name: 'Prefer',
    in: 'header',
    required: false,
    description:
      '`handling=strict` refuses a request that has fields or parameters unknown to the operation: 422, with the name that was probably meant. Without it they are ignored, and the answer names them in `Allotrope-Ignored-Fields`.',
    schema: { type: 'string', maxLength: 1_000 },
    'x-allotrope-extension': true,
  },
  LastEventId: {
    name: 'last-event-id',
    in: 'header',
    required: false,
    description:
      'The `id` of the last message that the client received: the stream continues after it. Browsers send it when they reconnect. Default: none.',
    schema: { type: 'string', maxLength: 64 },
    'x-allotrope-extension': true,
  },
};

/** The request for a token always requires both headers, so they are documented as parameters. */
const TOKEN_REQUEST_PARAMETERS: readonly Json[] = [
  {
    name: 'authorization',
    in: 'header',
    required: true,
    description: '`Bearer <API key>` of the organization. An access token is refused.',
    schema: { type: 'string' },
  },
  {
    name: 'customer-id',
    in: 'header',
    required: true,
    description:
      'Your id of the end user that the token acts for, such as its key in your own database. An unknown id creates the end user.',
    schema: { type: 'string' },
  },
];

/** Converts a property of a query to a parameter: moves its description from the schema to the parameter. */
function queryParameter(name: string, property: Json, required: boolean, example: unknown): Json {
  const { description, 'x-allotrope-extension': isExtension, ...schema } = property;
  return {
    ...{ name, in: 'query', required },
    ...(description === undefined ? {} : { description }),
    schema,
    ...(example === undefined ? {} : { example }),
    ...(isExtension === undefined ? {} : { 'x-allotrope-extension': isExtension }),
  };
}

/**
 * Returns the parameters of an operation in its path, query and headers.
 * @param examples values of the parameters in the example request, by name
 */
export function parametersOf(
  { path, query, body, takesFile, auth, createsWork, answersEvents }: DocumentedOperation,
  schemas: Schemas,
  examples: Readonly<Record<string, unknown>>,
): readonly Json[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const pathParameter = PATH_PARAMETERS[name];
    if (!pathParameter) throw new Error(`Describe the path parameter ${name} in api/openapi/pathParameters.ts`);
    const example = examples[name] === undefined ? {} : { example: examples[name] };
    return { name, in: 'path', required: true, ...pathParameter, ...example };
  });
  const queried = query ? schemas.of(query, 'input') : {};
  const required = (queried['required'] ?? []) as readonly string[];
  const inQuery = Object.entries((queried['properties'] ?? {}) as Record<string, Json>).map(([name, schema]) =>
    queryParameter(name, schema, required.includes(name), examples[name]),
  );
  return [
    ...inPath,
    ...inQuery,
    ...(createsWork ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
    ...((query ?? body ?? takesFile) ? [{ $ref: '#/components/parameters/Prefer' }] : []),
    ...(answersEvents === undefined ? [] : [{ $ref: '#/components/parameters/LastEventId' }]),
    ...(auth === 'issuing' ? TOKEN_REQUEST_PARAMETERS : []),
  ];
}
