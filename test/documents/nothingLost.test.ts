import { expect, test } from '@jest/globals';
import { faultOf, parsePage, textOf } from './page.js';

const PARAGRAPH =
  'The harbour was built by the town in 1874, and it has been widened twice since then, in 1911 and in 1963.';
const ANSWER = 'The ferry leaves every forty minutes from the northern pier.';
const LONG = `${'The pier is open on every day of the year. '.repeat(5)}The pier is open at night too, from the first of May on.`;
const THREAD = [
  'I keep bees on the roof and wonder how much water they need in July, when it is hot for weeks.',
  'Mine drink about a litre a day for each hive, so I fill a wide bowl with stones every morning.',
  'A drip on a sloping board works well too, and the bees do not drown in it as they do in a bucket.',
];
const POSTS = THREAD.map((post) => `<p>${post}</p>`).join('');
const POSTS_TEXT = THREAD.join('\n\n');

const keptContent: ReadonlyArray<readonly [name: string, html: string, text: string]> = [
  [
    'a thread that exists only in noscript',
    `<title>Bees</title><div id=app></div><noscript><h1>Water for bees</h1>${POSTS}</noscript>`,
    `# Water for bees\n\n${POSTS_TEXT}`,
  ],
  [
    'the text after an iframe without an end tag in noscript',
    `<main><noscript><iframe src=/count></noscript><p>${PARAGRAPH}</p></main>`,
    PARAGRAPH,
  ],
  [
    'the text after a CDATA section without an end, which is a comment in HTML',
    `<body><![CDATA[ <div><p>${PARAGRAPH}</p></div>`,
    PARAGRAPH,
  ],
  [
    'the characters that references in text and attributes encode, and the references themselves in an xmp element',
    `<title>Salt &amp; wind</title><main><p>${PARAGRAPH} Salt &amp; wind&hellip; &#x41;&copy</p><img alt="Tom &amp; Ann"><xmp>a &amp; b</xmp></main>`,
    `${PARAGRAPH} Salt & wind… A©\n\nTom & Ann\n\n\`\`\`\na &amp; b\n\`\`\``,
  ],
  [
    'a teaser in a link that screen readers skip, because it repeats the link of its title',
    `<main><h1>News</h1><article><h2><a href=/a>Harbour</a></h2><p><a href=/a aria-hidden=true tabindex=-1>${PARAGRAPH}</a></p></article><p>${ANSWER} ${PARAGRAPH}</p></main>`,
    `# News\n\n## Harbour\n\n${PARAGRAPH}\n\n${ANSWER} ${PARAGRAPH}`,
  ],
  [
    'the text after an empty svg element',
    `<main><p><svg class="icon"/> Note: ${PARAGRAPH}</p></main>`,
    `Note: ${PARAGRAPH}`,
  ],
  [
    'the content of a shadow root that the page declares',
    `<my-page><template shadowrootmode=open><style>p{}</style><h1>Bees</h1>${POSTS}</template></my-page>`,
    `# Bees\n\n${POSTS_TEXT}`,
  ],
  [
    'a page about privacy whose container has the name of a consent dialog',
    `<nav><a href=/>Home</a></nav><div id=privacy-notice><h1>Privacy</h1>${POSTS}</div><footer><p>${PARAGRAPH} ${PARAGRAPH}</p></footer>`,
    `# Privacy\n\n${POSTS_TEXT}`,
  ],
  [
    'sections and headings whose ids are made from their titles about cookies',
    `<main><h1>Setup</h1><p>${PARAGRAPH}</p><section id=privacy-settings><h2>Privacy settings</h2><p>${ANSWER}</p><h3>Choices</h3><p>${THREAD[0]}</p></section><h2 id=cookie-banner>Cookie banner</h2><p>${PARAGRAPH}</p></main>`,
    `# Setup\n\n${PARAGRAPH}\n\n## Privacy settings\n\n${ANSWER}\n\n### Choices\n\n${THREAD[0]}\n\n## Cookie banner\n\n${PARAGRAPH}`,
  ],
  [
    'a section about privacy whose title is not its first element',
    `<main><h1>Setup</h1><p>${PARAGRAPH}</p><section id=privacy-settings><img src=x alt=""><h2>Privacy settings</h2><p>${ANSWER}</p></section></main>`,
    `# Setup\n\n${PARAGRAPH}\n\n## Privacy settings\n\n${ANSWER}`,
  ],
  [
    'a long text that several cells of a row and several numbered items repeat',
    `<main><h1>Plans</h1><table><tr><th>Plan<th>Basic<th>Pro<th>Team</tr><tr><td>Support<td>${LONG}<td>${LONG}<td>None</tr></table><ol><li>${LONG}<li>${LONG}<li>Done.</ol></main>`,
    `# Plans\n\n| Plan | Basic | Pro | Team |\n| --- | --- | --- | --- |\n| Support | ${LONG} | ${LONG} | None |\n\n1. ${LONG}\n2. ${LONG}\n3. Done.`,
  ],
  [
    'the visible title of a page with the same top heading in a hidden part',
    `<div style="display:none"><h1>The new ferry leaves on Monday</h1></div><main><h2>The new ferry leaves on Monday</h2><p>${PARAGRAPH}</p></main>`,
    `## The new ferry leaves on Monday\n\n${PARAGRAPH}`,
  ],
  [
    'consecutive numbers that are the output of a program',
    `<main><p>${PARAGRAPH}</p><pre>print(1, 2, 3)</pre><p>Output:</p><pre>1\n2\n3</pre><p>${ANSWER}</p><pre>1\n2\n3</pre><pre>stop()</pre></main>`,
    `${PARAGRAPH}\n\n\`\`\`\nprint(1, 2, 3)\n\`\`\`\n\nOutput:\n\n\`\`\`\n1\n2\n3\n\`\`\`\n\n${ANSWER}\n\n\`\`\`\n1\n2\n3\n\`\`\`\n\n\`\`\`\nstop()\n\`\`\``,
  ],
  [
    'a button in a sentence',
    `<main><p>${PARAGRAPH}</p><p>To store it, press <button>Save</button> and wait. <button>Copy</button></p></main>`,
    `${PARAGRAPH}\n\nTo store it, press Save and wait.`,
  ],
  [
    'the page of a frameset for browsers without frames',
    `<html><frameset cols="20%,80%"><frame src=a><frame src=b><noframes><body><h1>Bees</h1>${POSTS}</body></noframes></frameset>`,
    `# Bees\n\n${POSTS_TEXT}`,
  ],
  [
    'a closed panel of an accordion',
    `<main><p>${PARAGRAPH}</p><h3><button aria-expanded=false aria-controls=a1>When does the ferry leave?</button></h3><div id=a1 hidden>${ANSWER}</div></main>`,
    `${PARAGRAPH}\n\n### When does the ferry leave?\n\n${ANSWER}`,
  ],
  [
    'a closed panel that a style hides',
    `<main><p>${PARAGRAPH}</p><a data-toggle=collapse href="#c1">Ferry</a><div id=c1 style="margin:0; display: none;"><p>${ANSWER}</p></div></main>`,
    `${PARAGRAPH}\n\nFerry\n\n${ANSWER}`,
  ],
  [
    'a panel after the button that opens it, without an id',
    `<main><p>${PARAGRAPH}</p><div><h3><span role=button aria-expanded=false>Ferry</span></h3><div aria-hidden=true><p>${ANSWER}</p></div></div></main>`,
    `${PARAGRAPH}\n\n### Ferry\n\n${ANSWER}`,
  ],
  [
    'the tabs that are not selected',
    `<main><p>${PARAGRAPH}</p><div role=tabpanel>First tab</div><div role=tabpanel hidden>${ANSWER}</div></main>`,
    `${PARAGRAPH}\n\nFirst tab\n${ANSWER}`,
  ],
  [
    'a part that React streamed',
    `<main><p>${PARAGRAPH}</p><template id="B:0"></template></main><div hidden id="S:0"><p>${ANSWER}</p></div>`,
    `${PARAGRAPH}\n\n${ANSWER}`,
  ],
  [
    'a part that React streamed inside of an empty one',
    `<main><p>${PARAGRAPH}</p><template id="B:0"></template></main><div hidden id="S:0"><template id="P:1"></template></div><div hidden id="S:1"><p>${ANSWER}</p></div>`,
    `${PARAGRAPH}\n\n${ANSWER}`,
  ],
  [
    'a question in a button outside of a heading',
    `<main><p>${PARAGRAPH}</p><div><button aria-expanded=true>When does the ferry leave?</button><div>${ANSWER}</div></div></main>`,
    `${PARAGRAPH}\n\nWhen does the ferry leave?\n\n${ANSWER}`,
  ],
  [
    'the facts of a product in its order form',
    `<main><h1>Kettle</h1><p>${PARAGRAPH}</p><form><dl><dt>Volume<dd>1.7 litres<dt>Weight<dd>940 g</dl><input name=number><button>Order</button></form></main>`,
    `# Kettle\n\n${PARAGRAPH}\n\nVolume\n: 1.7 litres\n\nWeight\n: 940 g`,
  ],
  [
    'an article that exists only in JSON-LD',
    `<title>Bees</title><div id=root></div><script type="application/ld+json">{"@graph":[{"@type":"Organization","description":"${PARAGRAPH}"},{"@type":"NewsArticle","headline":"Water for bees","articleBody":${JSON.stringify(THREAD.join('\n'))},"publisher":{"name":"Town","description":"${PARAGRAPH}"}}]}</script>`,
    `${PARAGRAPH}\n\n## Water for bees\n\n${POSTS_TEXT}`,
  ],
];

