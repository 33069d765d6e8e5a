import type { ItemCost, ItemStage } from '../contract/ledger.js';

/** How far a try of a file has come and what it took, for the ledger. Kept as the try goes on, so that a Fault finds it. */
export interface Account {
  stage: ItemStage;
  bytes: number;
  tokens: number;
  reused: number;
}

export const newAccount = (stage: ItemStage = 'fetch'): Account => ({ stage, bytes: 0, tokens: 0, reused: 0 });

export const costOf = ({ bytes, tokens, reused }: Account): ItemCost => ({ bytes, tokens, reused });
