import { spawn } from 'node:child_process';

/** A message of a reader process to its parent: the process id of its program; null: none runs. */
export interface ProgramReport {
  readonly program: number | null;
}

export interface ProgramResult {
  readonly exitCode: number;
  readonly output: string;
  /** The end of its standard error. */
  readonly errors: string;
}

/** Maximum size of the output in bytes; the text of a full page takes about one megabyte. */
const MAX_OUTPUT = 64 * 1024 * 1024;
const ERROR_CHARACTERS = 2_000;

/**
 * Runs a program on behalf of a reader process. The program's process id is reported to the parent of this process, so
 * that the limits of time and memory include the program. When this process exits, it kills the program. If a signal
 * ends the program, this process ends too, and the document is retried like that of any reader that died.
 * @param input written to the program's standard input
 * @throws Error if the program cannot be started or writes too much
 */
export function runProgram(
  program: string,
  args: readonly string[],
  { input, env }: { readonly input: Uint8Array; readonly env: Readonly<Record<string, string>> },
): Promise<ProgramResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env: { ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
    const kill = (): void => void child.kill('SIGKILL');
    process.once('exit', kill);
    report({ program: child.pid ?? null });
    const output: Buffer[] = [];
    let size = 0;
    let errors = '';
    const settle = (act: () => void): void => {
      process.off('exit', kill);
      report({ program: null });
      act();
    };
    child.stdout.on('data', (part: Buffer) => {
      size += part.length;
      if (size <= MAX_OUTPUT) output.push(part);
      else {
        settle(() => reject(new Error(`${program} wrote more than ${MAX_OUTPUT} bytes`)));
        kill();
      }
    });
    child.stderr.setEncoding('utf8').on('data', (part: string) => {
      errors = (errors + part).slice(-ERROR_CHARACTERS);
    });
    // A program that ends early does not read all of its input; its exit code and messages state the reason.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    child.once('error', (error) => settle(() => reject(error)));
    child.once('close', (exitCode, signal) => {
      if (signal !== null && size <= MAX_OUTPUT) {
        process.stderr.write(errors);
        process.kill(process.pid, 'SIGKILL');
      }
      settle(() => resolve({ exitCode: exitCode ?? 1, output: Buffer.concat(output).toString('utf8'), errors }));
    });
  });
}

const report = (message: ProgramReport): void => void process.send?.(message);
