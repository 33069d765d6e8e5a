/** OCR in several languages, with the real engine and the real data, which npm downloads once to `.engines/`. */
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { FileRecord } from '../../../contract/files/records.js';
import type { OcrLanguage } from '../../../contract/files/ocrLanguages.js';
import type { PageText } from '../../../documents/placedText.js';
import type { DocumentPool } from '../../../documents/types.js';
import { DEFAULT_ENGINES_DIR } from '../../../engines/venv.js';
import { type TestUser } from '../../support/client.js';
import { OCR_TEXTS as TEXTS, recall, registerFonts, scan, shortScan, textOf } from '../../support/ocrPages.js';
import { drawPicture } from '../../support/pictures.js';
import { startService, type TestService } from '../../support/service.js';
import { isThorough, thoroughly } from '../../support/thorough.js';
import { FILES, LIMITS } from '../../documents/page.js';
import { upload } from '../../documents/readFile.js';
import { loadDocumentPool } from '../../support/product.js';

const { createDocumentPool } = await loadDocumentPool();

const FOLDER = path.join(DEFAULT_ENGINES_DIR, 'ocr-languages');
const DEFAULTS: readonly OcrLanguage[] = [
  ...(['eng', 'deu', 'fra', 'spa', 'ita', 'por', 'nld', 'pol', 'rus', 'ukr'] as const),
  ...(['chi_sim', 'chi_tra', 'jpn', 'kor', 'ara'] as const),
];
const TIME_LIMIT_MS = 600_000;
let pool: DocumentPool;

beforeAll(() => {
  registerFonts();
  pool = createDocumentPool({
    ...{ threads: 1, timeoutMs: 60_000, memoryMb: 512, limits: LIMITS, files: FILES },
    ocr: {
      ...{ processes: 1, timeoutMs: 120_000, memoryMb: 1536, maxPixels: 20_000_000, niceness: 0 },
      ...{ languages: DEFAULTS, folder: FOLDER, onProgress: (line) => process.stderr.write(`${line}\n`) },
    },
  });
});
afterAll(() => pool.close());

const recognize = (content: Uint8Array, languages?: readonly OcrLanguage[]): Promise<PageText> =>
  pool.recognize(upload(content, 'a.png'), { page: 1, findTables: false, ...(languages ? { languages } : {}) });

/** The language of a long page is chosen on a strip of it: a language with accents, and one without an alphabet. */
const LONG: readonly OcrLanguage[] = isThorough() ? (Object.keys(TEXTS) as OcrLanguage[]) : ['deu', 'jpn'];
/** The language of a short text is chosen on the whole picture: a language with another alphabet. */
const SHORT: readonly OcrLanguage[] = ['rus'];

describe('with default settings, a page is read in its language', () => {
  test.each([
    ...LONG.map((language) => [language, 'a long page', scan, 4] as const),
    ...SHORT.map((language) => [language, 'two lines', shortScan, 2] as const),
  ])(
    '%s: %s',
    async (language, _what, draw, count) => {
      const read = await recognize(draw(language));
      expect(read.recognition?.language).toBe(language);
      expect(read.recognition?.confidence).toBeGreaterThan(0.8);
      const expected = TEXTS[language]?.slice(0, count).join(' ') ?? '';
      expect(recall(expected, textOf(read))).toBeGreaterThanOrEqual(0.95);
      // Chinese and Japanese have no spaces between characters.
      expect(textOf(read)).not.toMatch(/\p{Script=Han}\s+\p{Script=Han}/u);
    },
    TIME_LIMIT_MS,
  );
});

test(
  'one given language is used without detection; of several, one is chosen',
  async () => {
    expect((await recognize(shortScan('deu'), ['eng'])).recognition?.language).toBe('eng');
    expect((await recognize(shortScan('deu'), ['fra', 'deu'])).recognition?.language).toBe('deu');
  },
  TIME_LIMIT_MS,
);

thoroughly(
  'a language that is not among several given ones is not chosen',
  async () => {
    expect((await recognize(shortScan('deu'), ['eng', 'fra'])).recognition?.language).not.toBe('deu');
  },
  TIME_LIMIT_MS,
);

