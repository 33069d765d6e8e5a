import { describe, expect, test } from '@jest/globals';

import { type DocumentFormat, mimeTypeOf } from '../../../contract/files/fileFormats.js';
import { chunksOfFile, faultOfFile, readFile } from '../readFile.js';
import { everyRow } from '../../support/everyRow.js';
import { findLibreOffice, saveByLibreOffice } from './libreOffice.js';
import { JSON_ROW } from './rows/json.js';
import { EPUB } from './rows/books.js';
import { EML, MSG } from './rows/mail.js';
import { DOCX } from './rows/office.js';
import { ODP, ODS, ODT } from './rows/openDocument.js';
import { PDF } from './rows/pages.js';
import { HTML, MD, TXT } from './rows/prose.js';
import { bytesOf, type Row } from './rows/row.js';
import { RTF } from './rows/rtf.js';
import { CSV, TSV, XLSM, XLSX } from './rows/sheets.js';
import { PPTX } from './rows/slides.js';

/** Pictures are tested with OCR in test/acceptance. */
const FORMATS: { readonly [Format in Exclude<DocumentFormat, 'JPG' | 'PNG'>]: Row } = {
  TXT,
  MD,
  HTML,
  PDF,
  DOCX,
  PPTX,
  XLSX,
  XLSM,
  ODT,
  ODS,
  ODP,
  EPUB,
  CSV,
  TSV,
  JSON: JSON_ROW,
  RTF,
  EML,
  MSG,
};

/**
 * Formats for which max_items_per_chunk limits the rows or objects of a chunk. XLSM has rows, too, but the API does not
 * offer the option for it.
 */
const GROUPED = new Set(['CSV', 'TSV', 'XLSX', 'JSON']);

const rows = Object.entries(FORMATS).map(([format, row]) => ({ ...row, format, name: `a.${format.toLowerCase()}` }));
const eachFormat = (rule: (row: (typeof rows)[number]) => unknown, of = rows) =>
  everyRow(of, ({ format }) => format, rule);

describe('a file of every format', () => {
  const samples = rows.flatMap(({ format, name, good }) => good.map((sample) => ({ format, name, sample })));
  test('is detected and read completely for every library and program that wrote it', () =>
    everyRow(
      samples,
      ({ format, sample }) => `${format} written by ${sample.by}`,
      async ({ format, name, sample: { text, ...more } }) => {
        const bytes = await bytesOf(more);
        const document = await readFile(bytes, name);
        expect([document.format, document.text, document.metadata['named_as']]).toEqual([format, text, undefined]);
        // JSON lines have a media type of their own.
        const types = [mimeTypeOf(document.format), ...(format === 'JSON' ? ['application/x-ndjson'] : [])];
        expect(types).toContain(document.mimeType);
        expect(document.attachments?.map((attachment) => attachment.name)).toEqual(more.attachments);
        expect(await chunksOfFile(bytes, name)).toEqual([text]);
      },
    ));

  test('is cut into several chunks', () =>
    eachFormat(async ({ name, good }) => {
      const cut = good.filter(({ chunks }) => chunks);
      expect(cut).not.toEqual([]);
      for (const { chunks, ...sample } of cut) {
        const { size = 0, parts = [] } = chunks ?? {};
        const found = await chunksOfFile(await bytesOf(sample), name, { chunkSize: size, chunkOverlap: 0 });
        expect(parts.length).toBeGreaterThan(1);
        expect(found.map((chunk, nth) => endsOf(chunk, parts[nth]))).toEqual(parts);
      }
    }));

  test('has more chunks with max_items_per_chunk 1 if the format supports it, else the same chunks', () =>
    eachFormat(async ({ format, name, good }) => {
      const chunks = async (more: object): Promise<string[][]> => {
        const options = { chunkSize: 120, chunkOverlap: 0, ...more };
        return Promise.all(good.map(async (sample) => chunksOfFile(await bytesOf(sample), name, options)));
      };
      const [without, grouped] = [await chunks({}), await chunks({ maxItemsPerChunk: 1 })];
      if (GROUPED.has(format)) expect(grouped.flat().length).toBeGreaterThan(without.flat().length);
      else expect(grouped).toEqual(without);
    }));

  test('has at least three samples that the test creates, and samples of at least two libraries or programs', () =>
    eachFormat(({ good }) => {
      expect(good.filter(({ from }) => typeof from !== 'string').length).toBeGreaterThanOrEqual(3);
      expect(new Set(good.map(({ by }) => by.split(',')[0])).size).toBeGreaterThanOrEqual(2);
    }));

  test('is read up to the damage, or rejected with the reason, if it is broken', () =>
    eachFormat(async ({ format, name, broken }) => {
      const bytes = await broken.make();
      if ('fault' in broken) expect(await faultOfFile(bytes, name)).toMatch(broken.fault);
      else expect(await readFile(bytes, name)).toMatchObject({ format, text: broken.text });
    }));

  test('is rejected as no_text if it is empty', () =>
    eachFormat(async ({ name, empty }) => {
      expect(await faultOfFile(await empty(), name)).toMatch(/^no_text: /);
    }));

  test('is rejected with a request for an unencrypted file if it is encrypted', () =>
    eachFormat(
      async ({ name, encrypted }) => {
        expect(await faultOfFile(await encrypted!(), name)).toMatch(/^encrypted: .*password/);
      },
      rows.filter(({ encrypted }) => encrypted),
    ));

  test('is detected by its content if its extension is wrong', () =>
    eachFormat(async ({ format, good, wrong }) => {
      const [first] = good;
      const document = await readFile(first ? await bytesOf(first) : '', `a.${wrong.ending}`);
      expect([document.format, document.metadata['named_as']]).toEqual([
        wrong.format ?? format,
        wrong.ending.toUpperCase(),
      ]);
    }));
});

const office = findLibreOffice();
if (office === null) process.stdout.write('LibreOffice is not installed: files saved by it are not tested.\n');
else
  describe.each([
    ['docx', DOCX, ['docx', 'rtf']],
    ['odt', ODT, ['odt']],
    ['pptx', PPTX, ['pptx']],
    ['xlsx', XLSX, ['xlsx']],
  ] as const)('every %s that the test creates, saved again by LibreOffice', (ending, { good }, formats) => {
    test.each(good.filter(({ from }) => typeof from !== 'string').map((sample) => [sample.by, sample] as const))(
      'keeps its text if it was written by %s',
      async (_by, sample) => {
        const saved = await saveByLibreOffice(office, await bytesOf(sample), ending, formats);
        for (const [format, bytes] of saved)
          expect([format, (await readFile(bytes, `a.${format}`)).text]).toEqual([
            format,
            format === 'rtf' ? asRtf(sample.text) : sample.text,
          ]);
      },
    );
  });

/**
 * Returns the text as read from RTF, which marks titles only by formatting, and whose footers are not read. LibreOffice
 * writes links in RTF as fields.
 */
const asRtf = (text: string): string =>
  text
    .replace(/^# Terms/, 'Terms')
    .replace(/\n\nFooter: .*$/, '')
    .replaceAll(/\[([^\]^]+)\]\([^)]+\)/g, '$1');

/**
 * Returns the beginning and end of a chunk, as long as the expected ones; of an unexpected chunk, 40 characters each.
 */
function endsOf(chunk: string, expected: readonly [string, string] | undefined): readonly [string, string] {
  const [begins, ends] = expected ?? [chunk.slice(0, 40), chunk.slice(-40)];
  return [chunk.slice(0, begins.length), chunk.slice(-ends.length)];
}
