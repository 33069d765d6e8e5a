import { randomBytes } from 'node:crypto';
import Joi from 'joi';

import { Fault } from '../../contract/failures.js';
import { normaliseUrl } from '../../contract/urls.js';
import { MAX_WEBHOOKS } from '../../contract/webhooks.js';
import type { ApiDeps } from '../http/deps.js';
import { HttpError, invalid } from '../http/errors.js';
import { operation } from '../http/operation.js';
import { presentWebhook } from '../presenters/webhook.js';
import { webhookFields } from '../schemas/webhooks.js';
import { named } from '../schemas/reference.js';

const KEY_BYTES = 32;
const MAX_URL = 2048;

/** @throws HttpError 422 if the URL is not an http(s) URL, or may not be called */
async function checkUrl(text: string, { addresses }: Pick<ApiDeps, 'addresses'>): Promise<void> {
  if (normaliseUrl(text) === null)
    throw invalid(['body', 'url'], 'Give an http(s) address, without credentials', 'url_type');
  try {
    await addresses.check(text);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    // A host name that does not resolve yet may do so at the first delivery.
    if (error.kind === 'address_refused')
      throw invalid(['body', 'url'], 'This service may not call this address', 'value_error');
  }
}

/** POST /add_webhook: adds a receiver of the organization's events. Only this response contains its signing key. */
export const addWebhook = operation({
  method: 'post',
  path: '/add_webhook',
  operationId: 'add_webhook_url_add_webhook_post',
  tag: 'Webhooks',
  auth: 'key',
  createsWork: true,
  summary: 'Add a webhook',
  description: [
    'Registers a URL that receives all later events of the organization. Keep `signing_key`: only this response contains it, and every delivery is signed with it. An organization has at most three webhooks (400), which may have the same URL. http and https are accepted; an address that the server may not call, such as a private IP, returns 422. Earlier events are in `GET /events`.',
  ],
  returns: 'The new webhook with its signing key, which no later response has.',
  body: named(
    'AddWebhookProps',
    Joi.object({
      url: Joi.string()
        .max(MAX_URL)
        .required()
        .description('http(s) URL without credentials that receives the events; at most 2,048 characters.'),
    }).description('Address to which all later events of the organization are sent.'),
  ),
  answer: named(
    'Webhook',
    Joi.object({
      ...webhookFields,
      signing_key: Joi.string()
        .required()
        .description(
          'Secret key of the signatures of deliveries (HMAC-SHA256): 32 bytes as 64 hexadecimal digits. Store it now: no later response contains it.',
        ),
    }).description('URL that receives events, with its signing key. Only `POST /add_webhook` returns the key.'),
  ),
  async handle({ caller, body, deps }) {
    await checkUrl(body.url, deps);
    const signing_key = randomBytes(KEY_BYTES).toString('hex');
    const webhook = await deps.unit.transaction((session) =>
      deps.store.webhooks.add(caller.organizationId, body.url, signing_key, session),
    );
    if (!webhook)
      throw new HttpError(
        400,
        `The organization has ${MAX_WEBHOOKS} webhooks, which is the maximum. Delete one first.`,
      );
    return { ...presentWebhook(webhook), signing_key };
  },
});
