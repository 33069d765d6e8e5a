/** A transformation of coordinates as in a PDF: `[a b c d e f]` (ISO 32000-1, 8.3.3). */
export type Matrix = readonly [number, number, number, number, number, number];

export const UPRIGHT: Matrix = [1, 0, 0, 1, 0, 0];

/** Returns the transformation that applies `n` and then `m`. */
export const multiply = (m: Matrix, n: Matrix): Matrix => [
  m[0] * n[0] + m[2] * n[1],
  m[1] * n[0] + m[3] * n[1],
  m[0] * n[2] + m[2] * n[3],
  m[1] * n[2] + m[3] * n[3],
  m[0] * n[4] + m[2] * n[5] + m[4],
  m[1] * n[4] + m[3] * n[5] + m[5],
];

/** Returns the six numbers of a transformation; null for anything else. */
export const asMatrix = (value: unknown): Matrix | null => {
  const numbers = Array.from((value ?? []) as ArrayLike<unknown>, Number);
  return numbers.length === 6 && numbers.every(Number.isFinite) ? (numbers as unknown as Matrix) : null;
};

/** Returns a point in the coordinates of the transformation's target. */
export const placePoint = (m: Matrix, x: number, y: number): readonly [x: number, y: number] => [
  m[0] * x + m[2] * y + m[4],
  m[1] * x + m[3] * y + m[5],
];

/** A rectangle given by two opposite corners: `x1` and `y1` are the smaller coordinates. */
export interface Box {
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
}

/** Returns the box around a rectangle of the transformation's source, given as two opposite corners. */
export function placeBox(m: Matrix, [x1 = 0, y1 = 0, x2 = 0, y2 = 0]: readonly number[]): Box {
  const [[ax, ay], [bx, by]] = [placePoint(m, x1, y1), placePoint(m, x2, y2)];
  return { x1: Math.min(ax, bx), y1: Math.min(ay, by), x2: Math.max(ax, bx), y2: Math.max(ay, by) };
}

/** The operator codes of PDF.js that change the transformation. */
type Codes = Readonly<
  Record<'save' | 'restore' | 'transform' | 'paintFormXObjectBegin' | 'paintFormXObjectEnd', number>
>;

/** Follows the transformation over the operators of a page, so that shapes can be placed. */
export class Transformations {
  #now: Matrix;
  readonly #outer: Matrix[] = [];
  readonly #codes: Codes;

  constructor(start: Matrix, codes: Codes) {
    this.#now = start;
    this.#codes = codes;
  }

  get now(): Matrix {
    return this.#now;
  }

  /** Applies an operator. Returns whether the operator changes the transformation. */
  apply(operation: number, args: readonly unknown[] | null): boolean {
    const codes = this.#codes;
    if (operation === codes.save) this.#outer.push(this.#now);
    else if (operation === codes.restore || operation === codes.paintFormXObjectEnd)
      this.#now = this.#outer.pop() ?? this.#now;
    else if (operation === codes.transform) this.#now = multiply(this.#now, asMatrix(args) ?? UPRIGHT);
    else if (operation === codes.paintFormXObjectBegin) {
      this.#outer.push(this.#now);
      this.#now = multiply(this.#now, asMatrix(args?.[0]) ?? UPRIGHT);
    } else return false;
    return true;
  }
}
