import type { ActivityDeps } from '../deps.js';

/**
 * Milliseconds until the first of the run's open files is due, null when none is open. Those that a limit holds back
 * are looked at again and again.
 */
export async function dueIn({ store, settings }: ActivityDeps, runId: number): Promise<number | null> {
  const [next, delayed] = await Promise.all([store.files.nextDue(runId), store.files.hasDelayed(runId)]);
  const waits = [
    ...(next === null ? [] : [Math.max(0, next.getTime() - Date.now())]),
    ...(delayed ? [settings.limitRecheckMs] : []),
  ];
  return waits.length === 0 ? null : Math.min(...waits);
}
