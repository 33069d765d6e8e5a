import type { WebhookDoc } from '../../store/models/webhooks.js';
import { notFound } from '../http/errors.js';
import type { Call } from '../http/operation.js';
import { pathId } from '../http/pathId.js';

/**
 * Returns the webhook whose id is in the path. @throws HttpError 404 if it does not exist or belongs to another
 * organization
 */
export async function webhookOf({
  params,
  caller,
  deps,
}: Pick<Call<'key', unknown>, 'params' | 'caller' | 'deps'>): Promise<WebhookDoc> {
  const webhook = await deps.store.webhooks.findInOrganization(caller.organizationId, pathId(params, 'webhook_id'));
  if (!webhook) throw notFound('webhook');
  return webhook;
}
