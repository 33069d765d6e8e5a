/** The command line, called in this process as a shell would call it. */
import { runCli } from '../../cli/run.js';

export interface CliRun {
  readonly code: number;
  /** Lines of its results. */
  readonly lines: readonly string[];
  /** What it said beside them. */
  readonly said: string;
  /** Its answer under --json. */
  json<T>(): T;
}

/** What a person sees who watches a command, until it is stopped as by Ctrl-C. */
export interface WatchedCli {
  /** All that was drawn so far. */
  drawn(): string;
  /** Resolves with the exit code. */
  stop(): Promise<number>;
}

/** Calls a command as from a terminal. */
export function watchCli(env: NodeJS.ProcessEnv, ...args: string[]): WatchedCli {
  const stopping = new AbortController();
  let drawn = '';
  const ended = runCli(args, {
    env,
    isInteractive: true,
    out: (line) => void (drawn += `${line}\n`),
    err: (text) => void (drawn += text),
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

/** @param env the settings of the service: nothing is taken from this process */
export async function cli(env: NodeJS.ProcessEnv, ...args: string[]): Promise<CliRun> {
  const lines: string[] = [];
  let said = '';
  const code = await runCli(args, {
    env,
    isInteractive: false,
    out: (line) => void lines.push(line),
    err: (text) => void (said += text),
    stopped: new AbortController().signal,
  });
  return { code, lines, said, json: <T>() => JSON.parse(lines.join('\n')) as T };
}
