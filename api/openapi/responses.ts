import { StoreFailure } from '../../contract/storeFailures.js';
import { storeAnswer } from '../http/answers/storeAnswers.js';
import { forbidden, notFound, readOnly, unauthorized } from '../http/errors.js';
import type { DocumentedOperation, ErrorStatus } from '../http/operation.js';
import { changesRecords } from '../http/perform.js';
import { errorDetail, validationErrors } from '../schemas/errors.js';
import type { Schemas } from './toJsonSchema.js';
import type { Json } from './types.js';

/** An error response that operations share. */
interface SharedError {
  /** Its name in `components.responses`. */
  readonly name: string;
  readonly description: string;
  /** The `detail` of the example. */
  readonly detail: unknown;
  /** Whether the response has a Retry-After header. */
  readonly retryAfter?: true;
}

const ERRORS: Readonly<Record<ErrorStatus, SharedError>> = {
  400: {
    name: 'BadRequest',
    description:
      'The fields are valid, but the request cannot be carried out, for example because it needs a filter; or the body could not be decompressed or read. `detail` has the reason.',
    detail: 'name at least one filter',
  },
  401: {
    name: 'Unauthorized',
    description: 'The credentials are absent, unknown or expired. Request a new access token with the API key.',
    detail: unauthorized().detail,
  },
  403: {
    name: 'Forbidden',
    description: 'The operation needs an API key, and the request has an access token.',
    detail: forbidden().detail,
  },
  404: {
    name: 'NotFound',
    description: 'The record does not exist, or belongs to another user or organization.',
    detail: notFound('file').detail,
  },
  408: {
    name: 'RequestTimeout',
    description: 'The request took too long to arrive. Nothing was done: repeat it.',
    detail: 'The request took too long to arrive.',
  },
  409: {
    name: 'Conflict',
    description:
      'The record is not in a state that allows the operation, or a request with the same Idempotency-Key is in progress. Only the latter has a `Retry-After`.',
    detail: 'The file is being synced. Wait until the sync has ended, then try again.',
    retryAfter: true,
  },
  413: {
    name: 'ContentTooLarge',
    description:
      'The body is larger than the server accepts. The limit is `MAX_UPLOAD_BYTES` for a file, `MAX_CONTENTS_BYTES` for JSON that contains texts or chunks to store, and `MAX_JSON_BYTES` for other JSON.',
    detail: 'The file is larger than this server accepts (setting MAX_UPLOAD_BYTES).',
  },
  415: {
    name: 'UnsupportedMediaType',
    description: 'The body has a charset other than UTF-8, or a content-encoding other than gzip, deflate and br.',
    detail: 'Send the body as UTF-8.',
  },
  422: {
    name: 'ValidationFailed',
    description:
      'Fields of the request are missing or wrong, or its body is not JSON: malformed, not UTF-8 or of another content-type. `detail` has an entry for each error; `loc` is the path of the field.',
    detail: [{ loc: ['body', 'k'], msg: 'Must be greater than or equal to 1', type: 'greater_than_equal' }],
  },
  429: {
    name: 'TooManyRequests',
    description: 'The caller sent more requests than allowed. Repeat the request after the seconds in `Retry-After`.',
    detail: 'More than 600 requests a minute. Try again in 2 s.',
    retryAfter: true,
  },
  431: {
    name: 'HeadersTooLarge',
    description:
      'The address and the headers of the request are larger than the server accepts. Send long lists in a body.',
    detail: 'The address and headers of the request are larger than this server accepts.',
  },
  502: {
    name: 'BadGateway',
    description: 'An outside service that the operation needs rejected the request. Repeating it does not help.',
    detail: 'The embedding provider rejected the request: the model does not exist.',
  },
  503: {
    name: 'ServiceUnavailable',
    description:
      'A store, or an outside service that the operation needs, does not answer. `detail` names it; retry after `Retry-After` seconds, if given.',
    detail: storeAnswer(new StoreFailure('MongoDB', 'unreachable', null)).detail,
    retryAfter: true,
  },
  507: {
    name: 'InsufficientStorage',
    description: 'The disk of a store is full. The operator has to free space.',
    detail: storeAnswer(new StoreFailure('MongoDB', 'full', null)).detail,
    retryAfter: true,
  },
};

/** The 403 of operations that accept access tokens. */
const READ_ONLY: SharedError = {
  name: 'ReadOnlyToken',
  description: 'The access token was issued with `scope=read`, and the operation writes.',
  detail: readOnly().detail,
};

const STATUSES = Object.keys(ERRORS).map((status) => Number(status) as ErrorStatus);

const RETRY_AFTER = { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } };
const REQUEST_ID = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } };
const REPLAYED = { 'Idempotent-Replayed': { $ref: '#/components/headers/IdempotentReplayed' } };

