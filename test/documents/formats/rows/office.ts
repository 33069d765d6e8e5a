import {
  Document,
  ExternalHyperlink,
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
import PptxGenJs from 'pptxgenjs';

import { report, reportChunks } from './report.js';
import { half, kept, locked, type Row } from './row.js';

type Children = ConstructorParameters<typeof Document>[0]['sections'][0]['children'];

const word = async (children: Children): Promise<Uint8Array> =>
  Uint8Array.from(
    await Packer.toBuffer(
      new Document({
        footnotes: { 1: { children: [new Paragraph('Agreed on 26 November.')] } },
        numbering: {
          config: [{ reference: 'steps', levels: [{ level: 0, format: LevelFormat.DECIMAL, text: '%1.' }] }],
        },
        sections: [{ children }],
      }),
    ),
  );

const table = (rows: readonly (readonly string[])[]): Table =>
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
    table([
      ['Boat', 'Fee'],
      ['Small', '10 €'],
      ['Large', '25 €'],
    ]),
    new Paragraph({ text: 'Arrival', heading: HeadingLevel.HEADING_1 }),
    new Paragraph({ text: 'Call the office', numbering: { reference: 'steps', level: 0 } }),
    new Paragraph({ text: 'Moor where you are told', numbering: { reference: 'steps', level: 0 } }),
    new Paragraph({
      children: [
        new TextRun('All of it is at '),
        new ExternalHyperlink({ link: 'https://example.org/terms', children: [new TextRun('our site')] }),
        new TextRun('.'),
      ],
    }),
  ]);

export const DOCX: Row = {
  good: [
    {
      by: 'LibreOffice, a report of two pages',
      make: kept('libreoffice/report.docx'),
      text: report(),
      chunks: reportChunks('# Harbour report 2024\n\nAnna', '[^2]: In 2023 there were 59 of them.'),
    },
    { by: 'pandoc, the same report', make: kept('pandoc/report.docx'), text: report() },
    {
      by: 'docx',
      make: terms,
      text: `# Terms of mooring

# Fees

They rise in 2025.[^1]

| Boat | Fee |
| --- | --- |
| Small | 10 € |
| Large | 25 € |

# Arrival

1. Call the office
2. Moor where you are told

All of it is at [our site](https://example.org/terms).

[^1]: Agreed on 26 November.`,
    },
  ],
  broken: { make: () => half(terms()), fault: /^broken_content: / },
  empty: () => word([]),
  encrypted: () => locked(terms()),
  wrong: { ending: 'xlsx' },
};

// What the package's types call a class is a member of what Node imports.
const Show = PptxGenJs as unknown as typeof PptxGenJs.default;

async function show(
  ...slides: ReadonlyArray<readonly [lines: readonly string[], notes?: string]>
): Promise<Uint8Array> {
  const made = new Show();
  for (const [lines, notes] of slides) {
    const slide = made.addSlide();
    lines.forEach((line, nth) => slide.addText(line, { x: 1, y: 1 + nth }));
    if (notes !== undefined) slide.addNotes(notes);
  }
  return (await made.write({ outputType: 'uint8array' })) as Uint8Array;
}
const boats = async (): Promise<Uint8Array> =>
  show([['Boats moor.', 'At the north quay.'], 'Say why.'], [['Questions?']]);

const DREDGING = `# Dredging the entrance

Anna Keller

# Why we dredge

- The entrance is silting up
  - 40 centimetres in four years
  - 2.1 metres remain at low water
- The lifeboat draws 1.9 metres

Notes: Show the survey of October first.
Then the photograph of the lifeboat.

# Two ways

| Way | Weeks | Euros |
| --- | --- | --- |
| Suction dredger | 5 | 186,000 |
| Grab on a barge | 11 | 141,000 |

# What we ask for

- Agree to the suction dredger
- Apply for the grant by March

Questions to the office.

Notes: The vote is open.`;

export const PPTX: Row = {
  good: [
    {
      by: 'LibreOffice, a talk with notes',
      make: kept('libreoffice/dredging.pptx'),
      text: DREDGING,
      chunks: {
        size: 70,
        parts: [
          ['# Dredging the entrance', '- The lifeboat draws 1.9 metres'],
          ['Notes: Show the survey', '| Grab on a barge | 11 | 141,000 |'],
          ['# What we ask for', 'Notes: The vote is open.'],
        ],
      },
    },
    { by: 'pandoc, the same talk', make: kept('pandoc/dredging.pptx'), text: DREDGING },
    {
      by: 'PptxGenJS',
      make: boats,
      text: '# Slide 1\n\nBoats moor.\n\nAt the north quay.\n\nNotes: Say why.\n\n# Slide 2\n\nQuestions?',
    },
  ],
  broken: { make: () => half(boats()), fault: /^broken_content: / },
  empty: () => show([[]]),
  encrypted: () => locked(boats()),
  wrong: { ending: 'docx' },
};
