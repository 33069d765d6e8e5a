/** The installed Tesseract: how it is found, which languages it has, and how its output is read. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

import { loadConfig } from '../../../config/config.js';
import { StartError } from '../../../contract/startError.js';
import { findTesseract, installedLanguages, notInstalled } from '../../../documents/ocr/data/nativeTesseract.js';
import { readHocr } from '../../../documents/ocr/engines/readHocr.js';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'allotrope-tesseract-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** Writes a program `tesseract` into the folder, which prints this version and these languages. */
async function install(version: string, languages: string): Promise<void> {
  const file = path.join(folder, 'tesseract');
  await writeFile(
    file,
    `#!/bin/sh\ncase $1 in --version) echo '${version}';; --list-langs) echo '${languages}';; esac\n`,
  );
  await chmod(file, 0o755);
}

test('finds the program on PATH, its version, the folder of its data and its languages that the service supports', async () => {
  await install(
    'tesseract 5.3.0\n leptonica-1.82.0',
    'List of available languages in "/data/" (4):\neng\ndeu\nosd\nsnum',
  );
  expect(await findTesseract(`/nothing-there:relative:${folder}`)).toEqual({
    program: path.join(folder, 'tesseract'),
    version: '5.3.0',
    dataFolder: '/data/',
    codes: ['osd', 'eng', 'deu'],
  });
});

test('returns no data folder if the program does not print it', async () => {
  await install('tesseract v4.0.0', 'List of available languages (1):\neng');
  expect(await findTesseract(folder)).toMatchObject({ version: '4.0.0', dataFolder: null, codes: ['eng'] });
});

test('refuses a start without the program, with one of version 3, or with one that fails', async () => {
  const refusal = async (): Promise<unknown> => findTesseract(folder).catch((error: unknown) => error);
  expect(await refusal()).toEqual(
    new StartError(
      'OCR_ENGINE is native, but PATH has no program tesseract. Install it (apt-get install tesseract-ocr), add its folder to PATH, or set OCR_ENGINE to wasm, which needs no installation.',
    ),
  );
  await install('tesseract 3.05.02', 'eng');
  expect(await refusal()).toMatchObject({
    message: expect.stringMatching(/is version 3\.05\.02, and 4 is the oldest/),
  });
  await writeFile(path.join(folder, 'tesseract'), '#!/bin/sh\necho no library >&2\nexit 127\n');
  const failed = await refusal();
  expect(failed).toBeInstanceOf(StartError);
  expect(failed).toMatchObject({ message: expect.stringMatching(/--version failed: .*no library/s) });
});

test('rejects a language whose data is not installed, and names the package to install', async () => {
  const native = { program: '/usr/bin/tesseract', version: '5.3.0', dataFolder: null, codes: ['osd', 'eng'] } as const;
  const languages = installedLanguages(native);
  expect(languages.present(['osd', 'eng', 'chi_sim'])).toEqual(['osd', 'eng']);
  expect(notInstalled(native, ['osd', 'eng', 'chi_sim'])).toEqual(['chi_sim']);
  const { signal } = new AbortController();
  await languages.ensure('eng', signal);
  await expect(languages.ensure('chi_sim', signal)).rejects.toMatchObject({
    kind: 'not_configured',
    message:
      'The OCR data of Chinese (simplified) (chi_sim) is not installed for /usr/bin/tesseract. Install it (apt-get install tesseract-ocr-chi-sim) and restart the workers, or leave the language out of OCR_LANGUAGES and `ocr_languages`.',
  });
});

test('PATH is searched only with OCR_ENGINE=native', () => {
  const searchPath = (env: NodeJS.ProcessEnv) =>
    loadConfig({ SECRET_KEY: `one:${Buffer.alloc(32).toString('base64')}`, PATH: '/a:/b', ...env }).documents.ocr
      .searchPath;
  expect([searchPath({}), searchPath({ OCR_ENGINE: 'native' })]).toEqual([null, '/a:/b']);
  expect(() => searchPath({ OCR_ENGINE: 'cloud' })).toThrow(/OCR_ENGINE.*wasm, native/);
});

/** A line of hOCR. */
const line = (kind: string, properties: string, words: string): string =>
  `<span class='${kind}' id='line_1_1' title="${properties}">${words}</span>`;

test('reads words, boxes, confidences and sizes of hOCR, in lines of every kind', () => {
  const hocr = `<?xml version="1.0"?><!DOCTYPE html><html><body>
    <div class='ocr_page' id='page_1' title='image "stdin"; bbox 0 0 1200 700; ppageno 0'>
    <div class='ocr_carea' id='block_1_1' title="bbox 60 40 637 122"><p class='ocr_par' id='par_1_1' lang='eng' title="bbox 60 40 637 122">
    ${line(
      'ocr_header',
      'bbox 60 40 637 71; baseline 0 -7; x_size 31.5; x_descenders 7; x_ascenders 6',
      `<span class='ocrx_word' id='word_1_1' title='bbox 60 40 118 64; x_wconf 95'>R&amp;D</span>
       <span class='ocrx_word' id='word_1_2' title='bbox 133 40 295 71; x_wconf 30'><strong>&lt;b&gt;</strong></span>
       <span class='ocrx_word' id='word_1_3' title='bbox 300 40 310 71; x_wconf 90'> </span>`,
    )}
    ${line('ocr_line', 'bbox 0 0 9 9; x_size 20', `<span class='ocrx_word' id='word_1_4' title='bbox 0 0 9 9; x_wconf 5'> </span>`)}
    </p></div>
    <div class='ocr_photo' id='block_1_2' title="bbox 0 300 1200 700"></div>
    <div class='ocr_carea' id='block_1_3' title="bbox 0 0 9 9"><p class='ocr_par' id='par_1_2' dir='rtl' lang='heb' title="bbox 1 2 3 4">
    ${line('ocr_line', 'bbox 1 2 3 4; x_size 9', `<span class='ocrx_word' id='word_1_5' lang='eng' title='bbox 1 2 3 4; x_wconf 88'>it&#39;s &quot;it&quot;</span>`)}
    </p></div></div></body></html>`;
  expect(readHocr(hocr)).toEqual([
    [
      {
        height: 31.5,
        words: [
          { text: 'R&D', confidence: 95, bbox: { x0: 60, y0: 40, x1: 118, y1: 64 } },
          { text: '<b>', confidence: 30, bbox: { x0: 133, y0: 40, x1: 295, y1: 71 } },
        ],
      },
    ],
    [{ height: 9, words: [{ text: 'it\'s "it"', confidence: 88, bbox: { x0: 1, y0: 2, x1: 3, y1: 4 } }] }],
  ]);
  expect(readHocr('<html><body></body></html>')).toEqual([]);
});
