import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

import { Fault } from '../../../contract/failures.js';
import { OCR_LANGUAGES } from '../../../contract/files/ocrLanguages.js';
import { untilAborted } from '../../../contract/untilAborted.js';
import { byNpm, type Download, fetchPackage } from './fetchPackage.js';
import { type DataCode, packageOf, PACKAGES } from './packages.js';

/** Folder in which Linux distributions install Tesseract's data, by version. */
const SYSTEM = '/usr/share/tesseract-ocr';

export interface LanguageDataSettings {
  /** Folder of the data, created on demand. Files `<code>.traineddata.gz` that an operator puts there are used. */
  readonly folder: string;
  /** Receives a line when a download begins and ends. */
  readonly onProgress?: (line: string) => void;
  /** Default: npm. */
  readonly download?: Download;
}

/** The data of languages on this machine. */
export interface LanguageData {
  /** Returns which codes can be read now. */
  present(codes: readonly DataCode[]): DataCode[];
  /**
   * Downloads the data of a code unless it is present.
   * @throws Fault not_configured that names the language and what to do; the signal's reason
   */
  ensure(code: DataCode, signal: AbortSignal): Promise<void>;
  /** Ends the downloads. */
  close(): void;
}

/**
 * Creates a folder of data that npm downloads on demand. Data that npm or the system has installed is linked into it.
 * Parallel calls share a download. After a failed one, calls fail immediately for some minutes, because each page would
 * wait for another attempt.
 */
export function createLanguageData({
  folder,
  onProgress = () => undefined,
  download = byNpm,
}: LanguageDataSettings): LanguageData {
  const inProgress = new Map<DataCode, Promise<void>>();
  const failures = new Map<DataCode, { readonly fault: Fault; readonly until: number }>();
  const closing = new AbortController();
  const fileOf = (code: DataCode): string => path.join(folder, `${code}.traineddata.gz`);
  const isPresent = (code: DataCode): boolean => {
    if (existsSync(fileOf(code))) return true;
    const installed = installedFile(code);
    if (installed === null) return false;
    mkdirSync(folder, { recursive: true });
    // Replaces an existing link, which may point to an earlier location.
    const draft = path.join(folder, `draft-${randomUUID()}`);
    symlinkSync(installed, draft);
    renameSync(draft, fileOf(code));
    return true;
  };
  const fetch = async (code: DataCode): Promise<void> => {
    const found = PACKAGES[code];
    if (found === undefined) throw missing(code, folder, null);
    mkdirSync(folder, { recursive: true });
    onProgress(`Downloading the OCR data of ${nameOf(code)} (${found.megabytes} MB)`);
    try {
      // Without the signal of one caller: others may wait for the same download.
      await fetchPackage(code, found, fileOf(code), closing.signal, download);
    } catch (error) {
      const fault = missing(code, folder, error);
      failures.set(code, { fault, until: performance.now() + FAILED_MS });
      throw fault;
    }
    onProgress(`The OCR data of ${nameOf(code)} is ready`);
  };
  return {
    present: (codes) => codes.filter(isPresent),
    async ensure(code, signal) {
      if (isPresent(code)) return;
      const failed = failures.get(code);
      if (failed && performance.now() < failed.until) throw failed.fault;
      const fetching = inProgress.get(code) ?? fetch(code).finally(() => inProgress.delete(code));
      inProgress.set(code, fetching);
      await untilAborted(signal, fetching);
    },
    close: () => closing.abort(new Error('the document pool is closed')),
  };
}

const FAILED_MS = 300_000;

/** Returns the name of a language, or of the data that detects scripts, for messages. */
export const nameOf = (code: DataCode): string => (code === 'osd' ? 'script detection' : OCR_LANGUAGES[code].name);

/** Returns the file of a code that npm or the system has installed; null if neither has. */
function installedFile(code: DataCode): string | null {
  const candidates: string[] = [];
  try {
    const manifest = createRequire(import.meta.url).resolve(`${packageOf(code)}/package.json`);
    candidates.push(path.join(path.dirname(manifest), '4.0.0_best_int', `${code}.traineddata.gz`));
  } catch {
    // The package is not installed.
  }
  // npm's data is more accurate, so the system's data is used only for codes without a pinned package.
  if (PACKAGES[code] === undefined && existsSync(SYSTEM))
    for (const version of readdirSync(SYSTEM))
      candidates.push(path.join(SYSTEM, version, 'tessdata', `${code}.traineddata`));
  return candidates.find((file) => existsSync(file)) ?? null;
}

/** Returns the command that installs the data of a code on Debian and Ubuntu. */
export const installing = (code: DataCode): string => `apt-get install tesseract-ocr-${code.replace('_', '-')}`;

function missing(code: DataCode, folder: string, cause: unknown): Fault {
  const problem = `The OCR data of ${nameOf(code)} (${code}) is not on this machine`;
  const file = `or put ${code}.traineddata.gz into ${folder}`;
  if (PACKAGES[code] === undefined)
    return new Fault('not_configured', `${problem}. Install it (${installing(code)}), ${file}.`);
  const reason = cause instanceof Error ? `: ${reasonOf(cause)}` : '';
  return new Fault(
    'not_configured',
    `${problem} and could not be downloaded${reason}. Run "npm run cli -- ocr fetch ${code}" where npm reaches its registry, ${file}.`,
    { cause },
  );
}

/** Returns the reason of a failed download: npm's second line of errors, after the code. */
function reasonOf(error: Error & { readonly stderr?: unknown }): string {
  const lines = typeof error.stderr === 'string' ? [...error.stderr.matchAll(/^npm (?:error|ERR!) (.+)$/gm)] : [];
  return (lines[1]?.[1] ?? lines[0]?.[1] ?? error.message.split('\n', 1)[0] ?? '').slice(0, 200);
}
