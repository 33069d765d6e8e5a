import { operations } from '../routes.js';
import { API_TAGS } from '../schemas/apiTags.js';
import { readExamples } from './examples.js';
import { type Described, withFieldExamples } from './fieldExamples.js';
import { describeOperation, FORM_SCHEMAS } from './operations.js';
import { SHARED_PARAMETERS } from './parameters.js';
import { RESPONSE_HEADERS, sharedResponses } from './responses.js';
import { SECURITY_SCHEMES } from './security.js';
import { createSchemas } from './toJsonSchema.js';
import type { Json } from './types.js';
import { DELIVERIES, webhooks } from './webhooks.js';

const DESCRIPTION = [
  'Allotrope ingests files, web pages and connected accounts, splits them into chunks, embeds these and searches them.',
  'Send `Authorization: Bearer <API key>` from your servers, or `Authorization: Token <access token>` from a front end.',
  'Published SDKs work with this API unchanged. The public contract is the API that these SDKs know; operations, fields and headers with `x-allotrope-extension` are additions to it, which other servers with this API do not have.',
  'Examples are recorded from automated tests. Their vectors, lists and long texts are shortened.',
];

/**
 * Returns the OpenAPI document, generated from the schemas that validate requests and describe responses. It takes
 * about a tenth of a second.
 */
export function openApiDocument(): Json {
  const schemas = createSchemas();
  const examples = readExamples();
  const paths: Record<string, Record<string, Described>> = {};
  for (const operation of operations) {
    const described = describeOperation(operation, schemas, examples[operation.operationId]) as unknown as Described;
    paths[operation.path] = { ...paths[operation.path], [operation.method]: described };
  }
  const responses = sharedResponses(schemas);
  const events = webhooks(schemas) as Readonly<Record<string, Readonly<Record<string, Described>>>>;
  return withFieldExamples({
    openapi: '3.1.0',
    info: {
      title: 'Allotrope',
      version: '0.2.0',
      description: DESCRIPTION.join('\n\n'),
    },
    servers: [{ url: '/', description: 'The server that returned this document.' }],
    tags: [...Object.entries(API_TAGS).map(([name, description]) => ({ name, description })), DELIVERIES],
    paths,
    webhooks: events,
    components: {
      schemas: { ...schemas.components(), ...FORM_SCHEMAS },
      responses,
      parameters: SHARED_PARAMETERS,
      headers: RESPONSE_HEADERS,
      securitySchemes: SECURITY_SCHEMES,
    },
  });
}
