import { Marked } from 'marked';
import { stringify } from 'yaml';
import Turndown from 'turndown';

import { PLAIN_TITLE, report, reportChunks } from './report.js';
import { byPython } from '../byPython.js';
import { bytesOf, type Row } from './row.js';

/** A page written by hand, which a library converts to Markdown. */
const PAGE = `<h1>Mooring</h1><p>Boats moor at the <b>north quay</b>. See <a href="https://example.org/fees">the fees</a>.</p>
<ul><li>Rope of 12 mm</li><li>Two fenders</li></ul><h2>By hand</h2>
<pre><code class="language-sh">moor --berth 12
</code></pre><blockquote><p>Never leave the engine on.</p></blockquote>`;

const PAGE_MARKDOWN = `# Mooring

Boats moor at the **north quay**. See [the fees](https://example.org/fees).

-   Rope of 12 mm
-   Two fenders

## By hand

\`\`\`sh
moor --berth 12
\`\`\`

> Never leave the engine on.`;

const turndown = new Turndown({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' });
const otherStyle = new Turndown({
  headingStyle: 'setext',
  codeBlockStyle: 'indented',
  bulletListMarker: '+',
  strongDelimiter: '__',
  linkStyle: 'referenced',
});
const NOTE = `<h2>What to bring</h2><ol><li>A torch</li><li>Warm clothes</li></ol><hr>
<p>Lights are <code>white</code> ahead, <i>red</i> behind.</p>`;
const rendered = (markdown: string): string =>
  `<!doctype html><html lang="en"><head><title>Mooring</title></head><body>${new Marked().parse(markdown, { async: false })}</body></html>`;

/** The report as pandoc writes it in plain text. */
const PLAIN_TEXT = `Harbour report 2024
Anna Keller

Summary

The harbour of Ballycotton handled 1,284 calls in 2024, eleven more than
in the year before. Repairs of the north quay took from March to
September and cost 412,000 euros, which is 38,000 below the estimate.[1]
No boat was lost, and no person was hurt.

The council is asked to agree to the fees in section 3 and to the
dredging in section 4. Both were discussed with the fishermen’s
association in November, which has no objection as long as work rests
from April to June.

Traffic

Calls by month

Traffic is heaviest in July and August, when pleasure boats make up two
thirds of all calls. The storm of 9 February closed the entrance for
three days; nine boats went to Cobh instead.

  Quarter   Fishing   Pleasure   Other
  --------- --------- ---------- -------
  First     148       31         22
  Second    171       164        35
  Third     160       329        41
  Fourth    119       42         22

What changed

Three things are new since the last report:

-   The fuel berth is open at night, with a card.
-   Waste is taken at both quays:
    -   oil and filters at the north quay,
    -   nets and ropes at the south quay.
-   The office answers on channel 14 from six in the morning.

Boats of more than 18 metres still need a pilot. The pilot’s fee is not
the harbour’s to set, but we were told that it will not rise before
2026.

Fees

The fees have been the same since 2019. Costs of water and power have
risen by 31 % in that time, and those of insurance by nearly half. We
propose the following:

1.  Small boats, below eight metres, pay 10 euros a night instead of 8.
2.  Larger boats pay 25 euros, as in Kinsale.
3.  Boats at home in Ballycotton pay nothing for the first week of each
    month.

Who pays for a whole year has two months free. This concerned 64 boats
in 2024.[2] The treasurer expects 21,500 euros more a year, of which
half is to go into the reserve for the breakwater.

Dredging

The entrance has lost 40 centimetres of depth in four years. At low
water of spring tides only 2.1 metres remain, and the lifeboat draws
1.9. A survey by Hydro Survey Cork shows that some 9,000 cubic metres of
sand have to be moved; it names two ways of doing so:

1.  A suction dredger, for five weeks, at 186,000 euros.
2.  A grab on a barge, for eleven weeks, at 141,000 euros.

We recommend the first. It is dearer, yet it is done before the season
begins, and the sand can be pumped to the beach at Garryvoe, whose
residents have asked for it since the winter of 2021. The department
pays three quarters of either.

The work needs a licence for dumping at sea only if more than a tenth of
the sand is mud. Samples were taken at twelve places in October; the
results are expected in January. Details are at
https://example.org/harbour/dredging.

Outlook

In 2025 the lights of the south quay will be replaced, and the slipway
is to be widened by two metres. The harbour master retires in August;
the post will be advertised in the spring. We thank all who helped after
the storm, above all the crew of the lifeboat, who moved forty boats in
a single night.

[1] All sums are without value added tax.

[2] In 2023 there were 59 of them.`;

export const TXT: Row = {
  good: [
    {
      by: 'pandoc',
      from: 'pandoc/report.txt',
      text: PLAIN_TEXT,
      chunks: {
        size: 250,
        parts: [
          ['Harbour report 2024\nAnna Keller', '42         22\n\nWhat changed'],
          ['Three things are new', 'the first week of each\n    month.'],
          ['Who pays for a whole year', 'pays three quarters of either.'],
          ['The work needs a licence', '[2] In 2023 there were 59 of them.'],
        ],
      },
    },
    {
      by: 'Python, in KOI8-R with Windows line ends',
      from: byPython('koi8_r.txt'),
      text: 'Гавань открывается в шесть утра, а в июне и июле уже в пять.\nПосле шторма девятого февраля северный причал был закрыт три дня; девять лодок ушли в соседний порт.\nСовет просит утвердить новые сборы и углубление входа. Работы закончатся до начала сезона.',
    },
    {
      by: 'Python, in Shift JIS',
      from: byPython('shift_jis.txt'),
      text: '港は朝六時に開きます。\n小型船の料金は一晩十ユーロです。\n嵐の後、北の岸壁は閉鎖されました。詳しくは事務所まで。',
    },
    {
      by: 'Python, in UTF-16',
      from: byPython('utf_16.txt'),
      text: 'Přístav otevírá v šest ráno.\nMalé lodě platí deset eur za noc.',
    },
  ],
  // Truncated within a two-byte character: all complete characters are read.
  broken: { make: () => Buffer.from('Grüße vom König').subarray(0, 14), text: 'Grüße vom K' },
  empty: () => ' \n\n',
  encrypted: null,
  wrong: { ending: 'pdf' },
};

export const MD: Row = {
  good: [
    {
      by: 'pandoc',
      from: 'pandoc/report.md',
      text: report(
        ['# Harbour report 2024\n\nAnna Keller\n\n', ''],
        ['| --- | --- | --- | --- |', '|---------|---------|----------|-------|'],
        ['| First | 148 | 31 | 22 |', '| First   | 148     | 31       | 22    |'],
        ['| Second | 171 | 164 | 35 |', '| Second  | 171     | 164      | 35    |'],
        ['| Third | 160 | 329 | 41 |', '| Third   | 160     | 329      | 41    |'],
        ['| Fourth | 119 | 42 | 22 |', '| Fourth  | 119     | 42       | 22    |'],
        ['  - ', '    -   '],
        ['\n- ', '\n-   '],
        ['\n1. ', '\n1.  '],
        ['\n2. ', '\n2.  '],
        ['\n3. ', '\n3.  '],
        ['treasurer', '**treasurer**'],
        ['Hydro Survey Cork', '*Hydro Survey Cork*'],
        ['https://example.org/harbour/dredging', '<https://example.org/harbour/dredging>'],
      ),
      chunks: reportChunks('# Summary\n\nThe harbour', '[^2]: In 2023 there were 59 of them.'),
    },
    { by: 'Turndown', from: () => turndown.turndown(PAGE), text: PAGE_MARKDOWN },
    {
      by: 'Turndown, in its other style',
      from: () => otherStyle.turndown(PAGE),
      text: `Mooring
=======

Boats moor at the __north quay__. See [the fees][1].

+   Rope of 12 mm
+   Two fenders

By hand
-------

    moor --berth 12


> Never leave the engine on.

[1]: https://example.org/fees`,
    },
    {
      by: 'yaml and Turndown, a note with front matter',
      from: () =>
        `---\n${stringify({ title: 'Mooring at night', tags: ['quay', 'night'], date: '2024-02-09' })}---\n\n${turndown.turndown(NOTE)}\n`,
      text: `## What to bring

1.  A torch
2.  Warm clothes

* * *

Lights are \`white\` ahead, _red_ behind.`,
    },
    {
      by: 'hand, with the front matter of an editor',
      from: () => '---\ntitle: Fees\ntags: [quay]\n---\n\n# Fees\n\n* [ ] small\n* [x] large\n',
      text: '# Fees\n\n* [ ] small\n* [x] large',
    },
  ],
  // An unclosed code block.
  broken: { make: () => '# Fees\n\n```js\nlet fee;\n', text: '# Fees\n\n```js\nlet fee;' },
  empty: () => '\n',
  encrypted: null,
  wrong: { ending: 'docx', format: 'TXT' },
};

export const HTML: Row = {
  good: [
    {
      by: 'LibreOffice',
      from: 'libreoffice/report.html',
      text: report(
        PLAIN_TITLE,
        ['estimate.[^1]', 'estimate.[1]'],
        ['2024.[^2]', '2024.[2]'],
        ['quays:\n', 'quays:\n\n'],
        ['south quay.\n-', 'south quay.\n\n-'],
        ['[^1]: ', '1'],
        ['[^2]: In 2023 there were 59 of them.', '2In 2023 there were 59 of them.'],
      ),
      chunks: reportChunks('Harbour report 2024\n\nAnna', '2In 2023 there were 59 of them.'),
    },
    {
      by: 'pandoc',
      from: 'pandoc/report.html',
      text: report(
        ['estimate.[^1]', 'estimate.[1]'],
        ['2024.[^2]', '2024.[2]'],
        ['[^1]: All sums are without value added tax.\n\n', '1. All sums are without value added tax.↩︎\n'],
        ['[^2]: In 2023 there were 59 of them.', '2. In 2023 there were 59 of them.↩︎'],
      ),
    },
    {
      by: 'marked',
      from: () => rendered(PAGE_MARKDOWN),
      text: PAGE_MARKDOWN.replaceAll('-   ', '- ')
        .replaceAll('**', '')
        .replace('[the fees](https://example.org/fees)', 'the fees'),
    },
    {
      by: 'marked, a report',
      from: async () =>
        rendered(
          Buffer.from(await bytesOf({ from: 'sources/report.md' }))
            .toString()
            .split('---\n')[2] ?? '',
        ),
      // marked does not support footnotes, and the source has straight apostrophes.
      text: report(['# Harbour report 2024\n\nAnna Keller\n\n', ''], ['’', "'"], ['tax.\n\n[^2]', 'tax. [^2]']),
    },
    {
      by: 'Python, a confirmation in latin1',
      from: byPython('order.html'),
      text: `# Order 117 of Löfgren & Sons

Thank you for your order. It leaves our stores on 9 December, as long as the weather holds.

| Part | Pieces |
| --- | --- |
| Rope, 12 mm | 2 |
| Fender < 30 cm | 4 |

Questions? Write to the harbour shop.`,
    },
  ],
  // Truncated within a tag.
  broken: { make: () => '<!doctype html><h1>Fees</h1><p>They rise <a href="x', text: '# Fees\n\nThey rise' },
  empty: () => '<!doctype html><html><body></body></html>',
  encrypted: null,
  wrong: { ending: 'pdf' },
};
