import { PLAIN_TITLE, report, reportChunks } from './report.js';
import { kept, type Row } from './row.js';

export const RTF: Row = {
  good: [
    {
      by: 'LibreOffice, a report of two pages',
      make: kept('libreoffice/report.rtf'),
      text: report(PLAIN_TITLE),
      chunks: reportChunks('Harbour report 2024\n\nAnna', '[^2]: In 2023 there were 59 of them.'),
    },
    {
      by: 'pandoc, the same report',
      make: kept('pandoc/report.rtf'),
      // It writes lists as paragraphs.
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
      make: kept('abiword/report.rtf'),
      // It loses what marks a list.
      text: report(
        PLAIN_TITLE,
        ['\n- ', '\n\n'],
        ['\n  - ', '\n\n'],
        ['report:\n\n\n', 'report:\n\n'],
        ['\n1. ', '\n'],
        ['\n2. ', '\n\n'],
        ['\n3. ', '\n\n'],
      ),
    },
  ],
  // As much as there is of it.
  broken: {
    make: () => String.raw`{\rtf1\ansi{\fonttbl{\f0 Calibri;}}\f0 Boats moor.\par {\b Alw`,
    text: 'Boats moor.\n\nAlw',
  },
  empty: () => String.raw`{\rtf1}`,
  encrypted: null,
  wrong: { ending: 'docx' },
};