/** `components.headers`: headers of responses. */
export const RESPONSE_HEADERS: Json = {
  RequestId: {
    description: 'Id of the request in the log of the server. Include it when you report a problem.',
    schema: { type: 'string', format: 'uuid' },
  },
  RetryAfter: {
    description:
      'Number of seconds to wait before you repeat the request. If you repeat it before that, it may be rejected again.',
    schema: { type: 'integer', minimum: 0 },
  },
  IdempotentReplayed: {
    description: '`true` if this is the stored answer of an earlier request with the same `Idempotency-Key`.',
    schema: { type: 'string', enum: ['true'] },
  },
  AllotropeIgnoredFields: {
    description:
      'Unknown fields and parameters of the request, which were ignored: a list of at most 20 paths in quotes, each of at most 100 characters. `Prefer: handling=strict` refuses such requests instead.',
    schema: { type: 'string' },
  },
  PreferenceApplied: {
    description: '`handling=strict` if the request had `Prefer: handling=strict`.',
    schema: { type: 'string', enum: ['handling=strict'] },
  },
};

const IGNORED = { 'Allotrope-Ignored-Fields': { $ref: '#/components/headers/AllotropeIgnoredFields' } };
const APPLIED = { 'Preference-Applied': { $ref: '#/components/headers/PreferenceApplied' } };

const errorOf = (error: SharedError, schemas: Schemas, description = error.description): Json => ({
  description,
  headers: { ...REQUEST_ID, ...(error.retryAfter ? RETRY_AFTER : {}) },
  content: {
    'application/json': {
      schema: schemas.of(error === ERRORS[422] ? validationErrors : errorDetail, 'output'),
      example: { detail: error.detail },
    },
  },
});

/** Returns `components.responses`: the error responses, by name. */
export const sharedResponses = (schemas: Schemas): Json =>
  Object.fromEntries([...Object.values(ERRORS), READ_ONLY].map((error) => [error.name, errorOf(error, schemas)]));

const acceptsTokens = ({ auth }: DocumentedOperation): boolean => auth === 'user' || auth === 'either';

/** Returns the error statuses that an operation may have by default. */
function usualStatuses(operation: DocumentedOperation): readonly ErrorStatus[] {
  const { path, auth, body, query, takesFile } = operation;
  if (auth === 'open') return [431, 503];
  const sendsBody = Boolean(body ?? takesFile);
  const namesRecords = sendsBody || query !== undefined || path.includes('{');
  const changes = changesRecords(operation);
  const refusesTokens = auth === 'key' || auth === 'operator' || (changes && acceptsTokens(operation));
  const applies = {
    ...{ 403: refusesTokens, 404: namesRecords, 409: changes },
    ...{ 408: sendsBody, 413: sendsBody, 415: sendsBody, 502: false },
  } as Readonly<Partial<Record<ErrorStatus, boolean>>>;
  return STATUSES.filter((status) => applies[status] ?? true);
}

/** Returns the error responses of an operation. */
export function errorResponses(operation: DocumentedOperation, schemas: Schemas): Json {
  const { errors = {} } = operation;
  const usual = usualStatuses(operation);
  const shared = (status: ErrorStatus): SharedError =>
    status === 403 && acceptsTokens(operation) ? READ_ONLY : ERRORS[status];
  return Object.fromEntries(
    STATUSES.filter(
      (status) => errors[status] !== null && (usual.includes(status) || errors[status] !== undefined),
    ).map((status) => [
      status,
      errors[status]
        ? errorOf(shared(status), schemas, errors[status])
        : { $ref: `#/components/responses/${shared(status).name}` },
    ]),
  );
}

const eventsOf = (example: string): Json => ({
  'text/event-stream': {
    schema: { type: 'string', description: 'Messages of `id`, `event` and `data`, each ended by an empty line.' },
    example,
  },
});

/** The response to a client that reconnects to a stream that has ended. */
export const streamEnded: Json = {
  description: 'The client has the last message of the stream. It should not reconnect.',
  headers: REQUEST_ID,
};

/** Returns the 200 response of an operation. */
export function success(operation: DocumentedOperation, schemas: Schemas, example: unknown): Json {
  const { answer, dryAnswer, createsWork, answersContent, answersEvents, query, body, takesFile } = operation;
  const answers = [answer, ...(dryAnswer ? [dryAnswer] : [])];
  const schema = dryAnswer ? { anyOf: answers.map((one) => schemas.of(one, 'output')) } : schemas.of(answer, 'output');
  const json = { 'application/json': { schema, ...(example === undefined ? {} : { example }) } };
  const bytes = {
    'application/octet-stream': { schema: { type: 'string', format: 'binary' } },
    'text/plain': { schema: { type: 'string' } },
  };
  return {
    description: operation.returns,
    headers: {
      ...REQUEST_ID,
      ...(createsWork ? REPLAYED : {}),
      ...((query ?? body ?? takesFile) ? { ...IGNORED, ...APPLIED } : {}),
    },
    content: answersEvents !== undefined ? eventsOf(answersEvents) : answersContent ? bytes : json,
  };
}
