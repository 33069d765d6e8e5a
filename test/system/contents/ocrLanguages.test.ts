/** OCR in several languages, with the real engine and the real data, which npm downloads once to `.engines/`. */
import path from 'node:path';
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { GlobalFonts } from '@napi-rs/canvas';

import type { FileRecord } from '../../../contract/files/records.js';
import type { OcrLanguage } from '../../../contract/files/ocrLanguages.js';
import { createDocumentPool } from '../../../documents/pool.js';
import type { DocumentPool, PageText } from '../../../documents/types.js';
import { DEFAULT_ENGINES_DIR } from '../../../engines/venv.js';
import { type TestUser } from '../../support/client.js';
import { drawPicture } from '../../support/pictures.js';
import { startService, type TestService } from '../../support/service.js';
import { FILES, LIMITS } from '../../documents/page.js';
import { upload } from '../../documents/readFile.js';

const FOLDER = path.join(DEFAULT_ENGINES_DIR, 'ocr-languages');
const CHINESE_FONT = '/usr/share/fonts/truetype/wqy/wqy-microhei.ttc';

/** Paragraphs of about forty words, and the fonts of their pages. */
const TEXTS: Readonly<Partial<Record<OcrLanguage, readonly string[]>>> = {
  eng: [
    'The harbour office was opened in 1901 and has been rebuilt twice since then.',
    'Ships of more than 3,400 tons may enter only with a pilot on board.',
    'The master of each vessel reports its cargo before noon of the day of arrival.',
    'Berths are given out by the harbour master, who also collects the dues.',
  ],
  deu: [
    'Das Hafenbüro wurde im Jahr 1901 eröffnet und seither zweimal umgebaut.',
    'Größere Schiffe dürfen nur mit einem Lotsen an Bord in den Hafen einlaufen.',
    'Jeder Schiffsführer muss seine Ladung bis zum Mittag des Ankunftstages melden.',
    'Über die Liegeplätze entscheidet der Hafenmeister, der auch die Gebühren erhebt.',
  ],
  fra: [
    'Le bureau du port a été ouvert en 1901 et rénové deux fois depuis cette année.',
    'Les navires de plus de trois mille tonnes ne peuvent entrer sans un pilote à bord.',
    'Le capitaine déclare sa cargaison avant midi, le jour même de son arrivée.',
    'Les places à quai sont attribuées par le maître du port, qui perçoit les droits.',
  ],
  rus: [
    'Портовая контора была открыта в 1901 году и с тех пор дважды перестроена.',
    'Суда большого тоннажа могут входить в гавань только с лоцманом на борту.',
    'Каждый капитан обязан сообщить о своём грузе до полудня в день прибытия.',
    'Места у причала распределяет начальник порта, который также взимает сборы.',
  ],
  ukr: [
    'Портову контору було відкрито в 1901 році, і відтоді її двічі перебудували.',
    'Великі судна можуть заходити до гавані лише з лоцманом на борту.',
    'Кожен капітан має повідомити про свій вантаж до полудня в день прибуття.',
    'Місця біля причалу розподіляє начальник порту, який також стягує збори.',
  ],
  chi_sim: [
    '港务局于一九零一年开放，此后经过两次重建。',
    '大型船舶只有在引航员登船之后才能进入港口。',
    '每位船长必须在到达当天中午之前报告所载货物。',
    '泊位由港务长分配，他同时负责收取各种费用。',
  ],
  jpn: [
    '港の事務所は千九百一年に開かれ、その後二回建て直された。',
    '大きな船は水先案内人が乗っている場合にだけ入港できる。',
    '船長は到着した日の正午までに積み荷を報告しなければならない。',
    '停泊する場所は港長が決め、料金もあわせて受け取る。',
  ],
};

/** Draws a scan of an A5 page. */
function scan(language: OcrLanguage, size = 30): Uint8Array {
  const lines = TEXTS[language] ?? [];
  const font = ['chi_sim', 'jpn'].includes(language) ? 'WenQuanYi Micro Hei' : 'DejaVu Serif';
  return drawPicture(lines, { width: 1650, height: 1100, size, font });
}

/** Words; for scripts without spaces, characters. */
const unitsOf = (text: string): string[] =>
  text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{M}\p{N}]+/gu) ?? [];

/** Returns the share of a text's words that were read. */
function recall(expected: string, read: string): number {
  const left = unitsOf(read);
  const wanted = unitsOf(expected);
  const found = wanted.filter((unit) => {
    const at = left.indexOf(unit);
    if (at !== -1) left.splice(at, 1);
    return at !== -1;
  });
  return found.length / wanted.length;
}

const textOf = ({ paragraphs }: PageText): string =>
  paragraphs.flatMap(({ lines }) => lines.map(({ text }) => text)).join('\n');

const DEFAULTS: readonly OcrLanguage[] = [
  ...(['eng', 'deu', 'fra', 'spa', 'ita', 'por', 'nld', 'pol', 'rus', 'ukr'] as const),
  ...(['chi_sim', 'chi_tra', 'jpn', 'kor', 'ara'] as const),
];
const TIME_LIMIT_MS = 600_000;
let pool: DocumentPool;

beforeAll(() => {
  if (!existsSync(CHINESE_FONT)) throw new Error('These tests need a font: apt-get install -y fonts-wqy-microhei');
  GlobalFonts.registerFromPath(CHINESE_FONT, 'WenQuanYi Micro Hei');
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

describe('with default settings, a page is read in its language', () => {
  test.each(Object.keys(TEXTS) as OcrLanguage[])(
    '%s',
    async (language) => {
      const read = await recognize(scan(language));
      expect(read.recognition?.language).toBe(language);
      expect(read.recognition?.confidence).toBeGreaterThan(0.8);
      expect(recall(TEXTS[language]?.join(' ') ?? '', textOf(read))).toBeGreaterThanOrEqual(0.95);
    },
    TIME_LIMIT_MS,
  );
});

test(
  'Chinese has no spaces between characters',
  async () => {
    expect(textOf(await recognize(scan('chi_sim')))).not.toMatch(/\p{Script=Han}\s+\p{Script=Han}/u);
  },
  TIME_LIMIT_MS,
);

test(
  'a single language is used without detection, and the choice is among the given ones',
  async () => {
    expect((await recognize(scan('deu'), ['eng'])).recognition?.language).toBe('eng');
    expect((await recognize(scan('deu'), ['eng', 'fra'])).recognition?.language).not.toBe('deu');
    expect((await recognize(scan('deu'), ['fra', 'deu'])).recognition?.language).toBe('deu');
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
    const { id } = await user.send({ name: 'scan.png', content: scan('deu') }, { use_ocr: true, ...query });
    return user.settled(id, TIME_LIMIT_MS);
  };

  test(
    'refuses unknown languages by name, and lists the known ones',
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
    'READY with a warning in the record, the ledger and the operators page, if a page was read with low confidence',
    async () => {
      // Most of it is Chinese, which this deployment does not read.
      const lines = [...(TEXTS.eng?.slice(0, 2) ?? []), ...(TEXTS.chi_sim ?? [])];
      const content = drawPicture(lines, { width: 1650, height: 700, font: 'WenQuanYi Micro Hei' });
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
    'reads an upload in the languages of its request, and reads it again for other languages',
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
