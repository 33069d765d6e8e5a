import { PDFDocument as SkiaDocument } from '@napi-rs/canvas';
import { PDFDocument, StandardFonts } from 'pdf-lib';

import { makePdf } from '../makePdf.js';
import type { Row } from './row.js';

async function pdfLib(...pages: readonly string[]): Promise<Uint8Array> {
  const pdf = await PDFDocument.create();
  const font = await pdf.embedFont(StandardFonts.TimesRoman);
  for (const words of pages) pdf.addPage([400, 300]).drawText(words, { x: 40, y: 200, size: 12, lineHeight: 14, font });
  return pdf.save();
}

/** Draws a notice with Skia, the library with which browsers print. Each line has its own position. */
function notice(): Uint8Array {
  const pdf = new SkiaDocument({ title: 'Notice to mariners' });
  const draw = (lines: readonly (readonly [y: number, size: number, text: string])[]): void => {
    const page = pdf.beginPage(595, 842);
    page.fillStyle = '#000';
    for (const [y, size, text] of lines) {
      page.font = `${size}px "DejaVu Sans"`;
      page.fillText(text, 60, y);
    }
    pdf.endPage();
  };
  draw([
    [80, 24, 'Notice to mariners'],
    [130, 12, 'The light on the south pier is out until the end of March. Its'],
    [146, 12, 'place is marked by a yellow buoy, which is lit at night.'],
    [190, 12, 'Größere Schiffe halten sich nördlich der Tonne 7.'],
  ]);
  draw([[80, 12, 'Harbour master, 9 February 2024']]);
  return Uint8Array.from(pdf.close());
}

/** Draws an invoice with a list of amounts, as invoicing software does. */
const invoice = async (): Promise<Uint8Array> =>
  makePdf(
    (pdf) => {
      pdf.fontSize(20).text('Invoice 2024-117');
      pdf.moveDown().fontSize(11).text('Harbour office, Ballycotton. Payable within 30 days to the account below.');
      pdf.moveDown();
      for (const [item, sum] of [
        ['Berth, 14 nights', '350.00'],
        ['Diesel, 310 litres', '502.20'],
        ['Crane', '180.00'],
      ] as const) {
        const { y } = pdf;
        pdf.text(item, 72, y).text(sum, 400, y);
      }
      pdf.addPage().fontSize(11).text('Terms: who leaves earlier pays for the nights spent.');
    },
    { Title: 'Invoice 2024-117' },
  );

const REPORT = `# Harbour report 2024

Anna Keller

## Summary

The harbour of Ballycotton handled 1,284 calls in 2024, eleven more than in the year before. Repairs of the north quay took from March to September and cost 412,000 euros, which is 38,000 below the estimate.1 No boat was lost, and no person was hurt.

The council is asked to agree to the fees in section 3 and to the dredging in section 4. Both were discussed with the fishermen’s association in November, which has no objection as long as work rests from April to June.

## Traffic

### Calls by month

Traffic is heaviest in July and August, when pleasure boats make up two thirds of all calls. The storm of 9 February closed the entrance for three days; nine boats went to Cobh instead.

| Quarter | Fishing | Pleasure | Other |
| --- | --- | --- | --- |
| First | 148 | 31 | 22 |
| Second | 171 | 164 | 35 |
| Third | 160 | 329 | 41 |
| Fourth | 119 | 42 | 22 |

### What changed

Three things are new since the last report:
• The fuel berth is open at night, with a card.
• Waste is taken at both quays:
◦ oil and filters at the north quay,
◦ nets and ropes at the south quay.
• The office answers on channel 14 from six in the morning.
Boats of more than 18 metres still need a pilot. The pilot’s fee is not the harbour’s to set, but we were told that it will not rise before 2026.

1 All sums are without value added tax.

## Fees

The fees have been the same since 2019. Costs of water and power have risen by 31 % in that time, and those of insurance by nearly half. We propose the following:
1. Small boats, below eight metres, pay 10 euros a night instead of 8.
2. Larger boats pay 25 euros, as in Kinsale.
3. Boats at home in Ballycotton pay nothing for the first week of each month. Who pays for a whole year has two months free. This concerned 64 boats in 2024.2 The treasurer expects 21,500 euros more a year, of which half is to go into the reserve for the breakwater.

## Dredging

The entrance has lost 40 centimetres of depth in four years. At low water of spring tides only 2.1 metres remain, and the lifeboat draws 1.9. A survey by Hydro Survey Cork shows that some 9,000 cubic metres of sand have to be moved; it names two ways of doing so:
1. A suction dredger, for five weeks, at 186,000 euros.
2. A grab on a barge, for eleven weeks, at 141,000 euros.
We recommend the first. It is dearer, yet it is done before the season begins, and the sand can be pumped to the beach at Garryvoe, whose residents have asked for it since the winter of 2021. The department pays three quarters of either.

The work needs a licence for dumping at sea only if more than a tenth of the sand is mud. Samples were taken at twelve places in October; the results are expected in January. Details are at https://example.org/harbour/dredging.

## Outlook

In 2025 the lights of the south quay will be replaced, and the slipway is to be widened by two metres. The harbour master retires in August; the post will be advertised in the spring. We thank all who helped after the storm, above all the crew of the lifeboat, who moved forty boats in a single night.

2 In 2023 there were 59 of them.`;

export const PDF: Row = {
  good: [
    {
      by: 'LibreOffice, two pages',
      from: 'libreoffice/report.pdf',
      text: REPORT,
      chunks: {
        size: 200,
        parts: [
          ['# Harbour report 2024', 'boats went to Cobh instead.'],
          ['| Quarter | Fishing |', 'sums are without value added tax.'],
          ['## Fees\n\nThe fees', 'the reserve for the breakwater.'],
          ['## Dredging\n\nThe entrance', 'pays three quarters of either.'],
          ['The work needs a licence', '2 In 2023 there were 59 of them.'],
        ],
      },
    },
    {
      by: 'PDFKit, an invoice',
      from: invoice,
      text: `# Invoice 2024-117

Harbour office, Ballycotton. Payable within 30 days to the account below.

| Berth, 14 nights | 350.00 |
| --- | --- |
| Diesel, 310 litres | 502.20 |
| Crane | 180.00 |

Terms: who leaves earlier pays for the nights spent.`,
    },
    {
      by: 'pdf-lib, a letter of two pages',
      from: () =>
        pdfLib(
          'Dear members,\nthe north quay was repaired from March to September.\nIt cost 412,000 euros, 38,000 less than we thought.',
          'What is left goes to the reserve.\nAnna Keller, treasurer',
        ),
      text: `Dear members,
the north quay was repaired from March to September. It cost 412,000 euros, 38,000 less than we thought.

What is left goes to the reserve. Anna Keller, treasurer`,
    },
    {
      by: 'Skia, a notice of two pages',
      from: notice,
      text: `# Notice to mariners

The light on the south pier is out until the end of March. Its place is marked by a yellow buoy, which is lit at night.

Größere Schiffe halten sich nördlich der Tonne 7.

Harbour master, 9 February 2024`,
    },
  ],
  broken: { make: () => '%PDF-1.7\nnothing of a PDF', fault: /^broken_content: / },
  empty: () => makePdf(() => undefined),
  encrypted: () => makePdf((pdf) => pdf.text('Secret'), {}, { userPassword: 'x', ownerPassword: 'y' }),
  wrong: { ending: 'docx' },
};
