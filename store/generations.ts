import type { Tenant } from './users/accept.js';

/** Generations of one file: those before a number, or exactly one. */
export interface GenerationScope extends Tenant {
  readonly fileId: number;
  readonly generations: { readonly below: number } | { readonly exactly: number };
}

export function inScope(generation: number, { generations }: Pick<GenerationScope, 'generations'>): boolean {
  return 'below' in generations ? generation < generations.below : generation === generations.exactly;
}

/** Returns the MongoDB filter of rows with tenant, file and generation. */
export const generationFilter = ({ organizationId, userId, fileId, generations }: GenerationScope) => ({
  organizationId,
  userId,
  fileId,
  generation: 'below' in generations ? { $lt: generations.below } : generations.exactly,
});
