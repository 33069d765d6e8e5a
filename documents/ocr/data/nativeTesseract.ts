import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

import { Fault } from '../../../contract/failures.js';
import { StartError } from '../../../contract/startError.js';
import { OCR_LANGUAGES } from '../../../contract/files/ocrLanguages.js';
import { installing, type LanguageData, nameOf } from './languageData.js';
import type { DataCode } from './packages.js';

/** An installed Tesseract. */
export interface NativeTesseract {
  /** Absolute path of the program. */
  readonly program: string;
  /** Such as `5.3.0`. */
  readonly version: string;
  /** Folder of its data, as `--list-langs` prints it. Null: not printed; the program finds it. */
  readonly dataFolder: string | null;
  /** Codes of the installed data that this service supports. */
  readonly codes: readonly DataCode[];
}

const TIMEOUT_MS = 30_000;
const NAME = process.platform === 'win32' ? 'tesseract.exe' : 'tesseract';
const INSTALL =
  'Install it (apt-get install tesseract-ocr), add its folder to PATH, or set OCR_ENGINE to wasm, which needs no installation.';
/** Minimum version: 3 has no neural engine. */
const MIN_VERSION = 4;

/**
 * Finds Tesseract and its languages (`tesseract --list-langs`).
 * @param searchPath folders, as in PATH
 * @param environment variables for the program; TESSDATA_PREFIX may name its data. Default: those of this process
 * @throws StartError that says what to install
 */
export async function findTesseract(searchPath: string, environment?: NodeJS.ProcessEnv): Promise<NativeTesseract> {
  const program = await findProgram(searchPath);
  if (program === null) throw new StartError(`OCR_ENGINE is native, but PATH has no program tesseract. ${INSTALL}`);
  const ask = async (option: string): Promise<string> => {
    const settings = { timeout: TIMEOUT_MS, ...(environment && { env: environment }) };
    const { stdout, stderr } = await promisify(execFile)(program, [option], settings).catch((error: unknown) => {
      throw new StartError(
        `OCR_ENGINE is native, but ${program} ${option} failed: ${(error as Error).message.trim()}. ${INSTALL}`,
      );
    });
    // Version 3 and some builds of 4 answer on standard error.
    return `${stdout}\n${stderr}`;
  };
  const version = /^tesseract v?(\d+[\d.]*)/m.exec(await ask('--version'))?.[1] ?? '0';
  if (Number.parseInt(version, 10) < MIN_VERSION)
    throw new StartError(
      `OCR_ENGINE is native, but ${program} is version ${version}, and 4 is the oldest supported one. ${INSTALL}`,
    );
  const list = await ask('--list-langs');
  const listed = new Set(list.split('\n').map((line) => line.trim()));
  const supported = ['osd', ...Object.keys(OCR_LANGUAGES)] as DataCode[];
  const codes = supported.filter((code) => listed.has(code));
  return { program, version, dataFolder: /available languages in "(.+)"/.exec(list)?.[1] ?? null, codes };
}

async function findProgram(searchPath: string): Promise<string | null> {
  for (const folder of searchPath.split(path.delimiter)) {
    const file = path.join(folder, NAME);
    // An empty or relative part of PATH would depend on the current folder.
    const isThere =
      path.isAbsolute(folder) &&
      (await access(file, constants.X_OK).then(
        () => true,
        () => false,
      ));
    if (isThere) return file;
  }
  return null;
}

/** Returns the codes that are not installed. Pages that need them fail with a message that names the package. */
export const notInstalled = ({ codes }: NativeTesseract, wanted: readonly DataCode[]): DataCode[] =>
  wanted.filter((code) => !codes.includes(code));

/** The languages of an installed Tesseract. Nothing is downloaded, because Tesseract belongs to the system. */
export const installedLanguages = ({ program, codes }: NativeTesseract): LanguageData => ({
  present: (wanted) => wanted.filter((code) => codes.includes(code)),
  ensure: (code) =>
    codes.includes(code)
      ? Promise.resolve()
      : Promise.reject(
          new Fault(
            'not_configured',
            `The OCR data of ${nameOf(code)} (${code}) is not installed for ${program}. Install it (${installing(code)}) and restart the workers, or leave the language out of OCR_LANGUAGES and \`ocr_languages\`.`,
          ),
        ),
  close: () => undefined,
});
