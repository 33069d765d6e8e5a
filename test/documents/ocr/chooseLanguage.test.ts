/** Tests the parts of the choice of a page's language that need no OCR engine. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from '@jest/globals';

import { type OcrLanguage, OCR_LANGUAGES, OCR_LANGUAGE_CODES } from '../../../contract/files/ocrLanguages.js';
import { cutStrip } from '../../../documents/ocr/cutStrip.js';
import { guessLanguage } from '../../../documents/ocr/guessLanguage.js';
import { ocrMetadata } from '../../../documents/ocr/ocrMetadata.js';
import { readInLanguage } from '../../../documents/ocr/readInLanguage.js';

const LATIN = OCR_LANGUAGE_CODES.filter((code) => OCR_LANGUAGES[code].script === 'Latin');

/** Sentences about a harbour as OCR with the English data reads them: without diacritics. */
const SENTENCES = {
  eng: 'The harbour was built in 1901, and the light on its pier is one of the oldest that are still in use on this coast.',
  deu: 'Der Hafen wurde im Jahr 1901 gebaut, und das Licht auf der Mole ist eines der altesten, die noch in Betrieb sind.',
  fra: 'Le port a ete construit en 1901, et la lumiere de la jetee est une des plus anciennes qui sont encore dans ce pays.',
  spa: 'El puerto se construyo en el ano 1901, y la luz del muelle es una de las mas antiguas que todavia se usan en esta costa.',
  ita: 'Il porto e stato costruito nel 1901, e la luce del molo e una delle piu antiche che sono ancora in uso su questa costa.',
  por: 'O porto foi construido em 1901, e a luz do molhe e uma das mais antigas que ainda nao sao apagadas nesta costa, como se diz.',
  nld: 'De haven is in 1901 gebouwd, en het licht op de pier is een van de oudste die nog aan deze kust te zien zijn.',
  pol: 'Port zostal zbudowany w 1901 roku, a swiatlo na molo jest jednym z najstarszych, ktore sa jeszcze na tym wybrzezu i nie gasna.',
  swe: 'Hamnen byggdes 1901, och ljuset pa piren ar ett av de aldsta som fortfarande finns kvar langs den har kusten.',
  ces: 'Pristav byl postaven v roce 1901 a svetlo na molu je jedno z nejstarsich, ktere jsou na tomto pobrezi jeste v provozu.',
  tur: 'Liman 1901 yilinda yapildi ve iskeledeki isik bu kiyida bugune kadar kullanilan en eski isiklardan biridir, daha sonra bir kez onarildi.',
  vie: 'Cang duoc xay dung vao nam 1901, va ngon den tren cau tau la mot trong nhung ngon den lau doi nhat con duoc su dung tai bo bien nay.',
} as const;

test.each(Object.entries(SENTENCES))('guesses %s by its frequent words', (language, text) => {
  expect(guessLanguage(text, LATIN)).toEqual([language]);
});

test('guesses no language from names and numbers or from a few words, and never one that is not a candidate', () => {
  expect(guessLanguage('Kinsale 7.4 1204 Cobh 11.2 3981 Youghal 4.9 310 '.repeat(5), LATIN)).toEqual([]);
  expect(guessLanguage('und der die', LATIN)).toEqual([]);
  expect(guessLanguage(SENTENCES.deu, ['eng', 'fra'])).not.toContain('deu');
});

/** Returns a white picture with rows of letters between two heights. */
function picture(height: number, from: number, to: number) {
  const width = 1000;
  const pixels = new Uint8Array(width * height).fill(255);
  for (let row = from; row < to; row += 1) {
    if (row % 40 >= 24) continue;
    for (let column = 100; column < 900; column += 12) pixels.fill(0, row * width + column, row * width + column + 5);
  }
  return { bytes: pixels, pixels, width, height, scale: 1 };
}

