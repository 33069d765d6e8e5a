import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import PDFKit from 'pdfkit';

/** A document of known structure: headings, paragraphs and one table. */
interface GeneratedPdf {
  readonly pdf: PDFKit.PDFDocument;
  readonly reference: string;
}

const WORDS =
  'harbour quay boat pilot light storm fee season berth crane tide depth survey council report entrance winter repair channel buoy'.split(
    ' ',
  );
const COLUMNS = ['Berth', 'Length', 'Fee', 'Owner', 'Since'];
const LEFT = 60;
const WIDTH = 480;
/** Styles of a table: alignment alone, a full grid, or rules above and below the table and below its header. */
const TABLE_STYLES = ['plain', 'grid', 'rules'] as const;

/** Writes `count` PDFs of known structure with their references to a folder. Every call writes the same files. */
export async function makePdfs(folder: string, count: number): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (let nth = 0; nth < count; nth++) {
    const { pdf, reference } = makeOne(nth);
    const parts: Buffer[] = [];
    pdf.on('data', (part: Buffer) => parts.push(part));
    const ended = new Promise((resolve) => pdf.on('end', resolve));
    pdf.end();
    await ended;
    writeFileSync(path.join(folder, `made${nth}.pdf`), Buffer.concat(parts));
    writeFileSync(path.join(folder, `made${nth}.md`), reference);
  }
}

function makeOne(seed: number): GeneratedPdf {
  let state = seed * 7919 + 1;
  // A linear congruential generator (Park and Miller, 1988): references must not change from run to run.
  const random = (below: number): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
  const words = (count: number): string => Array.from({ length: count }, () => WORDS[random(WORDS.length)]).join(' ');
  const sentence = (count: number): string => `The ${words(count)}.`;
  const pdf = new PDFKit({ margin: LEFT });
  const reference: string[] = [];
  const size = 9 + (seed % 3);
  const isBold = seed % 2 === 0;
  const heading = (text: string, rank: number): void => {
    pdf.font(isBold ? 'Helvetica-Bold' : 'Helvetica').fontSize(isBold && rank > 1 ? size : size * (1.8 - 0.2 * rank));
    pdf.text(text, LEFT, pdf.y + 14, { width: WIDTH });
    pdf.font('Helvetica').fontSize(size).moveDown();
    reference.push(`${'#'.repeat(rank)} ${text}`);
  };
  const paragraph = (): void => {
    const text = Array.from({ length: 3 + random(4) }, () => sentence(8 + random(8))).join(' ');
    pdf.text(text, LEFT, pdf.y, { width: WIDTH }).moveDown();
    reference.push(text);
  };
  heading(`Report ${seed} of the ${words(2)}`, 1);
  paragraph();
  for (let section = 1; section <= 3; section++) {
    heading(`${section}. About the ${words(1 + random(4))}`, 2);
    paragraph();
    if (section === 2) {
      reference.push(drawTable(pdf, seed, random, words));
      pdf.moveDown(2);
    }
    paragraph();
  }
  return { pdf, reference: reference.join('\n\n') };
}

function drawTable(
  pdf: PDFKit.PDFDocument,
  seed: number,
  random: (below: number) => number,
  words: (count: number) => string,
): string {
  const columns = 3 + (seed % 3);
  const rows = [
    COLUMNS.slice(0, columns),
    ...Array.from({ length: 3 + random(6) }, () =>
      Array.from({ length: columns }, (_, nth) => (nth % 3 === 0 ? words(1 + random(2)) : String(10 + random(900)))),
    ),
  ];
  const rowHeight = 18;
  const top = pdf.y + 8;
  const columnWidth = Math.floor(WIDTH / columns);
  for (const [row, cells] of rows.entries())
    for (const [nth, text] of cells.entries())
      pdf.text(text, LEFT + nth * columnWidth + 4, top + row * rowHeight + 4, { lineBreak: false });
  const style = TABLE_STYLES[seed % TABLE_STYLES.length];
  const bottom = top + rows.length * rowHeight;
  const lines =
    style === 'grid'
      ? rows.map((_, nth) => top + nth * rowHeight).concat(bottom)
      : style === 'rules'
        ? [top, top + rowHeight, bottom]
        : [];
  for (const y of lines)
    pdf
      .moveTo(LEFT, y)
      .lineTo(LEFT + columns * columnWidth, y)
      .stroke();
  if (style === 'grid')
    for (let nth = 0; nth <= columns; nth++)
      pdf
        .moveTo(LEFT + nth * columnWidth, top)
        .lineTo(LEFT + nth * columnWidth, bottom)
        .stroke();
  pdf.x = LEFT;
  pdf.y = bottom + 6;
  const [head = [], ...body] = rows.map((cells) => `| ${cells.join(' | ')} |`);
  return [head, `|${' --- |'.repeat(columns)}`, ...body].join('\n');
}
