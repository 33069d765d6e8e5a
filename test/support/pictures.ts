import { createCanvas, type SKRSContext2D } from '@napi-rs/canvas';

/** A line of text in a picture, or the cells of a table row: the x position in pixels and the text of each. */
export type Drawn = string | readonly (readonly [x: number, text: string])[];

interface Drawing {
  readonly width?: number;
  readonly height?: number;
  /** Font size in pixels. */
  readonly size?: number;
  readonly font?: string;
  readonly type?: 'png' | 'jpeg';
  /** Draws further content under the text, before the text is drawn. */
  readonly paint?: (context: SKRSContext2D) => void;
}

const LEFT = 60;

/** Returns a picture of lines of black text on white. */
export function drawPicture(lines: readonly Drawn[], drawing: Drawing = {}): Uint8Array {
  const { width = 1200, height = 700, size = 32, font = 'DejaVu Sans', type = 'png', paint } = drawing;
  const canvas = createCanvas(width, height);
  const context = canvas.getContext('2d');
  context.fillStyle = '#fff';
  context.fillRect(0, 0, width, height);
  paint?.(context);
  context.fillStyle = '#000';
  context.font = `${size}px "${font}"`;
  let y = 2 * size;
  for (const line of lines) {
    if (typeof line === 'string') context.fillText(line, LEFT, y);
    else for (const [x, text] of line) context.fillText(text, x, y);
    y += 1.6 * size;
  }
  return Uint8Array.from(type === 'png' ? canvas.toBuffer('image/png') : canvas.toBuffer('image/jpeg', 90));
}