test.each(keptContent)('keeps %s', (_name, html, text) => {
  expect(textOf(`<html><body>${html}`).replace(/\s*$/, '')).toBe(text);
});

const omitted: ReadonlyArray<readonly [name: string, html: string]> = [
  ['a cookie banner', `<div id=cookie-consent hidden><p>${ANSWER}</p><button>Accept all of them</button></div>`],
  [
    'a dialog about cookies whose id is made from its title',
    `<div id=privacy-settings role=alertdialog><h2>Privacy settings</h2><p>${ANSWER}</p></div>`,
  ],
  ['a consent dialog with a lower heading', `<div id=privacy-notice><h2>We care</h2><p>${ANSWER}</p></div>`],
  [
    'a consent dialog with a top heading next to the title of the page',
    `<h1>Fees</h1><div id=privacy-notice><h1>Privacy</h1><p>${ANSWER}</p></div>`,
  ],
  [
    'a consent dialog next to the main element',
    `<main></main><div id=privacy-notice><h1>Privacy</h1><p>${ANSWER}</p></div>`,
  ],
  [
    'a dialog of a consent management platform',
    `<section id=didomi class=didomi-popup><h2>Didomi</h2><p>${ANSWER}</p></section>`,
  ],
  [
    'a dialog that a button opens',
    `<button aria-controls=m1 aria-expanded=false>Write to us now</button><div id=m1 role=dialog aria-modal=true hidden>${ANSWER}</div>`,
  ],
  [
    'a modal that only its class and its button identify',
    `<a data-toggle=modal href="#m2">Open</a><div id=m2 class="modal fade" style="display:none">${ANSWER}</div>`,
  ],
  ['a template', `<template id=t1><p>${ANSWER}</p></template>`],
  [
    'a menu behind a button',
    `<button aria-controls=n1 aria-expanded=false>Menu</button><div id=n1 hidden><a href=/a>${ANSWER}</a><a href=/b>${ANSWER}</a></div>`,
  ],
  ['a hidden part that nothing opens', `<div hidden>${ANSWER}</div>`],
  [
    'a hidden part of the page header',
    `<header><button aria-expanded=false>More</button><div hidden>${ANSWER}</div></header>`,
  ],
  [
    'the data of a script in an element',
    `<div class=state>${JSON.stringify({ text: POSTS_TEXT, ids: [ANSWER] })}</div>`,
  ],
  ['the noscript of a page with text', `<noscript><p>${ANSWER}</p>${POSTS}</noscript>`],
  [
    'JSON-LD of a page with text',
    `<script type="application/ld+json">{"@type":"Article","articleBody":${JSON.stringify(POSTS_TEXT)}}</script>`,
  ],
];

