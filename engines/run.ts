import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export interface RunOptions {
  readonly onLine?: (line: string) => void;
  readonly timeoutMs?: number;
}

const KEPT_LINES = 15;

/**
 * Runs a program until it ends, or stops it after `timeoutMs` (default 10 minutes). Returns the lines of its standard
 * output and standard error. The error of a failure contains the command and its last lines of output.
 */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { onLine, timeoutMs = 600_000 } = options;
  return new Promise((done, fail) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env: process.env });
    // spawn's own timeout is not used: for a program that does not exist its timer is never cleared (Node 20).
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      child.kill();
    }, timeoutMs);
    const lines: string[] = [];
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        lines.push(line);
        onLine?.(line);
      });
    }
    child.once('error', (error) => {
      clearTimeout(timer);
      fail(error);
    });
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      if (code === 0) return done(lines.join('\n'));
      const tail = lines.slice(-KEPT_LINES).join('\n');
      const how = isLate ? `did not end within ${timeoutMs / 1000} s` : `ended with ${signal ?? `code ${code}`}`;
      fail(new Error(`${command} ${args.join(' ')} ${how}:\n${tail}`));
    });
  });
}
