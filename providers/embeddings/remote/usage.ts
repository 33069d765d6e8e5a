import type { FairnessKey } from '../fairQueue.js';
import type { EmbeddingUsage } from '../types.js';

interface Share extends EmbeddingUsage {
  readonly organizationId: number;
}

/**
 * Divides the tokens of a request among its organizations; omits the tokens of items without an organization.
 * @param reported tokens reported by the provider; null: use the items' own counts
 */
export function divideUsage(
  items: readonly { readonly call: { readonly fairnessKey: FairnessKey | undefined }; readonly tokens: number }[],
  reported: number | null,
): Share[] {
  const counted = items.reduce((sum, item) => sum + item.tokens, 0);
  const factor = reported === null || counted === 0 ? 1 : reported / counted;
  const parts = new Map<number, number>();
  for (const { call, tokens } of items) {
    const id = call.fairnessKey?.organizationId;
    if (id !== undefined) parts.set(id, (parts.get(id) ?? 0) + tokens);
  }
  return [...parts].map(([organizationId, tokens]) => ({ organizationId, requests: 1, tokens: tokens * factor }));
}
