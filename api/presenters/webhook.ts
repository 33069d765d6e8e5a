import type { WorkflowLink } from '../../contract/runs/temporalLinks.js';
import { eventId, eventPayload } from '../../contract/events.js';
import type { DeliveryDoc, WebhookDoc } from '../../store/models/webhooks.js';

/** Converts a webhook to its record in lists, without its key. */
export function presentWebhook(webhook: WebhookDoc) {
  return {
    id: webhook._id,
    organization_id: webhook.organizationId,
    url: webhook.url,
    status: webhook.status,
    status_reason: webhook.statusReason,
    created_at: webhook.createdAt.toISOString(),
    updated_at: webhook.updatedAt.toISOString(),
  };
}

/** Converts a delivery to its record with every attempt. */
export function presentDelivery(
  { position, organizationId, event, ...delivery }: DeliveryDoc,
  workflowLink: WorkflowLink,
) {
  return {
    id: position,
    event_id: eventId(organizationId, position),
    ...eventPayload(event, workflowLink),
    status: delivery.status,
    next_attempt_at: delivery.nextTryAt?.toISOString() ?? null,
    attempts: delivery.attempts.map(({ at, ms, statusCode, error }) => ({
      at: at.toISOString(),
      duration_ms: ms,
      status_code: statusCode,
      error,
    })),
    created_at: delivery.createdAt.toISOString(),
  };
}
