/** npm's commands, run as an operator runs them: in processes of their own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

import { waitFor } from './waitFor.js';

/** A start compiles the service and brings three engines up: minutes on a machine that others use. */
const START_MS = 280_000;

export interface NpmRun {
  /** npm's own process. */
  readonly child: ChildProcess;
  /** Everything printed so far, on both channels. */
  output(): string;
  /** Waits until a pattern is printed. @throws when the command ends first */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  /** npm's exit code (or signal), once it and every process that it started have closed their output. */
  readonly ended: Promise<number | NodeJS.Signals>;
}

/**
 * Runs a script of package.json under the umask that a shell has by default.
 * @param env its settings; of this process's environment it gets PATH and HOME alone
 */
export function npmRun(script: string, env: NodeJS.ProcessEnv, ...args: string[]): NpmRun {
  const { PATH, HOME } = process.env;
  // The user's own npm settings are no part of the project.
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
      const found = pattern.exec(output);
      if (!found) throw new Error(`npm run ${script} ended without printing ${pattern.source}:\n${output}`);
      return found;
    },
    ended,
  };
}
