import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { loadConfig } from '../../config/config.js';
import { Fault } from '../../contract/failures.js';
import { createDocumentPool } from '../../documents/pool.js';
import type { DocumentPool } from '../../documents/types.js';
import { table } from '../report.js';
import {
  type SeparatedText,
  type SeparatedReference,
  separateOurs,
  separateReference,
  withoutRepeatedNames,
} from './conventions.js';
import { countWords, type Scores, scoreText } from './scores.js';

/**
 * Other programs: Python code that prints the Markdown of the file in its first argument. Installed programs are
 * compared.
 */
const BASELINES: Readonly<Record<string, string>> = {
  kreuzberg:
    'import kreuzberg,sys; print(kreuzberg.extract_file_sync(sys.argv[1], config=kreuzberg.ExtractionConfig(output_format="markdown")).content)',
  markitdown: 'import markitdown,sys; print(markitdown.MarkItDown().convert(sys.argv[1]).text_content)',
  pymupdf4llm: 'import pymupdf4llm,sys; print(pymupdf4llm.to_markdown(sys.argv[1]))',
};
const PYTHON = process.env['PYTHON'] ?? 'python3';
const BASELINE_TIMEOUT_MS = 150_000;
const MEASURES = ['recall', 'precision', 'nid', 'teds', 'mhs'] as const satisfies readonly (keyof Scores)[];
const OFFICE = ['DOCX', 'PPTX', 'XLSM', 'XLSX'];
/** Kinds of faults whose messages do not state what is wrong with the file. */
const UNHELPFUL_KINDS = new Set(['broken_content', 'parse_limit', 'internal']);

interface Outcome {
  readonly file: string;
  readonly format: string;
  readonly text: string | null;
  readonly error: string | null;
}

/**
 * Reads every file of a folder and returns a report in Markdown: one line per format, the files that failed without a
 * message about what is wrong with them, and for files with a reference (`name.md` or `name.ext.md` next to it or in
 * `groundtruth/`) how close the text is.
 */
export async function scoreFolder(folder: string, scratch: string, printLine: (line: string) => void): Promise<string> {
  const files = filesIn(folder);
  const settings = loadConfig({ DATA_DIR: scratch, SECRET_KEY: `k1:${randomBytes(32).toString('base64')}` });
  const pool = createDocumentPool(settings.documents);
  const outcomes: Outcome[] = [];
  try {
    for (const file of files) {
      outcomes.push(await readOne(pool, file));
      if (outcomes.length % 100 === 0) printLine(`${outcomes.length} of ${files.length} files`);
    }
  } finally {
    await pool.close();
  }
  const scored = outcomes.filter(({ file }) => referenceOf(file) !== null);
  const lines = [robustness(outcomes), ''];
  if (scored.length > 0) {
    const rows = rowsOf('allotrope', scored);
    for (const [who, program] of Object.entries(BASELINES)) {
      if (!isInstalled(who)) continue;
      printLine(who);
      const others = scored.map(({ file, format }) => ({
        file,
        format,
        text: baselineText(program, file),
        error: null,
      }));
      rows.push(...rowsOf(who, others));
    }
    lines.push(
      table(['who', 'set', 'files', 'without text', ...MEASURES], rows),
      '',
      describeSeparateParts(scored),
      '',
    );
    lines.push(
      table(
        ['what', ...MEASURES],
        scored.map((one) => [path.basename(one.file), ...cells([scoresOf(one)])]),
      ),
      '',
    );
  }
  return lines.join('\n');
}

/** Returns the files of a folder without the references among them. */
function filesIn(folder: string): string[] {
  const all = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.split(path.sep).includes('groundtruth'))
    .map(({ parentPath, name }) => path.join(parentPath, name));
  const references = new Set(all.map(referenceOf));
  return all.filter((file) => !references.has(file)).toSorted();
}

function referenceOf(file: string): string | null {
  const { dir, name, base, ext } = path.parse(file);
  if (ext === '.md') return null;
  const folders = [dir, path.join(dir, 'groundtruth'), path.join(dir, '..', 'groundtruth')];
  return (
    folders.flatMap((one) => [path.join(one, `${base}.md`), path.join(one, `${name}.md`)]).find(existsSync) ?? null
  );
}