test.each(omitted)('leaves out %s', (_name, html) => {
  const body = [
    PARAGRAPH,
    PARAGRAPH.replace('1874', '1875'),
    PARAGRAPH.replace('1874', '1876'),
    PARAGRAPH.replace('1874', '1877'),
  ];
  const article = body.map((text) => `<p>${text}</p>`).join('');
  const text = textOf(`<html><body><div>${article}</div>${html}`);
  expect(text.startsWith(body.join('\n\n'))).toBe(true);
  expect(text).not.toContain(ANSWER);
  expect(text).not.toContain(THREAD[0]);
});

test('does not treat a request to enable scripts as the content of a page', () => {
  const page =
    '<title>App</title><div id=root></div><noscript>You need to enable JavaScript to run this app.</noscript>';
  expect(faultOf(() => parsePage(page))).toBe('no_text');
});

test('does not count the title as text of the page', () => {
  const title = 'A long title of a page whose only text is a navigation of two links, and nothing more';
  expect(textOf(`<title>${title}</title><body><nav><a href=/a>Alpha</a> <a href=/b>Beta</a></nav>`)).toBe('Alpha Beta');
});

const rendered: ReadonlyArray<readonly [name: string, html: string, text: string]> = [
  [
    'a formula without alttext',
    '<p><math><mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup></math></p>',
    'E = mc^2',
  ],
  [
    'fractions, roots and indices',
    '<math><msub><mi>x</mi><mrow><mi>i</mi><mo>+</mo><mn>1</mn></mrow></msub><mo>=</mo><mfrac><mrow><mo>-</mo><mi>b</mi></mrow><mn>2</mn></mfrac><mo>+</mo><msqrt><mi>d</mi></msqrt></math>',
    'x_(i+1) = (-b)/2+√d',
  ],
  [
    'the TeX annotation of a formula',
    '<math><semantics><mi>x</mi><annotation encoding="application/x-tex">\\frac{a}{b}</annotation></semantics></math>',
    '\\frac{a}{b}',
  ],
  ['ruby without rp', '<p><ruby>東<rt>とう</rt>京<rt>きょう</rt></ruby>に住む</p>', '東京(とうきょう)に住む'],
  ['ruby with rp', '<p><ruby>漢字<rp>(</rp><rt>かんじ</rt><rp>)</rp></ruby>です</p>', '漢字(かんじ)です'],
];

