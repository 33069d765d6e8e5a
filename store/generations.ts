import type { Tenant } from './users/accept.js';

/** Generations of one file: those before a number, or one alone. */
export interface GenerationScope extends Tenant {
  readonly fileId: number;
  readonly generations: { readonly below: number } | { readonly exactly: number };
}

export function inScope(generation: number, { generations }: Pick<GenerationScope, 'generations'>): boolean {
  return 'below' in generations ? generation < generations.below : generation === generations.exactly;
}
