/** Result of one check. */
export interface Check {
  readonly name: string;
  /** `warn`: works, but needs attention. `skipped`: another problem must be fixed first. */
  readonly state: 'ok' | 'warn' | 'bad' | 'skipped';
  /** The finding, as a short phrase. */
  readonly found: string;
  /** The remedy. */
  readonly fix?: string;
}

export const ok = (name: string, found: string): Check => ({ name, state: 'ok', found });
export const warn = (name: string, found: string, fix: string): Check => ({ name, state: 'warn', found, fix });
export const bad = (name: string, found: string, fix: string): Check => ({ name, state: 'bad', found, fix });
export const skipped = (name: string, found: string): Check => ({ name, state: 'skipped', found });

export const messageOf = (error: unknown): string => {
  const { cause, message } = error as Error;
  return cause instanceof Error && cause.message !== '' ? `${message}: ${cause.message}` : message;
};

/** Returns the exit code of the command: 1 if a check is bad. Warnings and skipped checks do not count as failures. */
export const exitCodeOf = (checks: readonly Pick<Check, 'state'>[]): number =>
  checks.some(({ state }) => state === 'bad') ? 1 : 0;
