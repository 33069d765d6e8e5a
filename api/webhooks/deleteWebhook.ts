import { notFound } from '../http/errors.js';
import { operation } from '../http/operation.js';
import { pathId } from '../http/pathId.js';
import { success } from '../schemas/answers.js';

/** DELETE /delete_webhook/{webhook_id}: stops all deliveries at once; its workflow deletes the remaining data. */
export const deleteWebhook = operation({
  method: 'delete',
  path: '/delete_webhook/{webhook_id}',
  operationId: 'delete_webhook_url_delete_webhook__webhook_id__delete',
  tag: 'Webhooks',
  auth: 'key',
  summary: 'Delete a webhook',
  description: [
    'Ends all deliveries to a webhook immediately, also those that wait for another attempt. A workflow then deletes its deliveries and its signing key. Events stay in `GET /events`. An unknown webhook returns 404.',
  ],
  returns: '`success: true`: no further delivery is sent to the webhook.',
  answer: success,
  async handle({ params, caller, deps }) {
    const removed = await deps.store.webhooks.remove(caller.organizationId, pathId(params, 'webhook_id'));
    if (!removed) throw notFound('webhook');
    return { success: true };
  },
});
