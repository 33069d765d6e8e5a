import { expect, test } from '@jest/globals';
import { faultOf, LIMITS, parsePage, textOf } from './page.js';

const PARAGRAPH =
  'The harbour was built by the town in 1874, and it has been widened twice since then, in 1911 and in 1963.';
const NAV =
  '<ul><li><a href=/>Home</a><li><a href=/news>News</a><li><a href=/about>About us</a><li><a href=/contact>Contact</a></ul>';
const MACHINES = ['A', 'B', 'C', 'D', 'E'].map((name) => `Machine ${name}, with a seat, in the old harbour`);
const SCRIPTS =
  '<script>var a = "<p>no</p>";</script><style>p { color: red }</style><noscript>Enable scripts</noscript><template><p>no</p></template><svg><text>no</text></svg>';

const cases: ReadonlyArray<readonly [name: string, html: string, text: string]> = [
  [
    'reads only the main element',
    `<body>${SCRIPTS}<header><a href=/>Logo</a><nav>${NAV}</nav></header><main><h1>Harbour</h1><p>${PARAGRAPH}</p></main><aside><p>Advertisement</p></aside><footer>© Town</footer>`,
    `# Harbour\n\n${PARAGRAPH}`,
  ],
  [
    'treats roles like elements',
    `<div role=banner>${NAV}</div><div role=navigation>${NAV}</div><div role=main><p>${PARAGRAPH}</p></div><div role=complementary>More</div><div role=search>Find</div><div role=contentinfo>©</div>`,
    PARAGRAPH,
  ],
  [
    'keeps the header, footer and aside of an article',
    `<nav>${NAV}</nav><article><header><h1>Harbour</h1><p>By Ann</p></header><p>${PARAGRAPH}</p><aside>A note</aside><footer>Printed 1990</footer></article><footer>© Town</footer>`,
    `# Harbour\n\nBy Ann\n\n${PARAGRAPH}\n\nA note\n\nPrinted 1990`,
  ],
  [
    'keeps the text between several articles',
    `<nav>${NAV}</nav><div><h1>News</h1><article><h2>One</h2><p>${PARAGRAPH}</p></article><article><h2>Two</h2><p>${PARAGRAPH}</p></article></div>`,
    `# News\n\n## One\n\n${PARAGRAPH}\n\n## Two\n\n${PARAGRAPH}`,
  ],
  [
    'does not treat a teaser in an article as the main text',
    `<article>Read this</article><p>${PARAGRAPH}</p><p>${PARAGRAPH}</p>`,
    `Read this\n\n${PARAGRAPH}\n\n${PARAGRAPH}`,
  ],
  [
    'keeps links in a sentence between blocks',
    `<body><article><h1>Harbour</h1>${`<p>${PARAGRAPH}</p>`.repeat(6)}<div>The boat, also sold as <a href=/nora class=btn>Nora</a>, is <a href=/test>fast</a>.<div>${PARAGRAPH} It is deep.</div></div></article>`,
    `# Harbour\n\n${Array.from({ length: 6 }, () => PARAGRAPH).join('\n\n')}\n\nThe boat, also sold as Nora, is fast.\n\n${PARAGRAPH} It is deep.`,
  ],
  [
    'drops a block that scores just below the threshold for removal if most of the text remains without it',
    `<body><main><article><h1>Harbour</h1>${`<p>${PARAGRAPH}</p>`.repeat(6)}</article><div class=newsletter><h4>Our letter</h4><p>One letter each week with news from the coast.</p><form><input type=email></form></div></main>`,
    `# Harbour\n\n${Array.from({ length: 6 }, () => PARAGRAPH).join('\n\n')}`,
  ],
  [
    'keeps a block that scores just below the threshold for removal if less than half of the text remains without it',
    `<main><article><h1>Harbour</h1><p>${PARAGRAPH}</p></article><div class=bottom><p><a href=/1>The ferry leaves from the pier</a> and tickets cost less</p><p><a href=/2>The tower opens at nine</a> and there is a walk along the old wall</p><p><a href=/3>Boats for rent by the hour</a> and the market has fish and bread</p></div></main>`,
    `# Harbour\n\n${PARAGRAPH}\n\nThe ferry leaves from the pier and tickets cost less\n\nThe tower opens at nine and there is a walk along the old wall\n\nBoats for rent by the hour and the market has fish and bread`,
  ],
  [
    'drops a page footer that is longer than the content of the page',
    `<main><h1>Rowing machines</h1><ul>${MACHINES.map((name) => `<li>${name}</li>`).join('')}</ul></main><footer>${`<p>${PARAGRAPH} ${PARAGRAPH}</p>`.repeat(2)}</footer>`,
    `# Rowing machines\n\n${MACHINES.map((name) => `- ${name}`).join('\n')}`,
  ],
  [
    'keeps the footer of a page that has little else',
    `<div>Soon</div><footer><p>${PARAGRAPH}</p><p>${PARAGRAPH}</p></footer>`,
    `Soon\n\n${PARAGRAPH}\n\n${PARAGRAPH}`,
  ],
  ['ignores an empty main element', `<main></main><div><p>${PARAGRAPH}</p></div>`, PARAGRAPH],
  [
    'keeps the heading above the main element',
    `<header><h1>Harbour</h1></header><main><p>${PARAGRAPH}</p></main>`,
    `# Harbour\n\n${PARAGRAPH}`,
  ],
  [
    'drops the name of the site above the main element',
    `<header><h1><a href=/>Town</a></h1></header><main><p>${PARAGRAPH}</p></main>`,
    PARAGRAPH,
  ],
  [
    'drops hidden parts',
    `<p>${PARAGRAPH}</p><p hidden>no</p><p aria-hidden=true>no</p><div style="color:red; display:none">no</div><dialog>no</dialog>`,
    PARAGRAPH,
  ],
  [
    'reads a page that is hidden until a script shows it',
    `<div style="visibility:hidden"><p>${PARAGRAPH}</p></div>`,
    PARAGRAPH,
  ],
  [
    'drops a search form',
    `<form><label>Search</label><input name=q><button>Go</button></form><p>${PARAGRAPH}</p>`,
    PARAGRAPH,
  ],
  [
    'reads a page inside a form',
    `<form id=aspnet><input type=hidden><h1>Harbour</h1><p>${PARAGRAPH}</p><select><option>no</select></form>`,
    `# Harbour\n\n${PARAGRAPH}`,
  ],
  [
    'keeps buttons inside headings',
    `<h2><button>Who built it?</button></h2><p>${PARAGRAPH}</p><button>Share</button>`,
    `## Who built it?\n\n${PARAGRAPH}`,
  ],
  [
    'drops unnamed menus before and after the text',
    `<div><div>${NAV}</div><div><h1>Harbour</h1><p>${PARAGRAPH}</p></div><div><a href=/>Imprint</a> | <a href=/p>Privacy</a> | <a href=/t>Terms</a></div></div>`,
    `# Harbour\n\n${PARAGRAPH}`,
  ],
  [
    'drops a menu in the first cell of a layout table',
    `<table><tr><td width=100><a href=a>Start</a><br><a href=b>Links</a><br><a href=c>Guest book</a></td><td><h1>Harbour</h1><font face=Arial>${PARAGRAPH}<br>${PARAGRAPH}<br>${PARAGRAPH}</font></td></tr></table>`,
    `# Harbour\n\n${PARAGRAPH}\n${PARAGRAPH}\n${PARAGRAPH}`,
  ],
  [
    'keeps a list of links before the text, and removes a list of other pages after it together with its heading',
    `<h1>Harbour</h1><ul><li><a href=#a>History</a><li><a href=#b>Ships</a></ul><p>${PARAGRAPH}</p><h2>See also</h2><ul><li><a href=x>Town</a><li><a href=y>River</a></ul>`,
    `# Harbour\n\n- History\n- Ships\n\n${PARAGRAPH}`,
  ],
  [
    'keeps a box of links with a heading',
    `<h1>Harbour</h1><div class=rightsidebar><h4>Facts</h4><ul><li><a href=a>Oldest of the coast</a><li><a href=b>Widened twice</a></ul></div><p>${PARAGRAPH}</p>`,
    `# Harbour\n\n#### Facts\n\n- Oldest of the coast\n- Widened twice\n\n${PARAGRAPH}`,
  ],
  [
    'drops an element named header, sidebar or footer only if it is full of links',
    `<div class="site-header">${NAV}</div><div id=sidebar><p>${PARAGRAPH.slice(0, 40)}</p></div><p>${PARAGRAPH}</p><p>${PARAGRAPH}</p><div id="footer"><p>${NAV}</p></div>`,
    `${PARAGRAPH.slice(0, 40)}\n\n${PARAGRAPH}\n\n${PARAGRAPH}`,
  ],
  [
    'drops permalinks, including those of an icon font',
    `<h1>Harbour<a class=headerlink href=#harbour>¶</a></h1><h2>Quay<a href=page.html#quay>\uF0C1</a></h2><p>${PARAGRAPH}</p>`,
    `# Harbour\n\n## Quay\n\n${PARAGRAPH}`,
  ],
  [
    'drops related pages after the text, in any language and with any class',
    `<article><h1>Harbour</h1><p>${PARAGRAPH}</p><p>${PARAGRAPH}</p><p>${PARAGRAPH}</p></article><section class=x1><h3>Ähnliche Beiträge</h3><ul><li><a href=1><img src=1.jpg>Der Leuchtturm wird erneuert</a><li><a href=2><img src=2.jpg>Die Fähre fährt wieder täglich</a><li><a href=3><img src=3.jpg>Das Rettungsboot ist zurück</a></ul></section>`,
    `# Harbour\n\n${PARAGRAPH}\n\n${PARAGRAPH}\n\n${PARAGRAPH}`,
  ],
  [
    'keeps footnotes at the end',
    `<h1>Harbour</h1><p>${PARAGRAPH}<a href=#n1>1</a></p><section role=doc-endnotes><ol><li id=n1>Without tax. <a href=#r1>↩︎</a></ol></section>`,
    `# Harbour\n\n${PARAGRAPH}1\n\n1. Without tax. ↩︎`,
  ],
  [
    'keeps a heading and the paragraph below it at the end',
    `<h1>Harbour</h1><p>${PARAGRAPH}</p><h1>Outlook</h1><p>${PARAGRAPH}</p>`,
    `# Harbour\n\n${PARAGRAPH}\n\n# Outlook\n\n${PARAGRAPH}`,
  ],
  ...(
    [
      [
        'PostgreSQL',
        `<div class=navheader><table><tr><th colspan=2>8.1. Harbour</th></tr><tr><td><a href=p>Prev</a></td><td><a href=n>Next</a></td></tr></table></div>TEXT<div class=navfooter><table><tr><td><a href=p>Prev</a></td><td><a href=n>Next</a></td></tr></table></div>`,
      ],
      [
        'the Debian handbook',
        `<ul class=docnav><li><a href=p>Prev</a><li>The book<li><a href=n>Next</a></ul>TEXT<ul class=docnav><li><a href=p>Prev</a><li><a href=u>Up</a></ul>`,
      ],
      [
        'Apache httpd',
        `<div id=path><a href=a>Apache</a> &gt; <a href=b>HTTP Server</a> &gt; <a href=c>Documentation</a></div><div class=toplang><p>Available Languages: <a href=en>en</a> | <a href=fr>fr</a></p></div>TEXT<div class=bottomlang><p>Available Languages: <a href=en>en</a></p></div>`,
      ],
      [
        'Node.js',
        `<div id=column2><ul>${['Assertions', 'Async hooks', 'Buffer', 'Cluster', 'Console', 'Crypto'].map((name) => `<li><a href=${name}>${name}</a>`).join('')}</ul></div><div id=column1>TEXT</div>`,
      ],
      [
        'MkDocs',
        `<div role=navigation><ul class=wy-breadcrumbs><li><a href=..>Docs</a> »<li>Harbour</ul></div><div role=main>TEXT</div><footer><a href=n>Next</a> <a href=p>Previous</a></footer>`,
      ],
    ] as const
  ).map(
    ([generator, html]) =>
      [
        `drops the bars and menus of ${generator}`,
        html.replace('TEXT', `<h1>Harbour</h1><p>${PARAGRAPH}</p><pre>ls</pre><p>${PARAGRAPH}</p>`),
        `# Harbour\n\n${PARAGRAPH}\n\n\`\`\`\nls\n\`\`\`\n\n${PARAGRAPH}`,
      ] as const,
  ),
];

