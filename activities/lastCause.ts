import type { FaultKind } from '../contract/failures.js';
import type { RunDoc } from '../store/models/runs.js';

/**
 * Returns why a run failed: the cause that its last attempt reported, or else the last cause in its row.
 * @param message message of the last attempt
 * @param cause cause of the last attempt; null: unknown; undefined: the attempt reported none
 */
export function lastCause(
  { lastError }: Pick<RunDoc, 'lastError'>,
  message: string,
  cause: FaultKind | null | undefined,
): { readonly message: string; readonly cause: FaultKind | null } {
  if (cause !== undefined || !lastError) return { message, cause: cause ?? null };
  return { message: lastError.message, cause: lastError.kind };
}
