import { AES, encryptedMember, epubFile } from '../epubFile.js';
import { report } from './report.js';
import { firstHalf, type Row } from './row.js';

const tides = (): Uint8Array =>
  epubFile({
    pages: [
      { href: 'text/one%20a.xhtml', body: '<h1>Tides</h1><p>The sea <a id="x"/>rises.</p>' },
      { href: 'text/two.xhtml', body: '<h2>Ebb</h2><ul><li>It falls.</li></ul>' },
    ],
  });
const chapter = (): Uint8Array =>
  epubFile({ pages: [{ href: 'a.html', body: '<p>One chapter.</p>', type: 'text/html' }] });
const shuffled = (): Uint8Array =>
  epubFile({
    pages: [
      { href: 'a.xhtml', body: '<p>Second.</p>' },
      { href: 'b.xhtml', body: '<p>First.</p>' },
    ],
    // A page counts once, however often a forged spine names it.
    spine: ['p1', 'p0', 'p0'],
  });

export const EPUB: Row = {
  good: [
    { by: 'hand, two pages', from: tides, text: '# Tides\n\nThe sea rises.\n\n## Ebb\n\n- It falls.' },
    { by: 'hand, one page', from: chapter, text: 'One chapter.' },
    { by: 'hand, pages in another order than their files', from: shuffled, text: 'First.\n\nSecond.' },
    {
      by: 'pandoc, a report',
      from: 'pandoc/report.epub',
      // Notes are at the end of each chapter.
      text: report(
        ['[^2] The treasurer', '[1] The treasurer'],
        ['estimate.[^1]', 'estimate.[1]'],
        ['\n\n[^1]: All sums are without value added tax.', ''],
        ['\n\n[^2]: In 2023 there were 59 of them.', ''],
        ['rests from April to June.', 'rests from April to June.\n\n1. All sums are without value added tax.↩︎'],
        ['reserve for the breakwater.', 'reserve for the breakwater.\n\n1. In 2023 there were 59 of them.↩︎'],
      ),
      chunks: {
        size: 200,
        parts: [
          ['# Harbour report 2024\n\nAnna', 'nine boats went to Cobh instead.'],
          ['| Quarter |', 'it will not rise before 2026.'],
          ['# Fees\n\nThe fees have been', 'there were 59 of them.↩︎'],
          ['# Dredging\n\nThe entrance', 'pays three quarters of either.'],
          ['The work needs a licence', 'in a single night.'],
        ],
      },
    },
  ],
  broken: { make: () => firstHalf(tides()), fault: /^broken_content: / },
  empty: () => epubFile({ pages: [{ href: 'a.xhtml', body: '<img src="a.png" alt=""/>' }] }),
  encrypted: () =>
    epubFile({
      pages: [{ href: 'a.xhtml', body: '<p>Locked.</p>' }],
      encryption: encryptedMember(AES, 'OPS/a.xhtml'),
    }),
  wrong: { ending: 'docx' },
};