test.each(cases)('%s', (_name, html, text) => {
  expect(textOf(html)).toBe(text);
});

const onlyPages: ReadonlyArray<readonly [name: string, html: string, text: string]> = [
  [
    'a list of links',
    `<ul><li><a href=1>First page</a><li><a href=2>Second page</a><li><a href=3>Third page</a></ul>`,
    '- First page\n- Second page\n- Third page',
  ],
  ['links in a nav', `<h1>Index</h1><nav>${NAV}</nav>`, '# Index\n\n- Home\n- News\n- About us\n- Contact'],
  ['a table', '<table><tr><td>a<td>b<tr><td>1<td>2</table>', '| a | b |\n| --- | --- |\n| 1 | 2 |'],
  ['preformatted text', '<pre>RFC 1\n\n  Text</pre>', '```\nRFC 1\n\n  Text\n```'],
  [
    'a header',
    '<header><h1>Welcome to the town by the sea</h1><p>We are glad that you are here.</p></header>',
    '# Welcome to the town by the sea\n\nWe are glad that you are here.',
  ],
  ['one word', 'Hello', 'Hello'],
  ['text after the end of the page', '<html><body></body></html>Hello', 'Hello'],
  ['an image with words', '<img src=a.png alt="Closed for the winter">', 'Closed for the winter'],
];

