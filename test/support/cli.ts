/** Runs the command line in this process. */
import { runCli } from '../../cli/run.js';

export interface CliRun {
  readonly code: number;
  /** Lines on stdout. */
  readonly lines: readonly string[];
  /** Text on stderr. */
  readonly stderr: string;
  /** Parses the output of --json. */
  json<T>(): T;
}

/** A running command of an interactive terminal, which ends when it is stopped, as by Ctrl-C. */
export interface WatchedCli {
  /** Returns everything printed so far. */
  drawn(): string;
  /** Stops the command and resolves with the exit code. */
  stop(): Promise<number>;
}

/** Runs a command as in an interactive terminal. */
export function watchCli(env: NodeJS.ProcessEnv, ...args: string[]): WatchedCli {
  const stopping = new AbortController();
  let drawn = '';
  const ended = runCli(args, {
    env,
    isInteractive: true,
    out: (line) => void (drawn += `${line}\n`),
    err: (text) => void (drawn += text),
    waitForEnter: () => Promise.resolve(),
    stopped: stopping.signal,
  });
  return {
    drawn: () => drawn,
    stop() {
      stopping.abort();
      return ended;
    },
  };
}

/** Runs a command without a terminal. @param env the settings of the service; nothing is inherited from this process */
export const cli = (env: NodeJS.ProcessEnv, ...args: string[]): Promise<CliRun> =>
  cliWithPerson(env, () => Promise.resolve(), ...args);

/**
 * Runs a command with a person who follows its instructions.
 * @param does receives each instruction before Enter is pressed
 */
export async function cliWithPerson(
  env: NodeJS.ProcessEnv,
  does: (request: string) => Promise<void>,
  ...args: string[]
): Promise<CliRun> {
  const lines: string[] = [];
  let stderr = '';
  const code = await runCli(args, {
    env,
    isInteractive: false,
    out: (line) => void lines.push(line),
    err: (text) => void (stderr += text),
    waitForEnter: does,
    stopped: new AbortController().signal,
  });
  return { code, lines, stderr, json: <T>() => JSON.parse(lines.join('\n')) as T };
}