test.each(rendered)('renders %s', (_name, html, text) => {
  expect(textOf(`<html><body>${html}`)).toBe(text);
});

test('repeats a cell of several rows in each of them', () => {
  const rows = [
    '<tr><th>Line<th>Stop<th>Time</tr>',
    '<tr><td rowspan=2>7<td>Harbour<td>8:10</tr>',
    '<tr><td>Market<td>8:25</tr>',
    '<tr><td>9<td colspan=2 rowspan=2>on request</tr>',
    '<tr><td>11</tr>',
    '<tr><td>12<td>School<td rowspan=999999>9:00</tr>',
    '<tr><td>14<td>Mill</tr>',
  ];
  expect(textOf(`<table>${rows.join('')}</table>`)).toBe(
    [
      '| Line | Stop | Time |',
      '| --- | --- | --- |',
      '| 7 | Harbour | 8:10 |',
      '| 7 | Market | 8:25 |',
      '| 9 | on request |',
      '| 11 | on request |',
      '| 12 | School | 9:00 |',
      '| 14 | Mill | 9:00 |',
    ].join('\n'),
  );
});

const part = (nth: number): string =>
  `<div hidden id="S:${nth}"><p>Some text of the streamed part ${nth}<template id="B:${nth + 1}"></template></div>`;

test('reads thousands of streamed parts that contain each other', () => {
  const parts = Array.from({ length: 3000 }, (_, at) => part(3000 - at)).join('');
  const text = textOf(`<html><body>${parts}<template id="B:1"></template>`);
  expect(text).toMatch(/streamed part 1\n+Some text of the streamed part 2\n/);
  expect(text).toContain('streamed part 3000');
});

test('limits the columns of a forged table', () => {
  const rows = '<tr><td rowspan=60000 colspan=40>a<td>b'.repeat(2000);
  const longest = Math.max(
    ...textOf(`<table>${rows}</table>`)
      .split('\n')
      .map((line) => line.split('|').length),
  );
  expect(longest).toBeLessThan(60);
});
