/** Signals that stop a process: Ctrl-C, `kill`, stopping a container. */

/**
 * npm forwards Ctrl-C to a process that has already received it from the terminal. A second signal within this time is
 * the same request.
 */
const SAME_REQUEST_MS = 1_000;
/** Exit code that shells report for a program ended by Ctrl-C. */
const INTERRUPT_EXIT_CODE = 130;

/** Calls `stop` at the first SIGINT or SIGTERM; a second request ends the process immediately with exit code 1. */
export const onStopSignal = (stop: () => void): void => onSignals(['SIGINT', 'SIGTERM'], stop, 1);

/** Calls `stop` at the first SIGINT; a second one ends the process immediately. SIGTERM always ends it immediately. */
export const onInterrupt = (stop: () => void): void => onSignals(['SIGINT'], stop, INTERRUPT_EXIT_CODE);

function onSignals(signals: readonly NodeJS.Signals[], stop: () => void, exitCode: number): void {
  let requestedAt: number | undefined;
  const handle = (): void => {
    const now = performance.now();
    if (requestedAt === undefined) {
      requestedAt = now;
      stop();
    } else if (now - requestedAt > SAME_REQUEST_MS) process.exit(exitCode);
  };
  for (const signal of signals) process.on(signal, handle);
}
