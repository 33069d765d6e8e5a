import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readlinkSync, renameSync, symlinkSync } from 'node:fs';
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
  /** Folder of the system's data, by version. Default: that of Linux distributions. */
  readonly systemFolder?: string;
  /** Whether a failed download is an error even if the system has the data. Default false. */
  readonly mustDownload?: boolean;
}

/** The data of languages on this machine. */
export interface LanguageData {
  /** Returns which codes can be read now. */
  present(codes: readonly DataCode[]): DataCode[];
  /**
   * Downloads the data of a code unless it is present. If that fails, the system's data is used.
   * @throws Fault not_configured that names the language and what to do; the signal's reason
   */
  ensure(code: DataCode, signal: AbortSignal): Promise<void>;
  /** Ends the downloads. */
  close(): void;
}

/**
 * Creates a folder of data that npm downloads on demand. Data that npm or the system has installed is linked into it.
 * Parallel calls share a download. After a failed one, the system's data is used until the process ends. If there is
 * none, calls fail immediately for some minutes, because each page would wait for another attempt.
 */
export function createLanguageData({
  folder,
  onProgress = () => undefined,
  download = byNpm,
  systemFolder = SYSTEM,
  mustDownload = false,
}: LanguageDataSettings): LanguageData {
  const inProgress = new Map<DataCode, Promise<void>>();
  const failures = new Map<DataCode, { readonly fault: Fault; readonly until: number }>();
  const closing = new AbortController();
  const fileOf = (code: DataCode): string => path.join(folder, `${code}.traineddata.gz`);
  /** Codes with a package whose download failed in this process: the system's data is used. */
  const fallbacks = new Set<DataCode>();
  const link = (code: DataCode, target: string): void => {
    mkdirSync(folder, { recursive: true });
    // Replaces an existing link, which may point to an earlier location.
    const draft = path.join(folder, `draft-${randomUUID()}`);
    symlinkSync(target, draft);
    renameSync(draft, fileOf(code));
  };
  const isPresent = (code: DataCode): boolean => {
    // npm's data is more accurate. The system's is used for a code with a package only after a failed download, and a
    // link that another process left after its own failed download does not prevent a new one.
    const usesSystem = PACKAGES[code] === undefined || fallbacks.has(code);
    if (existsSync(fileOf(code)) && (usesSystem || !isLinkInto(systemFolder, fileOf(code)))) return true;
    const installed = fileOfPackage(code) ?? (usesSystem ? systemFile(systemFolder, code) : null);
    if (installed === null) return false;
    link(code, installed);
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
      const installed = mustDownload || closing.signal.aborted ? null : systemFile(systemFolder, code);
      if (installed !== null) {
        fallbacks.add(code);
        link(code, installed);
        onProgress(
          `The OCR data of ${nameOf(code)} could not be downloaded: ${reasonOf(error)}. Until the next start, the ` +
            `system's data is used, which is less accurate: ${installed}`,
        );
        return;
      }
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

/** Returns the data of a code in its installed npm package; null if that is not installed. */
function fileOfPackage(code: DataCode): string | null {
  try {
    const manifest = createRequire(import.meta.url).resolve(`${packageOf(code)}/package.json`);
    const file = path.join(path.dirname(manifest), '4.0.0_best_int', `${code}.traineddata.gz`);
    return existsSync(file) ? file : null;
  } catch {
    // The package is not installed.
    return null;
  }
}

/** Returns the system's data of a code; null if it is not installed. */
function systemFile(systemFolder: string, code: DataCode): string | null {
  if (!existsSync(systemFolder)) return null;
  const files = readdirSync(systemFolder).map((version) =>
    path.join(systemFolder, version, 'tessdata', `${code}.traineddata`),
  );
  return files.find((file) => existsSync(file)) ?? null;
}

function isLinkInto(folder: string, file: string): boolean {
  try {
    return readlinkSync(file).startsWith(`${folder}${path.sep}`);
  } catch {
    // A file, not a link.
    return false;
  }
}

/** Returns the command that installs the data of a code on Debian and Ubuntu. */
export const installing = (code: DataCode): string => `apt-get install tesseract-ocr-${code.replace('_', '-')}`;

function missing(code: DataCode, folder: string, cause: unknown): Fault {
  const problem = `The OCR data of ${nameOf(code)} (${code}) is not on this machine`;
  const file = `or put ${code}.traineddata.gz into ${folder}`;
  if (PACKAGES[code] === undefined)
    return new Fault('not_configured', `${problem}. Install it (${installing(code)}), ${file}.`);
  return new Fault(
    'not_configured',
    `${problem} and could not be downloaded: ${reasonOf(cause)}. Run "npm run cli -- ocr fetch ${code}" where npm reaches its registry, install the system's data (${installing(code)}), ${file}.`,
    { cause },
  );
}

/** Returns the reason of a failed download: npm's second line of errors, after the code. */
function reasonOf(error: unknown): string {
  const { stderr, message } = error as Error & { readonly stderr?: unknown };
  const lines = typeof stderr === 'string' ? [...stderr.matchAll(/^npm (?:error|ERR!) (.+)$/gm)] : [];
  return (lines[1]?.[1] ?? lines[0]?.[1] ?? message.split('\n', 1)[0] ?? '').slice(0, 200);
}
