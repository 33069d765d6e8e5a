import type { WebhookDoc } from '../../store/webhooks/model.js';
import { notFound } from '../http/errors.js';
import type { Call } from '../http/operation.js';
import { pathId } from '../http/pathId.js';

/** The caller's webhook that the path names. @throws HttpError 404 for a missing or foreign one */
export async function webhookOf({
  params,
  caller,
  deps,
}: Pick<Call<'key', unknown>, 'params' | 'caller' | 'deps'>): Promise<WebhookDoc> {
  const webhook = await deps.store.webhooks.of(caller.organizationId, pathId(params, 'webhook_id'));
  if (!webhook) throw notFound('webhook');
  return webhook;
}
