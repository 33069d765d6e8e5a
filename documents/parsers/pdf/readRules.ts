import type * as Pdfjs from 'pdfjs-dist/legacy/build/pdf.mjs';
import { type Box, type Matrix, placePoint, Transformations } from './matrix.js';
import { operationsOfPdf } from './openPdf.js';

/** Maximum thickness in points of a rule (a drawn line): thicker rectangles are areas. */
const MAX_THICKNESS = 4;
/** Minimum length in points of a rule: shorter ones belong to signs and drawings. */
const MIN_LENGTH = 6;
/** Maximum number of rules on a page: a page with more is a drawing, and has no tables that rules form. */
const MAX_RULES = 4000;

/** Codes in the path data of PDF.js (DrawOPS in its src/shared/util.js), and how many numbers follow each. */
const MOVE = 0;
const LINE = 1;
const CLOSE = 4;
const NUMBERS: readonly number[] = [2, 2, 6, 4, 0];

type Operators = Pick<Awaited<ReturnType<Pdfjs.PDFPageProxy['getOperatorList']>>, 'fnArray' | 'argsArray'>;

/** Returns the horizontal and vertical lines that the operators of a page draw; none for a drawing with very many. */
export async function readRules({ fnArray, argsArray }: Operators, page: Matrix): Promise<Box[]> {
  const OPS = await operationsOfPdf();
  const strokes = new Set<number>([OPS.stroke, OPS.closeStroke, OPS.fillStroke, OPS.eoFillStroke, OPS.closeFillStroke]);
  const fills = new Set<number>([OPS.fill, OPS.eoFill]);
  const transformations = new Transformations(page, OPS);
  const rules: Box[] = [];
  for (const [nth, operation] of fnArray.entries()) {
    const args = argsArray[nth] as readonly unknown[] | null;
    if (transformations.apply(operation, args) || operation !== OPS.constructPath) continue;
    const [paint, data] = args ?? [];
    const isStroke = strokes.has(paint as number);
    if (!isStroke && !fills.has(paint as number)) continue;
    const path = (data as readonly unknown[] | undefined)?.[0];
    if (!ArrayBuffer.isView(path)) continue;
    for (const outline of outlinesOf(path as Float32Array, transformations.now))
      rules.push(...rulesOf(outline, isStroke));
    if (rules.length > MAX_RULES) return [];
  }
  return rules;
}

type Point = readonly [x: number, y: number];

/** Returns the points of each outline of a path on the page; an outline with curves is omitted. */
function outlinesOf(path: Float32Array, now: Matrix): Point[][] {
  const outlines: Point[][] = [];
  let points: Point[] = [];
  let isCurved = false;
  const end = (): void => {
    if (points.length > 1 && !isCurved) outlines.push(points);
    points = [];
    isCurved = false;
  };
  for (let at = 0; at < path.length;) {
    const code = path[at] ?? -1;
    const numbers = NUMBERS[code];
    if (numbers === undefined) break;
    if (code === MOVE) end();
    if (code === MOVE || code === LINE) points.push(placePoint(now, path[at + 1] ?? 0, path[at + 2] ?? 0));
    else if (code === CLOSE && points[0] !== undefined) points.push(points[0]);
    else isCurved = true;
    at += 1 + numbers;
  }
  end();
  return outlines;
}

/** Returns the rules that an outline forms: a thin area is one, and each straight edge of a stroked one. */
function rulesOf(points: readonly Point[], isStroke: boolean): Box[] {
  const box = boundingBox(points);
  if (isRule(box)) return [box];
  if (!isStroke) return [];
  return points.slice(1).flatMap((point, nth) => {
    const edge = boundingBox([points[nth] ?? point, point]);
    return isRule(edge) ? [edge] : [];
  });
}

const boundingBox = (points: readonly Point[]): Box => ({
  x1: Math.min(...points.map(([x]) => x)),
  y1: Math.min(...points.map(([, y]) => y)),
  x2: Math.max(...points.map(([x]) => x)),
  y2: Math.max(...points.map(([, y]) => y)),
});

function isRule({ x1, y1, x2, y2 }: Box): boolean {
  const [short, long] = [Math.min(x2 - x1, y2 - y1), Math.max(x2 - x1, y2 - y1)];
  return short <= MAX_THICKNESS && long >= MIN_LENGTH && long > 2 * short;
}
