import type { Shape } from '../pageMeasures.js';
import { BLOCK_ROWS } from './blockRows.js';
import { SHAPE_ROWS } from './shapeRows.js';

export const THRESHOLD = 2.88;

/** The points of a page's traits. */
interface Points {
  readonly points: ReadonlyMap<string, number>;
  /** Points of every block. */
  readonly all: number;
}

/** Cache of points by shapes: summing them for each page would take as long as scoring a short page. */
const pointsByName = new Map<string, Points>();
/** Maximum size of the cache. Most sites have pages of a few kinds. */
const MAX_KNOWN = 64;

/**
 * Returns the points of each trait on a page of these shapes: those of every page plus those of each shape. More points
 * than the threshold remove a block.
 */
export function pointsFor(shapes: readonly Shape[]): Points {
  const key = shapes.join();
  let found = pointsByName.get(key);
  if (found === undefined) {
    if (pointsByName.size >= MAX_KNOWN) pointsByName.clear();
    pointsByName.set(key, (found = sumPoints(shapes)));
  }
  return found;
}

function sumPoints(shapes: readonly Shape[]): Points {
  const points = new Map<string, number>(BLOCK_ROWS.flatMap((row) => row.points));
  let all = 0;
  for (const shape of shapes) {
    const rules = SHAPE_ROWS[shape];
    all += rules.all;
    for (const [trait, more] of rules.points) points.set(trait, (points.get(trait) ?? 0) + more);
  }
  return { points, all };
}
