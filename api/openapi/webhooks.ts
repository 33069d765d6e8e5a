import { EVENT_KINDS, type EventKind } from '../../contract/events.js';
import { aboutEvent, EVENT_TEXTS, exampleDelivery, nameOf, webhookPayload } from '../schemas/webhookPayloads.js';
import type { Schemas } from './toJsonSchema.js';
import type { Json } from './types.js';

const header = (name: string, description: string): Json => ({
  ...{ name, in: 'header', required: true, description },
  schema: { type: 'string' },
});

/** Headers of a delivery. */
const HEADERS: readonly Json[] = [
  header(
    'Carbon-Signature',
    '`t=<seconds>,v1=<signature>`: HMAC-SHA256, in hexadecimal, of `<seconds>.<body>`, where `<body>` is the raw body as received. The key is `signing_key`, decoded from hexadecimal.',
  ),
  header(
    'Carbon-Signature-Compact',
    '`t=<seconds>,v2=<signature>`: a signature for frameworks that offer only the parsed body. It is made like `v1`, but of `<seconds>.` followed by `JSON.stringify(JSON.parse(body))`.',
  ),
  header(
    'webhook-id',
    'Id of the event, the same in all of its deliveries and attempts. Ignore events whose id you have already processed.',
  ),
  header(
    'webhook-timestamp',
    'When this attempt was made: seconds since 1970. To prevent replays, reject requests that are older than a few minutes.',
  ),
  header(
    'webhook-signature',
    '`v1,<signature>` of [Standard Webhooks](https://www.standardwebhooks.com): HMAC-SHA256, in base64, of `<webhook-id>.<webhook-timestamp>.<body>`. Standard Webhooks libraries take `whsec_` followed by the key in base64 as their secret.',
  ),
];

const ANSWERED =
  'Respond with any 2xx within WEBHOOK_TIMEOUT_MS (default 10 s), and process the event afterwards. All other ' +
  'responses except 410, including redirects, are failures: the delivery is repeated after 5 s, 5 min, 30 min, 2 h, ' +
  '5 h and 10 h (WEBHOOK_RETRY_DELAYS_S) with the same `webhook-id` and bytes. After the last failed attempt, by ' +
  'default the seventh, its status is `FAILED` and it is not repeated.';

/**
 * The tag of all deliveries. It differs from the tags of operations, because client generators write the operations of
 * a tag into one file: those of webhooks would replace those of paths.
 */
export const DELIVERIES = {
  name: 'Deliveries',
  description: 'Requests that this service sends to the URLs of `POST /add_webhook`, one for each event.',
};

const RESPONSES: Json = {
  '2XX': { description: 'The delivery succeeded. The body of the response is ignored.' },
  410: { description: 'Ends all deliveries to this webhook until `POST /webhooks/{webhook_id}/redeliver` is called.' },
};

function deliveryOf(kind: EventKind, schemas: Schemas): Json {
  const payload = schemas.of(webhookPayload(kind), 'output');
  // Stored under a name, so that clients can import the type of each delivery.
  const body = schemas.store(nameOf(kind, 'Delivery'), {
    type: 'object',
    description: `Body of the POST request that delivers ${kind} to a webhook. Its field \`payload\` contains the event.`,
    required: ['payload'],
    properties: {
      payload: {
        description: 'The event as a string of JSON. Verify a signature first, then parse the string.',
        type: 'string',
        contentMediaType: 'application/json',
        contentSchema: payload,
      },
    },
  });
  return {
    operationId: `on_${kind.toLowerCase()}`,
    tags: [DELIVERIES.name],
    summary: `${kind}: an event about ${aboutEvent(kind)}`,
    description: `${EVENT_TEXTS[kind].when}\n\n${ANSWERED}`,
    parameters: HEADERS,
    requestBody: {
      required: true,
      content: {
        'application/json': {
          example: exampleDelivery(kind),
          schema: body,
        },
      },
    },
    responses: { ...RESPONSES },
  };
}

/** Returns `webhooks`: the deliveries of each type of event. */
export const webhooks = (schemas: Schemas): Json =>
  Object.fromEntries(
    (Object.keys(EVENT_KINDS) as EventKind[]).map((kind) => [kind, { post: deliveryOf(kind, schemas) }]),
  );
