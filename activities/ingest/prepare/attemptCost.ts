import type { ItemCost, ItemStage } from '../../../contract/runs/ledger.js';

/**
 * Stage and costs of an attempt on a file, for the ledger. Updated during the attempt, so that they are known after a
 * Fault.
 */
export interface AttemptCost {
  stage: ItemStage;
  bytes: number;
  tokens: number;
  /** Tokens whose vectors were reused. */
  reused: number;
}

export const newAttemptCost = (stage: ItemStage = 'fetch'): AttemptCost => ({ stage, bytes: 0, tokens: 0, reused: 0 });

export const costOf = ({ bytes, tokens, reused }: AttemptCost): ItemCost => ({ bytes, tokens, reused });
