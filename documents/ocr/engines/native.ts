import { Fault } from '../../../contract/failures.js';
import type { EngineChoice, OcrEngine } from './engine.js';
import { readHocr } from './readHocr.js';
import { type ProgramResult, runProgram } from './runProgram.js';

/** One thread: pages are read in parallel instead, and threads for one page use more processor time. */
const ENVIRONMENT = { OMP_THREAD_LIMIT: '1', LC_ALL: 'C' };
/** The neural engine, as for WASM. */
const NEURAL = '1';
const DETECT_ONLY = '0';
const MESSAGE_CHARACTERS = 400;

/**
 * Returns the installed Tesseract. Each picture starts the program once.
 *
 * Its output is hOCR, because TSV does not state the height of a line's font, by which headings are found.
 */
export function nativeEngine({ program, dataFolder }: Extract<EngineChoice, { kind: 'native' }>): OcrEngine {
  const data = dataFolder === null ? [] : ['--tessdata-dir', dataFolder];
  const run = (picture: Uint8Array, options: readonly string[]): Promise<ProgramResult> =>
    runProgram(program, ['stdin', 'stdout', ...data, ...options], { input: picture, env: ENVIRONMENT });
  return {
    async read(picture, language) {
      const options = ['-l', language, '--oem', NEURAL, '-c', 'tessedit_create_hocr=1'];
      const { exitCode, output, errors } = await run(picture, options);
      if (exitCode !== 0) throw failed(errors);
      return readHocr(output);
    },
    async detectScript(picture) {
      const { exitCode, output, errors } = await run(picture, ['-l', 'osd', '--psm', DETECT_ONLY]);
      if (exitCode === 0) return /^Script: (\S+)/m.exec(output)?.[1] ?? null;
      if (TOO_LITTLE_TEXT.test(errors)) return null;
      throw failed(errors);
    },
  };
}

const TOO_LITTLE_TEXT = /too few characters/i;

/**
 * Returns the error of a run of Tesseract that failed. Its message quotes the end of Tesseract's standard error, which
 * names a missing or damaged data file.
 */
const failed = (errors: string): Fault =>
  new Fault(
    'not_configured',
    `The program tesseract failed: ${errors
      .trim()
      .replaceAll(/\s*\n\s*/g, ' ')
      .slice(-MESSAGE_CHARACTERS)}. Reinstall it and its languages, or set OCR_ENGINE to wasm.`,
  );
