import type { RunDoc } from '../store/models/runs.js';
import type { RunPosition } from '../store/runs/position.js';

/** Returns the position after a run, at which a list of active runs continues. */
export function positionAfter({ _id, startedAt }: RunDoc, previous: RunPosition | null): RunPosition | null {
  if (startedAt === null) return previous;
  const isSameTime = previous !== null && previous.startedAt.getTime() === startedAt.getTime();
  return { startedAt, ids: isSameTime ? [...previous.ids, _id] : [_id] };
}
