import { EXTENSIONS } from '../extensions.js';
import type { DocumentedOperation } from '../http/operation.js';
import type { Example } from './examples.js';
import { parametersOf } from './parameters.js';
import { errorResponses, streamEnded, success } from './responses.js';
import { samplesOf } from './samples/samples.js';
import { SECURITY } from './security.js';
import type { Schemas } from './toJsonSchema.js';
import type { Json } from './types.js';

const FORM: Json = {
  'multipart/form-data': {
    schema: { $ref: '#/components/schemas/Body_create_upload_file_uploadfile_post' },
  },
};

/** Schemas of forms, which no Joi schema validates. */
export const FORM_SCHEMAS: Readonly<Record<string, Json>> = {
  Body_create_upload_file_uploadfile_post: {
    description: 'Upload form (`multipart/form-data`) with one file in the field `file`. Options are query parameters.',
    type: 'object',
    required: ['file'],
    properties: {
      file: {
        description: 'Bytes of the file, with its name. The name and the bytes determine the format.',
        type: 'string',
        format: 'binary',
      },
    },
  },
};

/**
 * Description of a body that may be absent. That includes bodies which the published document of Carbon, whose interface
 * this service implements, requires.
 */
const OPTIONAL_BODY = 'The body may be absent: that is the same as `{}`.';

/** Returns whether a schema of the document accepts an object without fields. */
function acceptsNothing(schema: Json, schemas: Schemas): boolean {
  const whole = schemas.resolved(schema);
  return whole['type'] === 'object' && !['required', 'minProperties'].some((keyword) => keyword in whole);
}

function bodyOf({ body, takesFile }: DocumentedOperation, schemas: Schemas, { request }: Example): Json {
  if (takesFile) return { requestBody: { required: true, content: FORM } };
  if (!body) return {};
  const schema = schemas.of(body, 'input');
  const isOptional = acceptsNothing(schema, schemas);
  return {
    requestBody: {
      ...(isOptional ? { description: OPTIONAL_BODY } : {}),
      required: !isOptional,
      content: { 'application/json': { schema, ...(request === undefined ? {} : { example: request }) } },
    },
  };
}

/** Joins paragraphs; items of a list follow each other directly. */
const joined = (parts: readonly string[]): string =>
  parts.reduce((text, part) => `${text}${part.startsWith('- ') && /(?:^|\n)- .*$/.test(text) ? '\n' : '\n\n'}${part}`);

const extensionsOf: Readonly<Record<string, string | null>> = EXTENSIONS.operations;
const EXTENSION = '*Extension of the public contract.*';

/** Returns the OpenAPI description of an operation. */
export function describeOperation(operation: DocumentedOperation, schemas: Schemas, example: Example = {}): Json {
  const { method, path, auth, operationId, tag, summary, replacedBy } = operation;
  const reason = extensionsOf[`${method.toUpperCase()} ${path}`];
  const description = [
    ...(replacedBy === undefined ? [] : [`**Deprecated.** Use \`${replacedBy}\` instead.`]),
    ...operation.description,
    ...(reason === undefined ? [] : [reason === null ? EXTENSION : `${EXTENSION} ${reason}`]),
  ];
  const parameters = parametersOf(operation, schemas, example.parameters ?? {});
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description.length > 0 ? { description: joined(description) } : {}),
    ...(replacedBy === undefined ? {} : { deprecated: true }),
    ...(auth === 'issuing' ? {} : { security: SECURITY[auth] }),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...bodyOf(operation, schemas, example),
    responses: {
      200: success(operation, schemas, example.response),
      ...(operation.answersEvents === undefined ? {} : { 204: streamEnded }),
      ...errorResponses(operation, schemas),
    },
    ...(reason === undefined ? {} : { 'x-allotrope-extension': true }),
    // The samples make the document a fifth larger.
    'x-codeSamples': samplesOf(operation, example),
  };
}
