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
