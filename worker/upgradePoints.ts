import { periodically } from '../config/process/periodically.js';
import type { Log } from '../observability/log.js';
import type { Store } from '../store/connect.js';

const PAUSE_MS = 10_000;

/** Brings the points of earlier versions to this one, beside all other work, and as often as it takes: Qdrant may be away at first. */
export async function upgradePoints(
  { upgradePoints: upgrade }: Pick<Store, 'upgradePoints'>,
  log: Log,
  signal: AbortSignal,
  pauseMs = PAUSE_MS,
): Promise<void> {
  const attempt = async (): Promise<number> => {
    await upgrade(signal);
    return Infinity;
  };
  const onError = (error: unknown): void =>
    log.warn({ err: error }, 'the points of an earlier version could not be completed yet; this is tried again');
  await periodically(attempt, { intervalMs: pauseMs, signal, onError });
}
