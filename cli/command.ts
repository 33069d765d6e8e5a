import { parseArgs } from 'node:util';

/** Invalid arguments. Exit code 2. */
export class UsageError extends Error {}

/** A failed command. The message states what to do next. Exit code 1. */
export class CommandError extends Error {}

/** The environment of a command: its output, input and interrupt signal. */
export interface Terminal {
  readonly env: NodeJS.ProcessEnv;
  /** Whether the output is a terminal: progress is redrawn in place. */
  readonly isInteractive: boolean;
  /** Writes one line of the result. */
  readonly out: (line: string) => void;
  /** Writes progress and errors to stderr, unchanged. */
  readonly err: (text: string) => void;
  /** Shows a request to the user, and waits until Enter is pressed. @throws CommandError if there is no input */
  readonly waitForEnter: (request: string) => Promise<void>;
  /** Aborted by Ctrl-C. */
  readonly stopped: AbortSignal;
}

export interface Option {
  /** Placeholder of the value in the help; absent: the option has no value. */
  readonly value?: string;
  /** The option may be repeated. */
  readonly multiple?: true;
  readonly about: string;
}

/** One invocation of a command. */
export interface Call {
  readonly args: readonly string[];
  has(option: string): boolean;
  text(option: string): string | undefined;
  all(option: string): readonly string[];
  /** @throws UsageError unless the value is an integer of at least `min` */
  number(option: string, min?: number): number | undefined;
  readonly terminal: Terminal;
}

export interface Command {
  /**
   * Arguments after the command's name, as the help shows them: capitals for required ones, brackets for optional ones.
   */
  readonly usage: string;
  /** Description for the help. */
  readonly about: string;
  readonly options: Readonly<Record<string, Option>>;
  /** What to do after Ctrl-C, for commands that it ends early. */
  readonly afterInterrupt?: string;
  /** Returns the exit code; undefined: 0. */
  run(call: Call): Promise<number | void>;
}

export const JSON_OPTION = { json: { about: 'Prints JSON, for scripts.' } } as const satisfies Command['options'];
export const CUSTOMER_OPTION = {
  customer: { value: 'ID', about: 'The end user, by the id of your application (customer-id).' },
} as const satisfies Command['options'];
export const URL_OPTION = {
  url: { value: 'URL', about: 'URL of the API. Default: PUBLIC_URL, or http://HOST:PORT.' },
} as const satisfies Command['options'];

/** Parses the arguments of a command. @throws UsageError */
export function readCall(command: Command, given: readonly string[], terminal: Terminal): Call {
  const options = Object.fromEntries(
    Object.entries(command.options).map(([name, { value, multiple = false }]) => [
      name,
      { type: value === undefined ? ('boolean' as const) : ('string' as const), multiple },
    ]),
  );
  const { values, positionals } = parse(given, options);
  const words = command.usage.split(' ').filter((word) => word !== '');
  const required = words.filter((word) => !word.startsWith('[')).length;
  if (positionals.length < required || positionals.length > words.length)
    throw new UsageError(
      positionals.length < required ? `${words[positionals.length]} is missing` : 'too many arguments',
    );
  const all = (option: string): string[] => [values[option] ?? []].flat().map(String);
  const text = (option: string): string | undefined => all(option)[0];
  return {
    args: positionals,
    has: (option) => values[option] === true,
    all,
    text,
    number(option, min = 1) {
      const value = text(option);
      if (value === undefined) return undefined;
      if (!/^\d{1,15}$/.test(value) || Number(value) < min)
        throw new UsageError(`--${option} requires an integer of at least ${min}`);
      return Number(value);
    },
    terminal,
  };
}

function parse(args: readonly string[], options: NonNullable<Parameters<typeof parseArgs>[0]>['options'] & object) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    // The message names the option and the mistake.
    throw new UsageError((error as Error).message);
  }
}

/** Parses an id in the arguments. @throws UsageError */
export function idOf(text: string | undefined, what: string): number {
  if (text === undefined || !/^\d{1,15}$/.test(text)) throw new UsageError(`${what} must be a number`);
  return Number(text);
}
