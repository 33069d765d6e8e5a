import { describe, expect, test } from '@jest/globals';

import type { DocumentFormat } from '../../../contract/fileFormats.js';
import { chunksOfFile, faultOfFile, readFile } from '../readFile.js';
import { everyRow } from '../../support/everyRow.js';
import { findLibreOffice, saveByLibreOffice } from './libreOffice.js';
import { JSON_ROW } from './rows/json.js';
import { EML, MSG } from './rows/mail.js';
import { DOCX } from './rows/office.js';
import { PDF } from './rows/pages.js';
import { HTML, MD, TXT } from './rows/prose.js';
import { bytesOf, type Row } from './rows/row.js';
import { RTF } from './rows/rtf.js';
import { CSV, TSV, XLSM, XLSX } from './rows/sheets.js';
import { PPTX } from './rows/slides.js';

/** Pictures are not here: test/acceptance has them, with OCR. */
const FORMATS: { readonly [Format in Exclude<DocumentFormat, 'JPG' | 'PNG'>]: Row } = {
  TXT,
  MD,
  HTML,
  PDF,
  DOCX,
  PPTX,
  XLSX,
  XLSM,
  CSV,
  TSV,
  JSON: JSON_ROW,
  RTF,
  EML,
  MSG,
};

/** The formats whose rows and objects max_items_per_chunk groups. */
const GROUPED = new Set(['CSV', 'TSV', 'XLSX', 'JSON']);

const rows = Object.entries(FORMATS).map(([format, row]) => ({ ...row, format, name: `a.${format.toLowerCase()}` }));
const eachFormat = (rule: (row: (typeof rows)[number]) => unknown, of = rows) =>
  everyRow(of, ({ format }) => format, rule);

describe('a file of every format', () => {
  const made = rows.flatMap(({ format, name, good }) => good.map((one) => ({ format, name, one })));
  test('is read as what it is and holds, whichever library or program made it', () =>
    everyRow(
      made,
      ({ format, one }) => `${format} made by ${one.by}`,
      async ({ format, name, one: { text, ...more } }) => {
        const bytes = await bytesOf(more);
        const document = await readFile(bytes, name);
        expect([document.format, document.text, document.metadata['named_as']]).toEqual([format, text, undefined]);
        expect(document.attachments?.map((attachment) => attachment.name)).toEqual(more.attachments);
        expect(await chunksOfFile(bytes, name)).toEqual([text]);
      },
    ));

  test('is cut into several chunks', () =>
    eachFormat(async ({ name, good }) => {
      const cut = good.filter(({ chunks }) => chunks);
      expect(cut).not.toEqual([]);
      for (const { chunks, ...one } of cut) {
        const { size = 0, parts = [] } = chunks ?? {};
        const found = await chunksOfFile(await bytesOf(one), name, { chunkSize: size, chunkOverlap: 0 });
        expect(parts.length).toBeGreaterThan(1);
        expect(found.map((chunk, nth) => endsOf(chunk, parts[nth]))).toEqual(parts);
      }
    }));

  test('has its items grouped by max_items_per_chunk where it has items; else that changes nothing', () =>
    eachFormat(async ({ format, name, good }) => {
      const chunks = async (more: object): Promise<string[][]> => {
        const options = { chunkSize: 120, chunkOverlap: 0, ...more };
        return Promise.all(good.map(async (one) => chunksOfFile(await bytesOf(one), name, options)));
      };
      const [without, grouped] = [await chunks({}), await chunks({ maxItemsPerChunk: 1 })];
      if (GROUPED.has(format)) expect(grouped.flat().length).toBeGreaterThan(without.flat().length);
      else expect(grouped).toEqual(without);
    }));

  test('is made thrice at least by this run; with those kept, by two libraries or programs', () =>
    eachFormat(({ good }) => {
      expect(good.filter(({ from }) => typeof from !== 'string').length).toBeGreaterThanOrEqual(3);
      expect(new Set(good.map(({ by }) => by.split(',')[0])).size).toBeGreaterThanOrEqual(2);
    }));

  test('that is broken is read as far as it goes, or says why not', () =>
    eachFormat(async ({ format, name, broken }) => {
      const bytes = await broken.make();
      if ('fault' in broken) expect(await faultOfFile(bytes, name)).toMatch(broken.fault);
      else expect(await readFile(bytes, name)).toMatchObject({ format, text: broken.text });
    }));

  test('that is empty says so', () =>
    eachFormat(async ({ name, empty }) => {
      expect(await faultOfFile(await empty(), name)).toMatch(/^no_text: /);
    }));

  test('that is encrypted asks for one without a password', () =>
    eachFormat(
      async ({ name, encrypted }) => {
        expect(await faultOfFile(await encrypted!(), name)).toMatch(/^encrypted: .*password/);
      },
      rows.filter(({ encrypted }) => encrypted),
    ));

  test('with a wrong ending is told by its content', () =>
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
if (office === null) process.stdout.write('LibreOffice is not installed: what it would save is not read.\n');
else
  describe.each([
    ['docx', DOCX, ['docx', 'rtf']],
    ['pptx', PPTX, ['pptx']],
    ['xlsx', XLSX, ['xlsx']],
  ] as const)('LibreOffice opens each %s of this run and saves it anew', (ending, { good }, formats) => {
    test.each(good.filter(({ from }) => typeof from !== 'string').map((one) => [one.by, one] as const))(
      'that was made by %s',
      async (_by, one) => {
        const saved = await saveByLibreOffice(office, await bytesOf(one), ending, formats);
        for (const [format, bytes] of saved)
          expect([format, (await readFile(bytes, `a.${format}`)).text]).toEqual([
            format,
            format === 'rtf' ? asRtf(one.text) : one.text,
          ]);
      },
    );
  });

/** RTF knows a title by its looks alone, and LibreOffice's links in it are fields. */
const asRtf = (text: string): string => text.replace(/^# Terms/, 'Terms').replaceAll(/\[([^\]^]+)\]\([^)]+\)/g, '$1');

/** As much of a chunk's beginning and end as is expected of it; of a chunk that nobody expected, a line. */
function endsOf(chunk: string, expected: readonly [string, string] | undefined): readonly [string, string] {
  const [begins, ends] = expected ?? [chunk.slice(0, 40), chunk.slice(-40)];
  return [chunk.slice(0, begins.length), chunk.slice(-ends.length)];
}