test(
  'an empty page has no language',
  async () => {
    expect(await recognize(drawPicture([], { width: 1650, height: 1100 }))).toEqual({
      number: 1,
      paragraphs: [],
      recognition: { language: null, confidence: null },
    });
  },
  TIME_LIMIT_MS,
);

describe('a deployment', () => {
  let service: TestService;
  let user: TestUser;
  beforeAll(async () => {
    service = await startService({ OCR_LANGUAGES: 'eng' });
    user = await service.user('polyglot');
  });
  afterAll(() => service.close());

  const read = async (query: Record<string, unknown>): Promise<FileRecord> => {
    const { id } = await user.send({ name: 'scan.png', content: shortScan('deu') }, { use_ocr: true, ...query });
    return user.settled(id, TIME_LIMIT_MS);
  };

  test(
    'refuses a list with an unknown language, and names the known ones',
    async () => {
      const { status, body } = await user.post('/upload_file_from_url', {
        url: 'https://example.com/a.png',
        ocr_languages: ['deu', 'klingon'],
      });
      expect([status, JSON.stringify(body)]).toEqual([422, expect.stringMatching(/ocr_languages.*chi_sim/)]);
    },
    TIME_LIMIT_MS,
  );

  test(
    'makes a file READY with a warning in its record, the ledger and the operators page if a page was read with low confidence',
    async () => {
      // Most of the picture is Chinese, which this deployment does not read.
      const lines = [...(TEXTS.eng?.slice(0, 1) ?? []), ...(TEXTS.chi_sim?.slice(0, 2) ?? [])];
      const content = drawPicture(lines, { width: 1650, height: 350, font: 'WenQuanYi Micro Hei' });
      const { id } = await user.send({ name: 'low.png', content }, { use_ocr: true });
      const file = await user.settled(id, TIME_LIMIT_MS);
      expect(file).toMatchObject({
        sync_status: 'READY',
        sync_error_message: null,
        file_metadata: {
          ocr_languages: ['eng'],
          warnings: [{ cause: 'low_ocr_confidence', message: expect.stringMatching(/page 1 \(English, \d+ %\)/) }],
        },
      });
      const { body: runs } = await user.get<{ results: { id: number; counts: unknown }[] }>(`/sync_runs?file_id=${id}`);
      const [run] = runs.results;
      expect(run?.counts).toMatchObject({ discovered: 1, ok: 1 });
      const { body: items } = await user.get<{ results: unknown[] }>(`/sync_runs/${run?.id}/items`);
      expect(items.results).toEqual([
        expect.objectContaining({
          outcome: 'ok',
          cause: 'low_ocr_confidence',
          message: expect.stringMatching(/not sure of the text of page 1/),
          remedy: expect.stringMatching(/ocr_languages/),
        }),
      ]);
      const organization = { headers: { authorization: `Bearer ${service.apiKey}` } };
      const page = await (await fetch(`${service.url}/ops`, organization)).text();
      expect(page).toContain('Ready, with a warning');
      expect(page).toContain('/ops/files?cause=low_ocr_confidence');
      const list = await (await fetch(`${service.url}/ops/files?cause=low_ocr_confidence`, organization)).text();
      expect(list).toMatch(/low\.png/);
    },
    TIME_LIMIT_MS,
  );

  test(
    'reads an upload in the languages of its request, or else in OCR_LANGUAGES, even if the content is the same',
    async () => {
      const file = await read({ ocr_languages: ['deu'] });
      expect(file).toMatchObject({
        sync_status: 'READY',
        ocr_properties: { use_ocr: true, ocr_languages: ['deu'] },
        file_metadata: { ocr_pages: [1], ocr_languages: ['deu'] },
      });
      const english = await read({});
      expect(english).toMatchObject({ ocr_properties: { use_ocr: true }, file_metadata: { ocr_languages: ['eng'] } });
      expect(english.ocr_properties).not.toHaveProperty('ocr_languages');
    },
    TIME_LIMIT_MS,
  );
});
