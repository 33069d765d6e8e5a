import PptxGenJs from 'pptxgenjs';

import { firstHalf, encryptWithPassword, type Row } from './row.js';

// In the package's types the class is `PptxGenJs.default`; in Node the import itself is the class.
const Presentation = PptxGenJs as unknown as typeof PptxGenJs.default;

async function presentationOf(
  ...slides: ReadonlyArray<readonly [lines: readonly string[], notes?: string]>
): Promise<Uint8Array> {
  const presentation = new Presentation();
  for (const [lines, notes] of slides) {
    const slide = presentation.addSlide();
    lines.forEach((line, nth) => slide.addText(line, { x: 1, y: 1 + nth }));
    if (notes !== undefined) slide.addNotes(notes);
  }
  return (await presentation.write({ outputType: 'uint8array' })) as Uint8Array;
}
const boats = async (): Promise<Uint8Array> =>
  presentationOf([['Boats moor.', 'At the north quay.'], 'Say why.'], [['Questions?']]);

async function slideOf(
  draw: (slide: ReturnType<InstanceType<typeof Presentation>['addSlide']>) => void,
): Promise<Uint8Array> {
  const presentation = new Presentation();
  draw(presentation.addSlide());
  return (await presentation.write({ outputType: 'uint8array' })) as Uint8Array;
}
const plan = async (): Promise<Uint8Array> =>
  slideOf((slide) => {
    const points = [
      ['Repair the quay', 0],
      ['the north side first', 1],
      ['Raise the fees', 0],
    ] as const;
    slide.addText(
      points.map(([text, indentLevel]) => ({ text, options: { bullet: true, indentLevel, breakLine: true } })),
      { x: 1, y: 1 },
    );
    slide.addTable([
      [{ text: 'Way' }, { text: 'Weeks' }],
      [{ text: 'Grab & barge' }, { text: '11' }],
    ]);
    slide.addNotes('Ask Zoë.');
  });
const calls = async (): Promise<Uint8Array> =>
  slideOf((slide) => {
    slide.addText('Calls in 2024', { x: 1, y: 0.2 });
    const labels = ['First', 'Second'];
    slide.addChart(
      'line' as Parameters<typeof slide.addChart>[0],
      [
        { name: 'Fishing', labels, values: [148, 171] },
        { name: 'Pleasure', labels, values: [31, 164.5] },
      ],
      { x: 1, y: 1, w: 6, h: 3, showTitle: true, title: 'Calls by quarter' },
    );
  });

export const DREDGING = `# Dredging the entrance

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

1. Agree to the suction dredger
2. Apply for the grant by March

Questions to the office.

Notes: The vote is open.`;

export const PPTX: Row = {
  good: [
    {
      by: 'LibreOffice, a talk with notes',
      from: 'libreoffice/dredging.pptx',
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
    { by: 'pandoc, the same talk', from: 'pandoc/dredging.pptx', text: DREDGING },
    {
      by: 'PptxGenJS, text boxes and notes',
      from: boats,
      text: '# Slide 1\n\nBoats moor.\n\nAt the north quay.\n\nNotes: Say why.\n\n# Slide 2\n\nQuestions?',
    },
    {
      by: 'PptxGenJS, points and a table',
      from: plan,
      text: `# Slide 1

- Repair the quay
  - the north side first
- Raise the fees

| Way | Weeks |
| --- | --- |
| Grab & barge | 11 |

Notes: Ask Zoë.`,
    },
    {
      by: 'PptxGenJS, a chart',
      from: calls,
      text: `# Slide 1

Calls in 2024

Calls by quarter

|  | Fishing | Pleasure |
| --- | --- | --- |
| First | 148 | 31 |
| Second | 171 | 164.5 |`,
    },
  ],
  broken: { make: () => firstHalf(boats()), fault: /^broken_content: / },
  empty: () => presentationOf([[]]),
  encrypted: () => encryptWithPassword(boats()),
  wrong: { ending: 'docx' },
};
