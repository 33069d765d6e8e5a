/** Signals that ask a process to end: Ctrl-C, `kill`, a container that is stopped. */

/**
 * npm forwards Ctrl-C to a process that the terminal has signalled already. A second signal this soon is the same
 * request.
 */
const SAME_REQUEST_MS = 1_000;
/** What a shell reports of a program that Ctrl-C ended. */
const INTERRUPTED = 130;

/** Calls `stop` at the first SIGINT or SIGTERM; a second request ends the process at once with exit code 1. */
export const onStopSignal = (stop: () => void): void => onSignals(['SIGINT', 'SIGTERM'], stop, 1);

/** Calls `stop` at the first SIGINT; a second one ends the process at once. SIGTERM always does. */
export const onInterrupt = (stop: () => void): void => onSignals(['SIGINT'], stop, INTERRUPTED);

function onSignals(signals: readonly NodeJS.Signals[], stop: () => void, exitCode: number): void {
  let askedAt: number | undefined;
  const handle = (): void => {
    const now = performance.now();
    if (askedAt === undefined) {
      askedAt = now;
      stop();
    } else if (now - askedAt > SAME_REQUEST_MS) process.exit(exitCode);
  };
  for (const signal of signals) process.on(signal, handle);
}
