import { createInterface } from 'node:readline';

import { CommandError } from './command.js';

/**
 * Writes a request to stderr and waits for Enter.
 * @throws CommandError at the end of the input, or after Ctrl-C
 */
export function waitForEnter(request: string, stopped: AbortSignal): Promise<void> {
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  return new Promise<void>((resolve, reject) => {
    const stop = (): void => reject(new CommandError('Stopped. Nothing was saved.'));
    stopped.addEventListener('abort', stop, { once: true });
    lines.once('line', () => resolve());
    lines.once('close', () =>
      reject(new CommandError('The input ended before Enter was pressed. Run the command in a terminal.')),
    );
    process.stderr.write(request);
  }).finally(() => lines.close());
}
