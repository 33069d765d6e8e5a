import type { Terminal } from './command.js';

const WIDTH = 30;
/** Interval between progress lines without a terminal. */
const LINES_EVERY_MS = 10_000;
const UP = (lines: number): string => (lines > 0 ? `\u001B[${lines}A` : '');
const CLEAR_BELOW = '\u001B[0J';

/** Returns a progress bar followed by its numbers. It is empty while the total is 0. */
export function bar(done: number, total: number): string {
  const filled = total <= 0 ? 0 : Math.min(WIDTH, Math.floor((WIDTH * done) / total));
  return `${'='.repeat(filled)}${'-'.repeat(WIDTH - filled)} ${done}/${total}`;
}

/**
 * Shows progress: redraws lines in a terminal, elsewhere writes changed lines every ten seconds at most, and the last
 * lines at the end if there were earlier ones.
 */
export interface ProgressDisplay {
  paint(lines: readonly string[]): void;
  /** Keeps the last lines on the screen; the next `paint` starts below them. */
  end(): void;
}

export function createProgressDisplay({
  isInteractive,
  err,
}: Pick<Terminal, 'isInteractive' | 'err'>): ProgressDisplay {
  let drawnLines = 0;
  let writtenAt = Date.now();
  let lastText = '';
  let paintedText = '';
  return {
    paint(lines) {
      const text = `${lines.join('\n')}\n`;
      paintedText = text;
      if (isInteractive) {
        err(`${UP(drawnLines)}${CLEAR_BELOW}${text}`);
        drawnLines = lines.length;
      } else if (Date.now() - writtenAt >= LINES_EVERY_MS && text !== lastText) {
        err(text);
        writtenAt = Date.now();
        lastText = text;
      }
    },
    end() {
      drawnLines = 0;
      // Otherwise the last line would show an unfinished state.
      if (lastText !== '' && paintedText !== lastText) err(paintedText);
      lastText = '';
    },
  };
}

/** Formats rows as aligned columns. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
