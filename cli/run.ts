import { explanationOf } from '../config/process/startFailure.js';
import { type Command, CommandError, readCall, type Terminal, UsageError } from './command.js';

interface Entry {
  readonly summary: string;
  /** Loads the command on demand: most commands need only a part of the service. */
  load(): Promise<Command>;
}

/**
 * Every command by name. `parseArgs` of Node parses the arguments. The package `commander` would replace only the help
 * below. It needs the options of a command before the command is loaded, so this table would have to repeat them.
 */
const COMMANDS: Readonly<Record<string, Entry>> = {
  status: {
    summary: 'shows whether the service is ready, and the files of users that are ready, in progress or failed',
    load: async () => (await import('./commands/status.js')).status,
  },
  search: {
    summary: 'searches as a user',
    load: async () => (await import('./commands/search.js')).search,
  },
  scrape: {
    summary: 'scrapes a site, or the pages of a sitemap, for a user',
    load: async () => (await import('./commands/scrape.js')).scrape,
  },
  doctor: {
    summary: 'checks this deployment, and prints the remedy for each problem',
    load: async () => (await import('./commands/doctor.js')).doctor,
  },
  reconcile: {
    summary: 'compares records with chunks, points and stored files, and repairs them on request',
    load: async () => (await import('./commands/reconcile.js')).reconcileCommand,
  },
  'vectors rebuild': {
    summary: 'rebuilds lost or damaged vectors from stored chunks',
    load: async () => (await import('./commands/rebuildVectors.js')).rebuildVectors,
  },
  backup: {
    summary: 'copies the data of the embedded engines into a folder',
    load: async () => (await import('./commands/backup.js')).backup,
  },
  restore: {
    summary: 'restores a backup',
    load: async () => (await import('./commands/restore.js')).restore,
  },
  'deployment renew': {
    summary: 'gives a restored copy its own deployment id',
    load: async () => (await import('./commands/deployment.js')).renewDeployment,
  },
  'org create': {
    summary: 'creates an organization and its first API key',
    load: async () => (await import('./commands/organizations.js')).createOrganization,
  },
  'org list': {
    summary: 'lists organizations',
    load: async () => (await import('./commands/organizations.js')).listOrganizations,
  },
  'key create': {
    summary: 'creates an additional API key of an organization',
    load: async () => (await import('./commands/keys.js')).createKey,
  },
  'key list': { summary: 'lists API keys', load: async () => (await import('./commands/keys.js')).listKeys },
  'key rotate': {
    summary: 'replaces an API key',
    load: async () => (await import('./commands/keys.js')).rotateKey,
  },
  'key revoke': { summary: 'revokes an API key', load: async () => (await import('./commands/keys.js')).revokeKey },
  'ocr fetch': {
    summary: 'downloads the data of OCR languages',
    load: async () => (await import('./commands/fetchOcr.js')).fetchOcr,
  },
  'source approve-deletions': {
    summary: 'lets the next listing of a data source delete missing files',
    load: async () => (await import('./commands/approveDeletions.js')).approveDeletions,
  },
  record: {
    summary: 'records an account of a source as a redacted test fixture, for contributors',
    load: async () => (await import('./commands/record.js')).record,
  },
};

const CALL = 'npm run cli --';
const HELP = ['-h', '--help', 'help'];

function overview(): string {
  const width = Math.max(...Object.keys(COMMANDS).map((name) => name.length));
  const rows = Object.entries(COMMANDS).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`);
  return [
    `Usage: ${CALL} COMMAND [OPTIONS]`,
    '',
    ...rows,
    '',
    `${CALL} COMMAND --help describes a command. The settings are those of the service (docs/settings.md); while npm start`,
    'runs on this machine, no setting is needed. Exit codes: 0 success, 1 failure or a problem was found, 2 invalid arguments.',
  ].join('\n');
}

function helpOf(name: string, { usage, about, options }: Command): string {
  const rows = Object.entries(options).map(([option, { value }]) => ({
    text: `--${option}${value === undefined ? '' : ` ${value}`}`,
    about: options[option]?.about ?? '',
  }));
  const width = Math.max(0, ...rows.map(({ text }) => text.length));
  return [
    `Usage: ${CALL} ${[name, usage, rows.length > 0 ? '[OPTIONS]' : ''].filter((part) => part !== '').join(' ')}`,
    '',
    about,
    ...(rows.length > 0 ? [''] : []),
    ...rows.map((row) => `  ${row.text.padEnd(width)}  ${row.about}`),
  ].join('\n');
}

/** Returns the words that were meant as a command: two if the first begins commands of two words, such as `org`. */
function unknownName([first = '', second = '']: readonly string[]): string {
  const beginsCommand = Object.keys(COMMANDS).some((name) => name.startsWith(`${first} `));
  return beginsCommand && second !== '' && !second.startsWith('-') ? `${first} ${second}` : first;
}

/** Runs the command in the arguments. @returns the exit code */
export async function runCli(args: readonly string[], terminal: Terminal): Promise<number> {
  const words = [args.slice(0, 2).join(' '), args[0] ?? ''];
  const name = words.find((word) => Object.hasOwn(COMMANDS, word));
  const entry = name === undefined ? undefined : COMMANDS[name];
  if (name === undefined || entry === undefined) {
    const asksForHelp = args.length === 0 || HELP.includes(args[0] ?? '');
    if (asksForHelp) terminal.out(overview());
    else terminal.err(`There is no command ${unknownName(args)}.\n\n${overview()}\n`);
    return asksForHelp && args.length > 0 ? 0 : 2;
  }
  const rest = args.slice(name.split(' ').length);
  const command = await entry.load();
  if (rest.some((word) => word === '-h' || word === '--help')) {
    terminal.out(helpOf(name, command));
    return 0;
  }
  try {
    return (await command.run(readCall(command, rest, terminal))) ?? 0;
  } catch (error) {
    if (error instanceof UsageError) {
      terminal.err(`${error.message}. See ${CALL} ${name} --help\n`);
      return 2;
    }
    if (terminal.stopped.aborted && command.afterInterrupt !== undefined && (error as Error).name === 'AbortError') {
      terminal.err(`Interrupted. ${command.afterInterrupt}\n`);
      return 1;
    }
    terminal.err(`${error instanceof CommandError ? error.message : explanationOf(error)}\n`);
    return 1;
  }
}
