/** Words that API, store and activities share about webhooks. */
export const WEBHOOK_STATUSES = ['ACTIVE', 'FLAGGED'] as const;
export type WebhookStatus = (typeof WEBHOOK_STATUSES)[number];

/** PENDING: to be tried, again or for the first time. FAILED: given up. */
export const DELIVERY_STATUSES = ['PENDING', 'DELIVERED', 'FAILED'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Webhooks of an organization at most. */
export const MAX_WEBHOOKS = 3;

export const WEBHOOK_ORDERS = ['created_at', 'updated_at'] as const;
export type WebhookOrder = (typeof WEBHOOK_ORDERS)[number];

/** Which webhooks a list means; ids absent or empty means all. */
export interface WebhookListing {
  readonly ids: readonly number[];
  readonly orderBy: WebhookOrder;
  readonly orderDir: 'asc' | 'desc';
  readonly page: { readonly limit: number; readonly offset: number; readonly startingId: number };
}

/** A signing key's place among sealed secrets. */
export const signingKeyPlace = (organizationId: number, webhookId: number) => ({
  organizationId,
  record: `webhook:${webhookId}`,
  field: 'signing_key',
});

/** One sentence on a delivery that failed and is sent again. */
export const failureSentence = (failing: {
  readonly event: string;
  readonly tries: number;
  readonly error: string;
  readonly nextTryAt: Date | null;
}): string =>
  `${failing.event} failed ${failing.tries === 1 ? 'once' : `${failing.tries} times`}: ${failing.error}` +
  (failing.nextTryAt === null ? '' : ` Next try: ${failing.nextTryAt.toISOString()}.`);
