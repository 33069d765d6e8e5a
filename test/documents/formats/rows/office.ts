import {
  Document,
  ExternalHyperlink,
  Footer,
  FootnoteReferenceRun,
  HeadingLevel,
  LevelFormat,
  Packer,
  Paragraph,
  Table,
  TableCell,
  TableRow,
  TextRun,
} from 'docx';

import { report, reportChunks } from './report.js';
import { firstHalf, encryptWithPassword, type Row } from './row.js';

type Children = ConstructorParameters<typeof Document>[0]['sections'][0]['children'];

const FOOTER = 'Footer: Ballycotton Harbour Office';

const word = async (children: Children, footer = 'Ballycotton Harbour Office'): Promise<Uint8Array> =>
  Uint8Array.from(
    await Packer.toBuffer(
      new Document({
        footnotes: { 1: { children: [new Paragraph('Agreed on 26 November.')] } },
        numbering: {
          config: [{ reference: 'steps', levels: [{ level: 0, format: LevelFormat.DECIMAL, text: '%1.' }] }],
        },
        sections: [{ children, footers: { default: new Footer({ children: [new Paragraph(footer)] }) } }],
      }),
    ),
  );

/** Builds a table of a Word document. */
export const wordTable = (rows: readonly (readonly string[])[]): Table =>
  new Table({
    rows: rows.map(
      (row) => new TableRow({ children: row.map((cell) => new TableCell({ children: [new Paragraph(cell)] })) }),
    ),
  });

const terms = async (): Promise<Uint8Array> =>
  word([
    new Paragraph({ text: 'Terms of mooring', heading: HeadingLevel.TITLE }),
    new Paragraph({ text: 'Fees', heading: HeadingLevel.HEADING_1 }),
    new Paragraph({ children: [new TextRun('They rise in 2025.'), new FootnoteReferenceRun(1)] }),
    wordTable([
      ['Boat', 'Fee'],
      ['Small', '10 €'],
      ['Large', '25 €'],
    ]),
    new Paragraph({ text: 'Arrival', heading: HeadingLevel.HEADING_1 }),
    new Paragraph({ text: 'Call the office', numbering: { reference: 'steps', level: 0 } }),
    new Paragraph({ text: 'Moor where the office says', numbering: { reference: 'steps', level: 0 } }),
    new Paragraph({
      children: [
        new TextRun('All of it is at '),
        new ExternalHyperlink({ link: 'https://example.org/terms', children: [new TextRun('our site')] }),
        new TextRun('.'),
      ],
    }),
  ]);

const point = (text: string, level = 0): Paragraph => new Paragraph({ text, bullet: { level } });

const minutes = async (): Promise<Uint8Array> =>
  word([
    new Paragraph({ text: 'Minutes', heading: HeadingLevel.HEADING_1 }),
    new Paragraph({ children: [new TextRun({ text: 'Present: ', bold: true }), new TextRun('Anna, Bo and Zoë.')] }),
    new Paragraph({ text: 'Decided', heading: HeadingLevel.HEADING_2 }),
    point('The quay is repaired:'),
    point('the north side first,', 1),
    point('then the south side.', 1),
    point('The fees rise.'),
    new Paragraph({ pageBreakBefore: true, text: 'Next meeting: 14 January.' }),
  ]);

const letter = async (): Promise<Uint8Array> =>
  word([
    new Paragraph({
      children: [
        new TextRun('Anna Keller'),
        new TextRun({ text: 'Harbour office', break: 1 }),
        new TextRun({ text: 'Cork', break: 1 }),
      ],
    }),
    new Paragraph('Dear Bo,'),
    new Paragraph({
      children: [
        new TextRun('H'),
        new TextRun({ text: '2', subScript: true }),
        new TextRun('O & <oil> must not mix: 5 > 3.'),
      ],
    }),
    wordTable([
      ['Berth', 'Boat'],
      ['N1', 'Ada'],
    ]),
  ]);

export const DOCX: Row = {
  good: [
    {
      by: 'LibreOffice, a report of two pages',
      from: 'libreoffice/report.docx',
      text: report(),
      chunks: reportChunks('# Harbour report 2024\n\nAnna', '[^2]: In 2023 there were 59 of them.'),
    },
    { by: 'pandoc, the same report', from: 'pandoc/report.docx', text: report() },
    {
      by: 'docx, terms',
      from: terms,
      text: `# Terms of mooring

# Fees

They rise in 2025.[^1]

| Boat | Fee |
| --- | --- |
| Small | 10 € |
| Large | 25 € |

# Arrival

1. Call the office
2. Moor where the office says

All of it is at [our site](https://example.org/terms).

[^1]: Agreed on 26 November.

${FOOTER}`,
    },
    {
      by: 'docx, minutes',
      from: minutes,
      text: `# Minutes

Present: Anna, Bo and Zoë.

## Decided

- The quay is repaired:
  - the north side first,
  - then the south side.
- The fees rise.

Next meeting: 14 January.

${FOOTER}`,
    },
    {
      by: 'docx, a letter',
      from: letter,
      text: `Anna Keller
Harbour office
Cork

Dear Bo,

H2O & <oil> must not mix: 5 > 3.

| Berth | Boat |
| --- | --- |
| N1 | Ada |

${FOOTER}`,
    },
  ],
  broken: { make: () => firstHalf(terms()), fault: /^broken_content: / },
  empty: () => word([], ''),
  encrypted: () => encryptWithPassword(terms()),
  wrong: { ending: 'xlsx' },
};
