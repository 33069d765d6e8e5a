import type { EmbeddingUsage } from '../types.js';

interface Share extends EmbeddingUsage {
  readonly party: unknown;
}

/**
 * Divides what a request took among the parties it was made for.
 * @param told tokens as the provider counts them; null: as the items were counted
 */
export function divideUsage(
  items: readonly { readonly call: { readonly party: unknown }; readonly tokens: number }[],
  told: number | null,
): Share[] {
  const counted = items.reduce((sum, item) => sum + item.tokens, 0);
  const factor = told === null || counted === 0 ? 1 : told / counted;
  const parts = new Map<unknown, number>();
  for (const { call, tokens } of items) parts.set(call.party, (parts.get(call.party) ?? 0) + tokens);
  return [...parts].map(([party, tokens]) => ({ party, requests: 1, tokens: tokens * factor }));
}
