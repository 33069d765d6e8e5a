import type { Terminal } from './command.js';

const WIDTH = 30;
/** Without a person who watches, lines are told only so often. */
const LINES_EVERY_MS = 10_000;
const UP = (lines: number): string => (lines > 0 ? `\u001B[${lines}A` : '');
const CLEAR_BELOW = '\u001B[0J';

/** A bar, with the numbers behind it. */
export function bar(done: number, total: number): string {
  const filled = total <= 0 ? 0 : Math.min(WIDTH, Math.floor((WIDTH * done) / total));
  return `${'='.repeat(filled)}${'-'.repeat(WIDTH - filled)} ${done}/${total}`;
}

/** Lines that are drawn over one another where a person watches, and now and then written out where none does. */
export interface Painter {
  paint(lines: readonly string[]): void;
  /** Leaves the last ones standing. */
  end(): void;
}

export function createPainter({ isInteractive, err }: Pick<Terminal, 'isInteractive' | 'err'>): Painter {
  let drawn = 0;
  let written = Date.now();
  let last = '';
  return {
    paint(lines) {
      const text = `${lines.join('\n')}\n`;
      if (isInteractive) {
        err(`${UP(drawn)}${CLEAR_BELOW}${text}`);
        drawn = lines.length;
      } else if (Date.now() - written >= LINES_EVERY_MS && text !== last) {
        err(text);
        written = Date.now();
        last = text;
      }
    },
    end() {
      drawn = 0;
    },
  };
}

/** Rows as columns of one width. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
