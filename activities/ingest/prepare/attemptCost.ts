import type { ItemCost, ItemStage } from '../../../contract/ledger.js';

/** How far a try of a file has come and what it took, for the ledger. Kept as the try goes on, so that a Fault finds it. */
export interface AttemptCost {
  stage: ItemStage;
  bytes: number;
  tokens: number;
  reused: number;
}

export const newAttemptCost = (stage: ItemStage = 'fetch'): AttemptCost => ({ stage, bytes: 0, tokens: 0, reused: 0 });

export const costOf = ({ bytes, tokens, reused }: AttemptCost): ItemCost => ({ bytes, tokens, reused });
