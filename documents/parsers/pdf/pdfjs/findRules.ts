import type * as Pdfjs from 'pdfjs-dist/legacy/build/pdf.mjs';
import { type Box, type Matrix, placePoint } from './matrix.js';

/** Maximum thickness in points of a rule (a drawn line): thicker rectangles are areas. */
const MAX_THICKNESS = 4;
/** Minimum length in points of a rule: shorter ones belong to symbols and drawings. */
const MIN_LENGTH = 6;
/** Maximum number of rules on a page: a page with more is a drawing, and has no tables that rules form. */
const MAX_RULES = 4000;
/** Maximum number of points of a path: a longer one is part of a drawing. */
const MAX_POINTS = 5 * MAX_RULES;

type Point = readonly [x: number, y: number];

/** Points of an outline, in the coordinates of the content. */
interface Outline {
  readonly points: Point[];
  isCurved: boolean;
}

/** Finds the horizontal and vertical lines that a page's operators draw. */
export class RuleFinder {
  readonly #OPS: typeof Pdfjs.OPS;
  readonly #rules: Box[] = [];
  #outlines: Outline[] = [];
  /** Number of points in the outlines. */
  #points = 0;

  constructor(OPS: typeof Pdfjs.OPS) {
    this.#OPS = OPS;
  }

  /** The lines in the page's user space; none for a drawing with very many. */
  get found(): readonly Box[] {
    return this.#isDrawing ? [] : this.#rules;
  }

  /** Number of lines found so far. */
  get count(): number {
    return this.#rules.length;
  }

  get #isDrawing(): boolean {
    return this.#rules.length > MAX_RULES;
  }

  /**
   * Applies an operator of the content.
   * @param toPage transformation from the content's coordinates to the page's user space
   */
  apply(operator: number, args: ArrayLike<unknown> | null, toPage: Matrix): void {
    const OPS = this.#OPS;
    if (operator < OPS.moveTo || operator > OPS.endPath || this.#isDrawing) return;
    switch (operator) {
      case OPS.moveTo:
        this.#begin([pointOf(args)]);
        break;
      case OPS.lineTo:
        this.#add(pointOf(args));
        break;
      case OPS.rectangle:
        this.#begin(corners(args));
        break;
      case OPS.curveTo:
      case OPS.curveTo2:
      case OPS.curveTo3:
        this.#outline().isCurved = true;
        break;
      case OPS.closePath:
        this.#close();
        break;
      case OPS.closeStroke:
      case OPS.closeFillStroke:
      case OPS.closeEOFillStroke:
        this.#close();
        this.#paint(true, toPage);
        break;
      case OPS.stroke:
      case OPS.fillStroke:
      case OPS.eoFillStroke:
        this.#paint(true, toPage);
        break;
      case OPS.fill:
      case OPS.eoFill:
        this.#paint(false, toPage);
        break;
      default:
        this.#end();
    }
  }

  #outline(): Outline {
    const last = this.#outlines.at(-1);
    if (last !== undefined) return last;
    this.#begin([]);
    return this.#outline();
  }

  #begin(points: Point[]): void {
    if (this.#points > MAX_POINTS) return;
    this.#outlines.push({ points, isCurved: false });
    this.#points += points.length;
  }

  #add(point: Point | undefined): void {
    if (point === undefined || this.#points > MAX_POINTS) return;
    this.#outline().points.push(point);
    this.#points += 1;
  }

  #close(): void {
    this.#add(this.#outlines.at(-1)?.points[0]);
  }

  #paint(isStroke: boolean, toPage: Matrix): void {
    const outlines = this.#points > MAX_POINTS ? [] : this.#outlines;
    for (const { points, isCurved } of outlines) {
      if (points.length < 2 || isCurved) continue;
      this.#rules.push(
        ...rulesOf(
          points.map(([x, y]) => placePoint(toPage, x, y)),
          isStroke,
        ),
      );
    }
    this.#end();
  }

  #end(): void {
    this.#outlines = [];
    this.#points = 0;
  }
}

const pointOf = (args: ArrayLike<unknown> | null): Point => [Number(args?.[0]), Number(args?.[1])];

function corners(args: ArrayLike<unknown> | null): Point[] {
  const [x, y] = pointOf(args);
  const [right, top] = [x + Number(args?.[2]), y + Number(args?.[3])];
  return [
    [x, y],
    [right, y],
    [right, top],
    [x, top],
    [x, y],
  ];
}

/**
 * Returns the rules that an outline forms. A thin outline is a rule. If a stroked outline is not thin, each of its
 * horizontal or vertical edges of sufficient length is a rule.
 */
function rulesOf(points: readonly Point[], isStroke: boolean): Box[] {
  const box = boxAround(points);
  if (isRule(box)) return [box];
  if (!isStroke) return [];
  return points.slice(1).flatMap((point, nth) => {
    const edge = boxAround([points[nth] ?? point, point]);
    return isRule(edge) ? [edge] : [];
  });
}

function boxAround(points: readonly Point[]): Box {
  const [x, y] = points[0] ?? [0, 0];
  const box = { x1: x, y1: y, x2: x, y2: y };
  for (const [px, py] of points) {
    if (px < box.x1) box.x1 = px;
    if (px > box.x2) box.x2 = px;
    if (py < box.y1) box.y1 = py;
    if (py > box.y2) box.y2 = py;
  }
  return box;
}

function isRule({ x1, y1, x2, y2 }: Box): boolean {
  const [short, long] = [Math.min(x2 - x1, y2 - y1), Math.max(x2 - x1, y2 - y1)];
  return short <= MAX_THICKNESS && long >= MIN_LENGTH && long > 2 * short;
}
