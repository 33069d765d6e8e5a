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

/** A command that runs as in an interactive terminal until it is stopped, as with Ctrl-C. */
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

/** Runs a command without a terminal. @param env the whole environment of the command, with the service's settings */
export const cli = (env: NodeJS.ProcessEnv, ...args: string[]): Promise<CliRun> =>
  cliWithPerson(env, () => Promise.resolve(), ...args);

/**
 * Runs a command that gives instructions to a person and waits for Enter after each.
 * @param followInstruction receives each instruction; Enter is pressed when its promise resolves
 */
export async function cliWithPerson(
  env: NodeJS.ProcessEnv,
  followInstruction: (request: string) => Promise<void>,
  ...args: string[]
): Promise<CliRun> {
  const lines: string[] = [];
  let stderr = '';
  const code = await runCli(args, {
    env,
    isInteractive: false,
    out: (line) => void lines.push(line),
    err: (text) => void (stderr += text),
    waitForEnter: followInstruction,
    stopped: new AbortController().signal,
  });
  return { code, lines, stderr, json: <T>() => JSON.parse(lines.join('\n')) as T };
}
