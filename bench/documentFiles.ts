/** Files of `bench:documents`, written by other libraries than those of the parsers. Equal in every run. */
import { createWriteStream } from 'node:fs';
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import path from 'node:path';
import ExcelJS from 'exceljs';
import PDFKit from 'pdfkit';
import PptxGenJs from 'pptxgenjs';

export interface BenchFiles {
  readonly what: string;
  readonly paths: readonly string[];
  readonly bytes: number;
}

export interface BenchSizes {
  readonly pages: number;
  readonly csvBytes: number;
  readonly rows: number;
  readonly slides: number;
  readonly notes: number;
}

const NOUNS = ['harbour', 'lighthouse', 'glacier', 'orchard', 'railway', 'canal', 'telescope', 'workshop'];
const noun = (number: number): string => NOUNS[number % NOUNS.length] ?? 'thing';
const sentence = (number: number): string =>
  `The ${noun(number)} of district ${number % 97} was measured in ${1700 + (number % 300)} and found to be ${number % 1000} feet from the ${noun(number * 5 + 1)}.`;
const sentences = (from: number, count: number): string =>
  Array.from({ length: count }, (_, nth) => sentence(from + nth)).join(' ');

async function makePdf(file: string, pages: number): Promise<void> {
  const pdf = new PDFKit({ autoFirstPage: false });
  const out = createWriteStream(file);
  pdf.pipe(out);
  for (let page = 0; page < pages; page += 1) {
    pdf
      .addPage()
      .fontSize(18)
      .text(`Chapter ${page + 1}`)
      .moveDown()
      .fontSize(11);
    for (let paragraph = 0; paragraph < 5; paragraph += 1) pdf.text(sentences(page * 40 + paragraph * 8, 5)).moveDown();
  }
  pdf.end();
  await once(out, 'finish');
}

const COLUMNS = ['id', 'place', 'district', 'measured', 'feet', 'keeper', 'remark'];
const rowOf = (number: number): string[] => [
  String(number),
  noun(number),
  `District ${number % 97}`,
  `${1900 + (number % 100)}-0${1 + (number % 9)}-1${number % 10}`,
  String((number * 7919) % 100_000),
  `Keeper ${number % 1009}`,
  `Seen from the ${noun(number * 3)} on a clear day`,
];

async function makeCsv(file: string, bytes: number): Promise<void> {
  const out = createWriteStream(file);
  out.write(`${COLUMNS.join(',')}\n`);
  let [written, row] = [0, 0];
  while (written < bytes) {
    let part = '';
    while (part.length < 64 * 1024 && written + part.length < bytes) part += `${rowOf(row++).join(',')}\n`;
    written += part.length;
    if (!out.write(part)) await once(out, 'drain');
  }
  out.end();
  await once(out, 'finish');
}

async function makeXlsx(file: string, rows: number): Promise<void> {
  const book = new ExcelJS.Workbook();
  const sheet = book.addWorksheet('Places');
  sheet.addRow(COLUMNS);
  for (let row = 0; row < rows; row += 1) sheet.addRow(rowOf(row));
  await book.xlsx.writeFile(file);
}

async function makePptx(file: string, slides: number): Promise<void> {
  // In the package's types the class is `PptxGenJs.default`; in Node the import itself is the class.
  const presentation = new (PptxGenJs as unknown as typeof PptxGenJs.default)();
  for (let slide = 0; slide < slides; slide += 1) {
    const added = presentation.addSlide();
    added.addText(`Part ${slide + 1}`, { x: 0.5, y: 0.3, fontSize: 28 });
    const points = Array.from({ length: 6 }, (_, nth) => ({
      text: sentence(slide * 6 + nth),
      options: { bullet: true, breakLine: true },
    }));
    added.addText(points, { x: 0.5, y: 1.2, w: 9, h: 4 });
    added.addNotes(sentences(slide * 9, 2));
  }
  await presentation.writeFile({ fileName: file });
}

const noteOf = (number: number): string =>
  `# Note ${number}\n\n${sentences(number, 6)}\n\n## Remarks\n\n- ${sentence(number + 1)}\n- ${sentence(number + 2)}\n\n${sentences(number + 50, 8)}\n`;

/** Writes all files into a folder. */
export async function makeFiles(folder: string, sizes: BenchSizes): Promise<BenchFiles[]> {
  const at = (name: string): string => path.join(folder, name);
  const [pdf, csv, xlsx, pptx] = [at('report.pdf'), at('places.csv'), at('places.xlsx'), at('show.pptx')];
  await makePdf(pdf, sizes.pages);
  await makeCsv(csv, sizes.csvBytes);
  await makeXlsx(xlsx, sizes.rows);
  await makePptx(pptx, sizes.slides);
  await mkdir(at('notes'), { recursive: true });
  const notes = Array.from({ length: sizes.notes }, (_, number) => at(`notes/note-${number}.md`));
  for (const [number, file] of notes.entries()) await writeFile(file, noteOf(number));
  const kinds: ReadonlyArray<readonly [string, readonly string[]]> = [
    [`PDF of ${sizes.pages} pages`, [pdf]],
    [`CSV of ${(sizes.csvBytes / 1e6).toFixed(0)} MB`, [csv]],
    [`XLSX of ${sizes.rows} rows`, [xlsx]],
    [`PPTX of ${sizes.slides} slides`, [pptx]],
    [`${sizes.notes} small Markdown files`, notes],
  ];
  return Promise.all(
    kinds.map(async ([what, paths]) => {
      const stats = await Promise.all(paths.map((file) => stat(file)));
      return { what, paths, bytes: stats.reduce((sum, { size }) => sum + size, 0) };
    }),
  );
}
