import { Fault, type FaultKind } from '../../../contract/failures.js';
import { untilAborted } from '../../../contract/untilAborted.js';
import { CHECK_STATUSES, type CheckStatus } from '../../schemas/diagnosis.js';

/** Result of checking one part of a connection. */
export interface Finding {
  readonly status: CheckStatus;
  readonly message: string;
  /** The remedy, or a note that no action is needed; null if there is nothing to add. */
  readonly fix: string | null;
  readonly details: Readonly<Record<string, unknown>>;
}

export interface Check extends Finding {
  readonly name: string;
}

type Details = Finding['details'];
export const ok = (message: string, details: Details = {}): Finding => ({ status: 'ok', message, fix: null, details });
export const warn = (message: string, fix: string | null, details: Details = {}): Finding => ({
  ...{ status: 'warn', message, fix, details },
});
export const bad = (message: string, fix: string, details: Details = {}): Finding => ({
  ...{ status: 'bad', message, fix, details },
});

const WAIT = 'No action is needed: waiting requests continue when the rate limit ends.';
const RETRY_LATER = 'Diagnose again in a few minutes; if the problem persists, check the status page of the source.';

/** Remedies for errors that a caller can fix. */
const FIXES: Partial<Readonly<Record<FaultKind, string>>> = {
  rate_limited: WAIT,
  access_denied: 'Give the connected account access at the source, or connect one that has it.',
  not_found:
    'Check whether the connected site, organization or account still exists at the source, then connect it again.',
  not_configured:
    'The operator of this service must correct OAUTH_CLIENTS, the white label, or the client at the source. Then diagnose again.',
  address_refused: 'The operator must add the host to ALLOWED_PRIVATE_HOSTS, if it may be called.',
  unreachable: RETRY_LATER,
  timed_out: RETRY_LATER,
  dns_failed: RETRY_LATER,
  server_error: RETRY_LATER,
};

/** @param connectAgain remedy for invalid credentials */
export function findingOf(fault: Fault, connectAgain: string): Finding {
  const { kind, message, retryable, retryAfterMs } = fault;
  const fix = kind === 'access_revoked' ? connectAgain : (FIXES[kind] ?? 'The operator must check the log of the API.');
  const details = {
    cause: kind,
    ...(retryAfterMs === null ? {} : { retry_at: new Date(Date.now() + retryAfterMs).toISOString() }),
  };
  return { status: retryable ? 'warn' : 'bad', message, fix, details };
}

export interface CheckContext {
  readonly signal: AbortSignal;
  readonly connectAgain: string;
  /** Returns the result if the time limit is exceeded. */
  onTimeout(): Promise<Finding>;
  /** Returns the result for an error that is not a Fault: only the operator can fix it. */
  onError(error: unknown): Finding;
}

/** Runs one check. Any error becomes its result, so checks do not affect one another. */
export async function runCheck(
  name: string,
  { signal, connectAgain, onTimeout, onError }: CheckContext,
  check: () => Promise<Finding>,
): Promise<Check> {
  const outcome = async (): Promise<Finding> => {
    try {
      return await untilAborted(signal, check());
    } catch (error) {
      if (error instanceof Fault) return findingOf(error, connectAgain);
      return signal.aborted ? onTimeout() : onError(error);
    }
  };
  return { name, ...(await outcome()) };
}

/** Returns the worst of several results. */
export const worstOf = (checks: readonly Pick<Check, 'status'>[]): CheckStatus =>
  CHECK_STATUSES.findLast((status) => checks.some((check) => check.status === status)) ?? 'ok';
