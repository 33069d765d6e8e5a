import type { Party } from '../fairQueue.js';
import type { EmbeddingUsage } from '../types.js';

interface Share extends EmbeddingUsage {
  readonly organizationId: number;
}

/**
 * Divides what a request took among the organizations it was made for; a part of none of them is left out.
 * @param told tokens as the provider counts them; null: as the items were counted
 */
export function divideUsage(
  items: readonly { readonly call: { readonly party: Party | undefined }; readonly tokens: number }[],
  told: number | null,
): Share[] {
  const counted = items.reduce((sum, item) => sum + item.tokens, 0);
  const factor = told === null || counted === 0 ? 1 : told / counted;
  const parts = new Map<number, number>();
  for (const { call, tokens } of items) {
    const id = call.party?.organizationId;
    if (id !== undefined) parts.set(id, (parts.get(id) ?? 0) + tokens);
  }
  return [...parts].map(([organizationId, tokens]) => ({ organizationId, requests: 1, tokens: tokens * factor }));
}