test('begins with a Latin language whose data can be downloaded, if there is one', async () => {
  const neededFirst = (refused: readonly ('deu' | 'fra' | 'osd')[]): Promise<unknown> =>
    readInLanguage(picture(300, 100, 200), {
      ...{ languages: ['rus', 'deu', 'fra'], engine: { kind: 'wasm', folder: '' }, present: [] },
      refused,
    });
  await expect(neededFirst([])).rejects.toMatchObject({ code: 'deu' });
  await expect(neededFirst(['deu'])).rejects.toMatchObject({ code: 'fra' });
  // Without a usable Latin language, the script is detected, which needs the data `osd`. If `osd` cannot be downloaded
  // either, the first Latin language is needed again: the error then names the missing data.
  await expect(neededFirst(['deu', 'fra'])).rejects.toMatchObject({ code: 'osd' });
  await expect(neededFirst(['deu', 'fra', 'osd'])).rejects.toMatchObject({ code: 'deu' });
});

test('reads a page in another language if data cannot be downloaded, but a Latin page in no other script', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'allotrope-tesseract-'));
  const program = path.join(folder, 'tesseract');
  const neededAfter = async (
    script: string,
    languages: readonly OcrLanguage[],
    refused: readonly OcrLanguage[],
  ): Promise<unknown> => {
    await writeFile(program, `#!/bin/sh\ncat >/dev/null\necho 'Script: ${script}'\n`, { mode: 0o755 });
    const engine = { kind: 'native', program, dataFolder: null } as const;
    return readInLanguage(picture(300, 100, 200), { languages, engine, present: ['osd'], refused }).catch(
      (error: unknown) => error,
    );
  };
  try {
    expect(await neededAfter('Han', ['chi_sim', 'jpn'], ['chi_sim'])).toMatchObject({ code: 'jpn' });
    expect(await neededAfter('Cyrillic', ['eng', 'rus'], ['eng'])).toMatchObject({ code: 'rus' });
    // A Latin page is not read in another script.
    expect(await neededAfter('Latin', ['eng', 'rus'], ['eng'])).toMatchObject({ code: 'eng' });
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('cuts a strip of printed text whose edges are between lines, and none from a small picture', () => {
  const page = picture(2000, 1200, 1700);
  const strip = cutStrip(page);
  const { pixels = page.pixels, height = 0 } = strip ?? {};
  expect(strip).toMatchObject({
    width: 1000,
    scale: 1,
    bytes: expect.objectContaining({ length: pixels.length + 16 }),
  });
  expect(height).toBeLessThan(300);
  const inkOf = (rows: Uint8Array): number => rows.filter((value) => value === 0).length / rows.length;
  // 24 of 40 rows, in which 5 of 12 columns between 100 and 900 are ink.
  expect(inkOf(pixels)).toBeCloseTo((24 / 40) * (5 / 12) * 0.8, 1);
  for (const row of [0, height - 1]) expect(pixels.subarray(row * 1000, row * 1000 + 1000)).not.toContain(0);
  expect(cutStrip(picture(300, 100, 200))).toBeNull();
});

test('a photograph does not count as print', () => {
  const page = picture(2000, 1400, 1700);
  for (let at = 0; at < 600 * page.width; at += 2) page.pixels[at] = 0;
  // Rows of the photograph have ink in their first columns.
  expect(cutStrip(page)?.pixels.subarray(0, 100)).not.toContain(0);
});

test('warns of pages with low confidence, with their numbers and languages', () => {
  const pageOf = (number: number, confidence: number) => ({
    number,
    paragraphs: [],
    recognition: { language: 'deu' as const, confidence },
  });
  expect(ocrMetadata([pageOf(1, 0.7)])).toEqual({
    metadata: { ocr_pages: [1], ocr_languages: ['deu'], ocr_confidence: [0.7] },
  });
  const pages = [pageOf(1, 0.9), ...[2, 3, 4, 5, 6, 7].map((number) => pageOf(number, 0.69))];
  expect(ocrMetadata(pages).warnings).toEqual([
    {
      cause: 'low_ocr_confidence',
      message:
        'OCR is not sure of the text of page 2 (German, 69 %), 3 (German, 69 %), 4 (German, 69 %), 5 (German, 69 %), 6 (German, 69 %) and 1 more. Compare it with the original.',
    },
  ]);
  // Pages recognized by an earlier version of the service have no confidence.
  expect(ocrMetadata([{ number: 1, paragraphs: [] }])).not.toHaveProperty('warnings');
});
