import { encryptedEntry, odfFile } from '../odfFile.js';
import { report, reportChunks } from './report.js';
import { firstHalf, type Row } from './row.js';
import { DREDGING } from './slides.js';
import { INVOICE_CHUNKS, INVOICE_TEXT } from './sheets.js';

const row = (...cells: readonly string[]): string =>
  `<table:table-row>${cells.map((cell) => `<table:table-cell><text:p>${cell}</text:p></table:table-cell>`).join('')}</table:table-row>`;
const list = (...items: readonly string[]): string =>
  `<text:list text:style-name="L">${items.map((item) => `<text:list-item>${item}</text:list-item>`).join('')}</text:list>`;

const letter = (): Uint8Array =>
  odfFile('text', {
    body: '<text:p>Dear members,</text:p><text:p>the slipway is closed<text:s text:c="2"/>on\n14 January.</text:p><text:p>Anna Keller<text:line-break/>Harbour master</text:p>',
  });
const fees = (): Uint8Array =>
  odfFile('text', {
    body: `<text:h text:outline-level="2">The fees of 2025</text:h><table:table><table:table-column table:number-columns-repeated="3"/>${row('Boat', 'A night', 'A year')}${row('Small', '10', '1200')}${row('Large', '25', '2900')}</table:table><text:p>They hold from 1 February.</text:p>`,
  });
const remarks = (): Uint8Array =>
  odfFile('text', {
    styles:
      '<text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="1"/><text:list-level-style-bullet text:level="2" text:bullet-char="-"/></text:list-style>',
    body: list(
      '<text:p>Repair the quay</text:p>' + list('<text:p>the north side first</text:p>'),
      '<text:p>Raise the fees</text:p>',
    ),
  });

export const ODT: Row = {
  good: [
    {
      by: 'hand, a letter',
      from: letter,
      text: 'Dear members,\n\nthe slipway is closed on 14 January.\n\nAnna Keller\nHarbour master',
    },
    {
      by: 'hand, a table',
      from: fees,
      text: `## The fees of 2025

| Boat | A night | A year |
| --- | --- | --- |
| Small | 10 | 1200 |
| Large | 25 | 2900 |

They hold from 1 February.`,
    },
    { by: 'hand, remarks', from: remarks, text: '1. Repair the quay\n  - the north side first\n2. Raise the fees' },
    {
      by: 'LibreOffice, a report of two pages',
      from: 'libreoffice/report.odt',
      text: report(),
      chunks: reportChunks('# Harbour report 2024\n\nAnna', '[^2]: In 2023 there were 59 of them.'),
    },
    { by: 'pandoc, the same report', from: 'pandoc/report.odt', text: report() },
    {
      by: 'AbiWord, the same report',
      from: 'abiword/report.odt',
      // AbiWord loses the markers of outer lists, and the indents of inner ones.
      text: report(
        ['\n- The', '\n\nThe'],
        ['\n- Waste', '\n\nWaste'],
        ['report:\n\n\n', 'report:\n\n'],
        ['\n  - oil', '\n\n- oil'],
        ['\n  - nets', '\n- nets'],
        ['quay.\n\nThe office', 'quay.\n\nThe office'],
        ['\n1. ', '\n'],
        ['\n2. ', '\n\n'],
        ['\n3. ', '\n\n'],
      ),
    },
  ],
  broken: { make: () => firstHalf(fees()), fault: /^broken_content: / },
  empty: () => odfFile('text', { body: '<text:p/>' }),
  encrypted: () => odfFile('text', { body: '', manifest: encryptedEntry('content.xml') }),
  wrong: { ending: 'docx' },
};

const cell = (text: string, attributes = ''): string =>
  `<table:table-cell ${attributes}><text:p>${text}</text:p></table:table-cell>`;
const sheet = (name: string, rows: string): string => `<table:table table:name="${name}">${rows}</table:table>`;
const DATED = 'office:value-type="date" office:date-value="2024-11-30T00:00:00"';

const stock = (): Uint8Array =>
  odfFile('spreadsheet', {
    body:
      sheet(
        'Stock',
        row('Part', 'Pieces', 'Counted') +
          `<table:table-row>${cell('Rope, 12 mm')}${cell('140.5', 'office:value-type="float" office:value="140.5"')}${cell('30.11.24', DATED)}</table:table-row>`,
      ) + sheet('Shelf', row('Part', 'Shelf') + row('Rope', 'A3')),
  });
