import { PLAIN_TITLE, report, reportChunks } from './report.js';
import { makeRtf } from '../makeRtf.js';
import type { Row } from './row.js';

const letter = async (): Promise<string> =>
  makeRtf([
    'Harbour office, Ballycotton',
    'Dear members,',
    'the slipway is closed on 14 January {all day}; C:\\harbour\\plan.txt says why.',
    'Anna Keller\nHarbour master',
  ]);
const fees = async (): Promise<string> =>
  makeRtf([
    'The fees of 2025',
    [
      ['Boat', 'A night', 'A year'],
      ['Small', '10', '1200'],
      ['Large', '25', '2900'],
    ],
    'They hold from 1 February.',
  ]);
const REMARKS = Array.from(
  { length: 12 },
  (_, nth) => `${nth + 1}. The owner of berth ${nth + 1} was informed on time.`,
);

export const RTF: Row = {
  good: [
    {
      by: 'jsRTF, a letter',
      from: letter,
      text: `Harbour office, Ballycotton

Dear members,

the slipway is closed on 14 January {all day}; C:\\harbour\\plan.txt says why.

Anna Keller
Harbour master`,
    },
    {
      by: 'jsRTF, a table',
      from: fees,
      text: `The fees of 2025

| Boat | A night | A year |
| --- | --- | --- |
| Small | 10 | 1200 |
| Large | 25 | 2900 |

They hold from 1 February.`,
    },
    { by: 'jsRTF, numbered remarks', from: async () => makeRtf(REMARKS), text: REMARKS.join('\n\n') },
    {
      by: 'LibreOffice, a report of two pages',
      from: 'libreoffice/report.rtf',
      text: report(PLAIN_TITLE),
      chunks: reportChunks('Harbour report 2024\n\nAnna', '[^2]: In 2023 there were 59 of them.'),
    },
    {
      by: 'pandoc, the same report',
      from: 'pandoc/report.rtf',
      // pandoc writes lists as paragraphs.
      text: report(
        PLAIN_TITLE,
        ['\n- ', '\n\n• '],
        ['\n  - ', '\n\n– '],
        ['report:\n\n\n', 'report:\n\n'],
        ['\n2. Larger', '\n\n2. Larger'],
        ['\n3. Boats', '\n\n3. Boats'],
        ['\n2. A grab', '\n\n2. A grab'],
      ),
    },
    {
      by: 'AbiWord, the same report',
      from: 'abiword/report.rtf',
      // AbiWord loses the markers of inner and numbered lists.
      text: report(
        PLAIN_TITLE,
        ['\n  - ', '\n\n'],
        ['quay.\n- ', 'quay.\n\n- '],
        ['\n1. ', '\n'],
        ['\n2. ', '\n\n'],
        ['\n3. ', '\n\n'],
      ),
    },
  ],
  // Truncated: the text up to its end is read.
  broken: {
    make: () => String.raw`{\rtf1\ansi{\fonttbl{\f0 Calibri;}}\f0 Boats moor.\par {\b Alw`,
    text: 'Boats moor.\n\nAlw',
  },
  empty: () => String.raw`{\rtf1}`,
  encrypted: null,
  wrong: { ending: 'docx' },
};
