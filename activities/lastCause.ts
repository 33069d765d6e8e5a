import type { FaultKind } from '../contract/failures.js';
import type { RunDoc } from '../store/runs/model.js';

/**
 * Returns why a run failed: the cause that its last attempt gave, or else the last one that is known.
 * @param cause undefined: the last attempt gave none
 */
export function lastCause(
  { lastError }: Pick<RunDoc, 'lastError'>,
  message: string,
  cause: FaultKind | null | undefined,
): { readonly message: string; readonly cause: FaultKind | null } {
  if (cause !== undefined || !lastError) return { message, cause: cause ?? null };
  return { message: lastError.message, cause: lastError.kind };
}