async function readOne(pool: DocumentPool, file: string): Promise<Outcome> {
  const input = { bytes: new Uint8Array(), path: file, contentType: null, name: path.basename(file), baseUrl: null };
  const ending = path.extname(file).slice(1).toUpperCase() || 'none';
  try {
    const html = { tags: [], classes: [], selectors: [] };
    const chunking = { chunkSize: 400, chunkOverlap: 0, prefix: null };
    const { text, format } = await pool.process({ ...input, html }, chunking);
    if (typeof text === 'string') return { file, format, text, error: null };
    const whole = text.slice(0, text.length);
    text.close();
    return { file, format, text: whole, error: null };
  } catch (error) {
    const kind = error instanceof Fault ? error.kind : 'internal';
    return {
      file,
      format: ending,
      text: null,
      error: `${kind}: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

/** Returns one line per format, and every file whose error does not state what is wrong with it. */
function robustness(outcomes: readonly Outcome[]): string {
  const formats = [...new Set(outcomes.map(({ format }) => format))].toSorted();
  const kindOf = ({ error }: Outcome): string => error?.split(':')[0] ?? '';
  const rows = formats.map((format) => {
    const ofFormat = outcomes.filter((one) => one.format === format);
    const failed = ofFormat.filter(({ error }) => error !== null);
    const bad = failed.filter((one) => UNHELPFUL_KINDS.has(kindOf(one)));
    return [
      format,
      String(ofFormat.length),
      String(ofFormat.length - failed.length),
      String(failed.length - bad.length),
      String(bad.length),
    ];
  });
  const listed = outcomes
    .filter((one) => UNHELPFUL_KINDS.has(kindOf(one)))
    .map(({ file, error }) => `- ${path.basename(file)}: ${error}`);
  return [table(['what', 'files', 'read', 'refused', 'broken, crash or time-out'], rows), '', ...listed].join('\n');
}

const wordCount = (lines: readonly string[]): number => lines.join(' ').split(' ').filter(Boolean).length;

/**
 * Returns a sentence with the numbers of words in the separated parts: of the references, of our texts, and of both.
 */
function describeSeparateParts(outcomes: readonly Outcome[]): string {
  let [wanted, found, ours, others] = [0, 0, 0, 0];
  for (const outcome of outcomes) {
    const { reference, text } = separated(outcome);
    if (reference.separateParts.length === 0) others += wordCount(text.separateParts);
    else {
      const score = countWords(reference.separateParts.join(' '), text.separateParts.join(' '));
      wanted += score.wanted;
      found += score.common;
      ours += score.ours;
    }
  }
  return `Comments, headers, footers, notes of slides and data of charts are scored separately: ${found} of ${wanted} words of the references are found, among ${ours} of ours; ${others} words of ours are of files whose references omit them.`;
}

function separated({ file, text }: Outcome): { reference: SeparatedReference; text: SeparatedText } {
  const reference = separateReference(readFileSync(referenceOf(file) ?? '', 'utf8'));
  return { reference, text: separateOurs(text ?? '', reference) };
}

type Form = (text: string) => string;

function scoresOf(outcome: Outcome, form: Form = (text) => text): Scores {
  const { reference, text } = separated(outcome);
  return scoreText(form(reference.main), form(text.main));
}

const rowOf = (who: string, set: string, outcomes: readonly Outcome[], form?: Form): string[] => [
  who,
  set,
  String(outcomes.length),
  String(outcomes.filter(({ text }) => (text ?? '').trim() === '').length),
  ...cells(outcomes.map((outcome) => scoresOf(outcome, form))),
];

/**
 * Returns the rows of one program: of each format, and of all office files together. A file without text counts as 0. A
 * format of which the program reads no file is omitted, because the program does not support it.
 */
function rowsOf(who: string, outcomes: readonly Outcome[]): string[][] {
  const isRead = (format: string): boolean => outcomes.some((one) => one.format === format && one.text?.trim());
  const formats = [...new Set(outcomes.map(({ format }) => format))].filter(isRead).toSorted();
  const office = outcomes.filter(({ format }) => OFFICE.includes(format) && formats.includes(format));
  const isMixed = new Set(office.map(({ format }) => format)).size > 1;
  return [
    ...formats.map((format) =>
      rowOf(
        who,
        format,
        outcomes.filter((one) => one.format === format),
      ),
    ),
    ...(isMixed
      ? [
          rowOf(who, 'office files', office),
          rowOf(who, 'office files, without repeated column names', office, withoutRepeatedNames),
        ]
      : []),
  ];
}

/** Returns the mean of each measure over the files that have it. */
const cells = (scores: readonly Scores[]): string[] =>
  MEASURES.map((measure) => {
    const values = scores.map((one) => one[measure]).filter((value) => value !== null);
    return values.length === 0 ? '–' : (values.reduce((sum, value) => sum + value, 0) / values.length).toFixed(3);
  });

function isInstalled(module: string): boolean {
  try {
    return (
      execFileSync(PYTHON, ['-c', `import ${module}; print(${module}.__file__)`], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }).trim() !== 'None'
    );
  } catch {
    return false;
  }
}

function baselineText(program: string, file: string): string {
  try {
    return execFileSync(PYTHON, ['-c', program, file], {
      encoding: 'utf8',
      timeout: BASELINE_TIMEOUT_MS,
      maxBuffer: 200e6,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    return '';
  }
}
