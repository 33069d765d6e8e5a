import type { ActivityDeps } from '../deps.js';

/**
 * Returns the milliseconds until the first unfinished file of the run is due; null if none is unfinished. If a limit
 * delays files of the run, returns at most `limitRecheckMs`, because the caller must then check the limits again.
 */
export async function msUntilDue({ store, settings }: ActivityDeps, runId: number): Promise<number | null> {
  const [next, delayed] = await Promise.all([store.files.nextDueTime(runId), store.files.hasDelayed(runId)]);
  const waits = [
    ...(next === null ? [] : [Math.max(0, next.getTime() - Date.now())]),
    ...(delayed ? [settings.limitRecheckMs] : []),
  ];
  return waits.length === 0 ? null : Math.min(...waits);
}
