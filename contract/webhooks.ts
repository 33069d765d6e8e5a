/** Webhook types that API, store and activities share. */
export const WEBHOOK_STATUSES = ['ACTIVE', 'FLAGGED'] as const;
export type WebhookStatus = (typeof WEBHOOK_STATUSES)[number];

/** PENDING: waits for its first or next attempt. FAILED: no further attempt is made. */
export const DELIVERY_STATUSES = ['PENDING', 'DELIVERED', 'FAILED'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Maximum number of webhooks per organization. */
export const MAX_WEBHOOKS = 3;

export const WEBHOOK_ORDERS = ['created_at', 'updated_at'] as const;
export type WebhookOrder = (typeof WEBHOOK_ORDERS)[number];

/** Filters, order and page of a list of webhooks; empty ids select all. */
export interface WebhookListing {
  readonly ids: readonly number[];
  readonly orderBy: WebhookOrder;
  readonly orderDir: 'asc' | 'desc';
  readonly page: { readonly limit: number; readonly offset: number; readonly startingId: number };
}

/** Returns the location of a signing key among the encrypted secrets. */
export const signingKeyPlace = (organizationId: number, webhookId: number) => ({
  organizationId,
  record: `webhook:${webhookId}`,
  field: 'signing_key',
});

/** Returns a sentence about a delivery that failed and will be retried. */
export const failureSentence = (failing: {
  readonly event: string;
  readonly tries: number;
  readonly error: string;
  readonly nextTryAt: Date | null;
}): string =>
  `${failing.event} failed ${failing.tries === 1 ? 'once' : `${failing.tries} times`}: ${failing.error}` +
  (failing.nextTryAt === null ? '' : ` Next attempt: ${failing.nextTryAt.toISOString()}.`);