const berths = (): Uint8Array =>
  odfFile('spreadsheet', { body: sheet('Berths', row('Berth', 'Boat') + row('N1', 'Ada') + row('N2', 'Bo')) });
const seas = (): Uint8Array =>
  odfFile('spreadsheet', {
    body: sheet(
      'Seas',
      `${row('Sea', 'Depth', 'Depth in spring')}<table:table-row>${cell('Celtic')}${cell('12', 'table:number-columns-repeated="2"')}<table:table-cell table:number-columns-repeated="16381"/></table:table-row><table:table-row table:number-rows-repeated="1048574"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>`,
    ),
  });

export const ODS: Row = {
  good: [
    {
      by: 'hand, two sheets',
      from: stock,
      text: '# Stock\n\nPart: Rope, 12 mm, Pieces: 140.5, Counted: 2024-11-30\n\n# Shelf\n\nPart: Rope, Shelf: A3',
    },
    { by: 'hand, berths', from: berths, text: '# Berths\n\nBerth: N1, Boat: Ada\nBerth: N2, Boat: Bo' },
    { by: 'hand, repeated cells and rows', from: seas, text: '# Seas\n\nSea: Celtic, Depth: 12, Depth in spring: 12' },
    { by: 'LibreOffice, an invoice', from: 'libreoffice/invoice.ods', text: INVOICE_TEXT, chunks: INVOICE_CHUNKS },
  ],
  broken: { make: () => firstHalf(berths()), fault: /^broken_content: / },
  empty: () => odfFile('spreadsheet', { body: sheet('S', '') }),
  encrypted: () => odfFile('spreadsheet', { body: '', manifest: encryptedEntry('content.xml') }),
  wrong: { ending: 'csv' },
};

const frame = (kind: string, content: string): string =>
  `<draw:frame presentation:class="${kind}"><draw:text-box>${content}</draw:text-box></draw:frame>`;
const page = (content: string): string => `<draw:page draw:name="page">${content}</draw:page>`;

const boats = (): Uint8Array =>
  odfFile('presentation', {
    body: page(
      `<draw:custom-shape><text:p>Boats moor.</text:p></draw:custom-shape><presentation:notes>${frame('notes', '<text:p>Say why.</text:p>')}</presentation:notes>`,
    ),
  });
const plan = (): Uint8Array =>
  odfFile('presentation', {
    body: page(
      frame('title', '<text:p>The plan</text:p>') +
        frame('outline', list(`<text:p>Repair the quay</text:p>${list('<text:p>the north side first</text:p>')}`)) +
        frame('page-number', '<text:p><text:page-number>1</text:page-number></text:p>'),
    ),
  });
const ways = (): Uint8Array =>
  odfFile('presentation', {
    body: page(`<draw:frame><table:table>${row('Way', 'Weeks')}${row('Grab', '11')}</table:table></draw:frame>`),
  });

export const ODP: Row = {
  good: [
    { by: 'hand, a shape and notes', from: boats, text: '# Slide 1\n\nBoats moor.\n\nNotes: Say why.' },
    { by: 'hand, a title and points', from: plan, text: '# The plan\n\n- Repair the quay\n  - the north side first' },
    { by: 'hand, a table', from: ways, text: '# Slide 1\n\n| Way | Weeks |\n| --- | --- |\n| Grab | 11 |' },
    {
      by: 'LibreOffice, a talk with notes',
      from: 'libreoffice/dredging.odp',
      text: DREDGING.replace('- Agree', '1. Agree')
        .replace('- Apply', '2. Apply')
        .replace('the office.', '[the office](https://example.org/office).'),
      chunks: {
        size: 70,
        parts: [
          ['# Dredging the entrance', '- The lifeboat draws 1.9 metres'],
          ['Notes: Show the survey', '| Grab on a barge | 11 | 141,000 |'],
          ['# What we ask for', 'Notes: The vote is open.'],
        ],
      },
    },
  ],
  broken: { make: () => firstHalf(boats()), fault: /^broken_content: / },
  empty: () => odfFile('presentation', { body: page('') }),
  encrypted: () => odfFile('presentation', { body: '', manifest: encryptedEntry('encrypted-package') }),
  wrong: { ending: 'pptx' },
};
