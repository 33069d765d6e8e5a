/** Runs npm scripts as an operator does: as separate processes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

import { waitFor } from './waitFor.js';

/** Time limit in milliseconds. `npm start` compiles the service and starts three engines: minutes on a busy machine. */
const START_MS = 280_000;

export interface NpmRun {
  /** npm's own process. */
  readonly child: ChildProcess;
  /** Returns everything printed so far, on stdout and stderr. */
  output(): string;
  /** Waits until the output matches a pattern. @throws when the command ends first */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves with npm's exit code or signal when npm and all its child processes have closed their output. */
  readonly ended: Promise<number | NodeJS.Signals>;
}

/**
 * Runs a script of package.json with a shell's default umask.
 * @param env environment of the script; it inherits only PATH and HOME
 */
export function npmRun(script: string, env: NodeJS.ProcessEnv, ...args: string[]): NpmRun {
  const { PATH, HOME } = process.env;
  // Ignore the user's own npm settings.
  const npm = ['npm', 'run', '--silent', '--userconfig', '/dev/null', script, '--', ...args];
  const child = spawn('sh', ['-c', 'umask 022 && exec "$@"', 'sh', ...npm], {
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const channel of [child.stdout, child.stderr]) channel.on('data', (part: Buffer) => (output += part.toString()));
  let isOver = false;
  const ended = once(child, 'close').then(([code, signal]) => {
    isOver = true;
    return (code ?? signal) as number | NodeJS.Signals;
  });
  return {
    child,
    output: () => output,
    async printed(pattern) {
      await waitFor(
        () => isOver || pattern.test(output),
        (done) => done,
        START_MS,
      );
      const match = pattern.exec(output);
      if (!match) throw new Error(`npm run ${script} ended without printing ${pattern.source}:\n${output}`);
      return match;
    },
    ended,
  };
}
