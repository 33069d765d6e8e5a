import { execFileSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { writeReport } from './writeReport.js';

const RESULTS = fileURLToPath(new URL('results.md', import.meta.url));

export interface Throughput {
  readonly who: string;
  readonly what: string;
  readonly pages: number;
  readonly pagesPerSecond: number;
  readonly cpuMsPerPage: number;
  readonly peakBytes: number;
  readonly chunks: number | null;
  readonly note?: string;
}

export interface Figure {
  readonly what: string;
  readonly measured: string;
  readonly target: string;
  /** Null if there is no target. */
  readonly met: boolean | null;
}

/** Collects the measurements and writes them as Markdown. */
export interface Report {
  throughput(row: Throughput): void;
  figure(what: string, measured: string, target?: string, met?: boolean | null): void;
  note(line: string): void;
  /** Returns all measurements so far as Markdown. */
  text(): string;
  write(): Promise<void>;
}

/** Columns that are aligned to the left. */
const LEFT_ALIGNED = new Set(['who', 'what', 'mode', 'plan', 'tokenizer', 'measure', 'list', 'page']);

/** Returns a table in Markdown, with figures aligned to the right. */
export function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = columns.map((name, index) => Math.max(name.length, ...rows.map((row) => row[index]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, index) => (LEFT_ALIGNED.has(columns[index] ?? '') ? cell.padEnd(widths[index] ?? 0) : cell.padStart(widths[index] ?? 0))).join(' | ')} |`;
  const rule = `|${columns.map((name, index) => `${'-'.repeat((widths[index] ?? 0) + 1)}${LEFT_ALIGNED.has(name) ? '-' : ':'}`).join('|')}|`;
  return [line(columns), rule, ...rows.map(line)].join('\n');
}

export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;

function commit(): string {
  try {
    const cwd = fileURLToPath(new URL('..', import.meta.url));
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
      cwd,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return 'unknown';
  }
}

/** Returns the commit, the version of Node and the machine of a measurement. */
export const environment = (): string =>
  `commit ${commit()} · Node ${process.version} · ${cpus().length} cores (${cpus()[0]?.model.trim() ?? 'unknown'}) · ${megabytes(totalmem())}`;

/** Starts the report of a run. */
export function createReport(form: 'full' | 'quick'): Report {
  const runs: Throughput[] = [];
  const figures: Figure[] = [];
  const notes: string[] = [];
  const startedAt = new Date();

  const text = (): string =>
    [
      '# Bench',
      '',
      `${startedAt.toISOString()} · ${form} form, ${((Date.now() - startedAt.getTime()) / 60_000).toFixed(1)} minutes · ${environment()}`,
      '',
      table(
        ['who', 'what', 'pages', 'pages/s', 'CPU ms per page', 'peak memory', 'chunks'],
        runs.map((run) => [
          run.who,
          run.what,
          String(run.pages),
          run.pagesPerSecond.toFixed(1),
          run.cpuMsPerPage.toFixed(1),
          megabytes(run.peakBytes),
          run.chunks === null ? '–' : String(run.chunks),
        ]),
      ),
      '',
      table(
        ['measure', 'measured', 'target', 'met'],
        figures.map(({ what, measured, target, met }) => [
          what,
          measured,
          target,
          met === null ? '' : met ? 'yes' : 'MISSED',
        ]),
      ),
      '',
      ...notes.map((note) => `- ${note}`),
      '',
    ].join('\n');

  return {
    throughput: (row) => void runs.push(row),
    figure: (what, measured, target = '', met = null) => void figures.push({ what, measured, target, met }),
    note: (line) => void notes.push(line),
    text,
    write: () => writeReport(RESULTS, text()),
  };
}
