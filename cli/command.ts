import { parseArgs } from 'node:util';

/** Arguments that can't be used. Exit code 2. */
export class UsageError extends Error {}

/** What a command could not do, in words that say what to do next. Exit code 1. */
export class CommandError extends Error {}

/** Where a command is called from. */
export interface Terminal {
  readonly env: NodeJS.ProcessEnv;
  /** Whether a person watches: bars are drawn in place. */
  readonly isInteractive: boolean;
  /** Results, a line each. */
  readonly out: (line: string) => void;
  /** What goes on, and what went wrong; written as it is. */
  readonly err: (text: string) => void;
  /** Ctrl-C. */
  readonly stopped: AbortSignal;
}

export interface Option {
  /** What stands for its value in the help; absent: it takes none. */
  readonly value?: string;
  /** It may be given several times. */
  readonly multiple?: true;
  readonly about: string;
}

/** A command as it was called. */
export interface Call {
  readonly args: readonly string[];
  has(option: string): boolean;
  text(option: string): string | undefined;
  all(option: string): readonly string[];
  /** @throws UsageError when it is no whole number from `min` on */
  number(option: string, min?: number): number | undefined;
  readonly terminal: Terminal;
}

export interface Command {
  /** Arguments after its name, as the help shows them; each in capitals is required, in brackets left out at will. */
  readonly usage: string;
  /** What it does and answers, for its help. */
  readonly about: string;
  readonly options: Readonly<Record<string, Option>>;
  /** The exit code; nothing: 0. */
  run(call: Call): Promise<number | void>;
}

export const JSON_OPTION = { json: { about: 'Answers JSON, for scripts.' } } as const satisfies Command['options'];
export const CUSTOMER_OPTION = {
  customer: { value: 'ID', about: 'The end user, by the name your application gave (customer-id).' },
} as const satisfies Command['options'];
export const URL_OPTION = {
  url: { value: 'URL', about: 'Where the API is. Unset: PUBLIC_URL, or http://HOST:PORT.' },
} as const satisfies Command['options'];

/** Reads the arguments of a command. @throws UsageError */
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
        throw new UsageError(`--${option} takes a whole number from ${min} on`);
      return Number(value);
    },
    terminal,
  };
}

function parse(args: readonly string[], options: NonNullable<Parameters<typeof parseArgs>[0]>['options'] & object) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    // It says which option, and what of it is wrong.
    throw new UsageError((error as Error).message);
  }
}

/** An id among the arguments. @throws UsageError */
export function idOf(text: string | undefined, what: string): number {
  if (text === undefined || !/^\d{1,15}$/.test(text)) throw new UsageError(`${what} is a number`);
  return Number(text);
}