test.each(onlyPages)('reads a page that is only %s', (_name, html, text) => {
  expect(textOf(html)).toBe(text);
});

test.each([
  ['empty', ''],
  ['only white space', '<body> \n&nbsp;&#8203; </body>'],
  [
    'only a title',
    '<title>App</title><div id=root></div><script>start()</script><noscript>You need JavaScript</noscript>',
  ],
])('reports no_text for a page that is %s', (_name, html) => {
  expect(faultOf(() => textOf(html))).toBe('no_text');
});

test('removes the elements that the request skips before it looks for the main text', () => {
  const html = `<main class="wrap"><p>Boring</p></main><div id=real><h1>Harbour</h1><p class="x ad">Buy</p><p class="add" data-x=1>${PARAGRAPH}</p><nosuch>tag</nosuch></div>`;
  const skips = { tags: ['MAIN', 'nosuch'], classes: [' .ad '], selectors: [' ', '#real > h1'] };
  expect(textOf(html, { html: skips })).toBe(PARAGRAPH);
  expect(faultOf(() => textOf(html, { html: { tags: ['body', 'main', 'div'], classes: [], selectors: [] } }))).toBe(
    'no_text',
  );
});

test('rejects an invalid selector', () => {
  expect(() => textOf('<p>x', { html: { tags: [], classes: [], selectors: ['p['] } })).toThrow(/CSS selector "p\["/);
});

test('rejects more text than allowed and names the setting', () => {
  const limits = { ...LIMITS, maxDepth: 512, maxAttributesPerElement: 100, maxTextCharacters: 50 };
  expect(faultOf(() => parsePage(`<p>${PARAGRAPH}</p>`, {}, limits))).toBe('too_large');
  expect(() => parsePage(`<p>${PARAGRAPH}</p>`, {}, limits)).toThrow(/MAX_TEXT_CHARACTERS/);
});
