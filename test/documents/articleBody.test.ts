import { expect, test } from '@jest/globals';
import { textOf } from './page.js';

const P = 'The harbour was built by the town in 1874, and it has been widened twice since then, in 1911 and in 1963.';
const OTHER =
  'The ferry leaves from the pier at nine, and its tickets cost less than those of the old ferry did in the year before.';
const ARTICLE =
  '<script type="application/ld+json">{"@context":"https://schema.org","@type":"NewsArticle","headline":"Harbour"}</script>';

const each = (render: (nth: number) => string, count: number): string =>
  Array.from({ length: count }, (_, i) => render(i + 1)).join('');
const paragraphs = (count: number, text = P): string => `<p>${text}</p>`.repeat(count);
const text = (...blocks: string[]): string => blocks.join('\n\n');

const comment = (nth: number): string =>
  `<li class=entry><b>Reader ${nth}</b>${paragraphs(2, `${OTHER} This is remark ${nth} on the article.`)}</li>`;
const dated = (nth: number): string =>
  `<li class=comment><span class=author>Reader ${nth}</span> <time datetime="2024-05-0${nth}">0${nth} May 2024</time>` +
  `${paragraphs(2, `${OTHER} This is remark ${nth} on the article.`)}</li>`;
const otherArticle = (nth: number): string =>
  `<article><h2>Ferry ${nth}</h2>${paragraphs(2, `${OTHER} ${nth}`)}</article>`;
const teaser = (nth: number): string =>
  `<li><h3><a href=/${nth}>Ferry ${nth} leaves on Monday</a></h3>${paragraphs(2, `${OTHER} ${nth}`)}</li>`;
const headline = (nth: number): string =>
  `<div class=line><a href=/${nth}>The new ferry number ${nth} leaves from the pier at nine on Monday, say its owners</a></div>`;
const pointer = (nth: number): string => `<p><a href=/${nth}>The ferry ${nth} leaves on Monday</a></p>`;

/** A page that declares an article of five paragraphs, with a block after the fourth. */
const page = (inside: string, after: string, tag = 'div'): string =>
  `<head>${ARTICLE}</head><body><div class=page><${tag} class=text><h1>Harbour</h1>${paragraphs(4)}${inside}` +
  `${paragraphs(1)}</${tag}>${after}</div>`;
const TEXT = text('# Harbour', P, P, P, P, P);

const omittedContent: ReadonlyArray<readonly [name: string, html: string]> = [
  [
    'comments of readers that are longer than the article',
    page('', `<div id=comments><ul>${each(comment, 9)}</ul></div>`),
  ],
  ['further articles', page('', `<div class=flow>${each(otherArticle, 4)}</div>`, 'article')],
  ['a list of other pages that is longer than the article', page('', `<div><ul>${each(teaser, 6)}</ul></div>`)],
  ['a long sidebar', page('', `<div class=sidebar><div><h3>Ferry</h3>${paragraphs(4, OTHER)}</div></div>`)],
  ['a block of related pages inside of the article', page(`<div class=related-box><p>${OTHER}</p></div>`, '')],
  [
    'a paragraph that is a link in bold type',
    page('<p><strong><a href=/f>The ferry leaves on Monday</a></strong></p>', ''),
  ],
  ['paragraphs in a row that are links', page(each(pointer, 3), '')],
  [
    'a block of links before the article',
    page('', '').replace(
      '<div class=text>',
      `<div class=top>${each(headline, 4)}<p>${OTHER}</p></div><div class=text>`,
    ),
  ],
];

test('a page that declares an article keeps table columns with class names of captions, and omits captions', () => {
  const table =
    '<table><tr><th>Item</th><th class=credit>Credit</th><th>Balance</th></tr>' +
    '<tr><td>Rope</td><td class=credit>250</td><td class=account>240</td></tr></table>' +
    '<table><tr><td><img src=a.jpg></td></tr><tr><td class=caption>The pier in winter</td></tr></table>';
  const rows = '| Item | Credit | Balance |\n| --- | --- | --- |\n| Rope | 250 | 240 |';
  expect(textOf(page(table, ''))).toBe(text('# Harbour', P, P, P, P, rows, P));
});

test.each(omittedContent)('a page that declares an article leaves out %s', (_name, html) => {
  expect(textOf(html)).toBe(TEXT);
});

test('removes comments in a column that also names the author of the article', () => {
  const author = (name: string): string =>
    `<span class=author>${name}</span> <time datetime="2024-05-01">1 May 2024</time>`;
  const column =
    `<div class=column><h1>Harbour</h1>${author('Ann Smith')}<div class=text>${paragraphs(5)}</div>` +
    `<div id=comments><ul>${each(dated, 8)}</ul></div></div>`;
  const latest = `<div class=column>${author('Reader 1')} commented on <a href=/x>Ferries</a> and on the harbour</div>`;
  const html = `<head>${ARTICLE}</head><body><div class=grid>${column}${latest}</div>`;
  expect(textOf(html)).toBe(text('## Ann Smith, 1 May 2024', TEXT));
});

const FERRIES = each((nth) => `\n\nThe ferry ${nth} leaves on Monday`, 3);
const keptContent: ReadonlyArray<readonly [name: string, html: string, text: string]> = [
  [
    'links in a row that a paragraph announces',
    page(`<p>Three ferries leave from the pier:</p>${each(pointer, 3)}`, ''),
    text('# Harbour', P, P, P, P, `Three ferries leave from the pier:${FERRIES}`, P),
  ],
  [
    'links in a row below a heading',
    page(`<h2>Ferries</h2>${each(pointer, 3)}`, ''),
    text('# Harbour', P, P, P, P, `## Ferries${FERRIES}`, P),
  ],
  [
    'an article in an element that is named for its sidebar',
    page('', '').replace('class=page', 'class=with-sidebar'),
    TEXT,
  ],
  [
    'comments that are the content of the page',
    `<head>${ARTICLE}</head><body><h1>Harbour</h1><p>${P}</p><div id=comments><ul>${each(dated, 2)}</ul></div>`,
    text(
      '# Harbour',
      P,
      ...[1, 2].flatMap((nth) => {
        const remark = `${OTHER} This is remark ${nth} on the article.`;
        return [`## Reader ${nth}, 0${nth} May 2024`, remark, remark];
      }),
    ),
  ],
];

test.each(keptContent)('a page that declares an article keeps %s', (_name, html, expected) => {
  expect(textOf(html)).toBe(expected);
});

const regulation = (nth: number): string => `<li><a href=/t/${nth}>Regulation number ${nth} of the harbour</a></li>`;
const columns = (nextToLinks: string): string =>
  `<body><main><div class=row><div class=content><ul class=content>${each(regulation, 20)}</ul></div>` +
  `<div class=one>${nextToLinks}</div></div></main>`;

test('removes a column of links next to the text', () => {
  expect(textOf(columns(`<p class=title>Harbour</p>${paragraphs(3)}`))).toBe(text('Harbour', P, P, P));
});

test('a column of links stays if the page has little other text', () => {
  expect(textOf(columns('<p>Harbour</p>'))).toContain('Regulation number 20 of the harbour');
});

const permit = (nth: number): string => `<li><a href=/t/${nth}>Permit number ${nth} of the office</a></li>`;
const office = (nth: number): string => `<li>Office ${nth}<ul>${each(permit, 5)}</ul></li>`;

test('removes the menu of a page without a title', () => {
  const menu = `<nav id=mm><ul>${each(office, 8)}</ul></nav>`;
  expect(textOf(`<body>${menu}<div class=page><p class=title>Harbour</p>${paragraphs(4)}</div>`)).toBe(
    text('Harbour', P, P, P, P),
  );
});

test('removes labels of pictures that link to other pages, and keeps labels of other pictures', () => {
  const logo = '<p><a href=/o><img src=o.png alt="Logo of the office"></a></p>';
  const map = '<p><img src=m.png alt="Map of the three piers"></p>';
  const note = `<p><a href="#c1"><img src=1.png alt="Note 1"></a> ${OTHER}</p>`;
  expect(textOf(`<body><main><h1>Harbour</h1>${paragraphs(3)}${logo}${map}${note}</main>`)).toBe(
    text('# Harbour', P, P, P, 'Map of the three piers', `Note 1 ${OTHER}`),
  );
});

test('labels of pictures that are links stay if they are much of the text', () => {
  const piers = each(
    (nth) => `<li><a href=/${nth}><img src=${nth}.png alt="Pier number ${nth} of the town"></a></li>`,
    9,
  );
  expect(textOf(`<body><main><h1>Piers</h1><p>${P}</p><ul>${piers}</ul></main>`)).toContain(
    'Pier number 9 of the town',
  );
});

test.each(['onetrust-banner-sdk', 'ccc-notify'])('removes the consent dialog #%s with its heading', (id) => {
  const dialog = `<div id=${id}><h1>We care about your privacy</h1>${paragraphs(2, OTHER)}</div>`;
  expect(textOf(`<body>${dialog}<main><h2>Harbour</h2>${paragraphs(3)}</main>`)).toBe(text('## Harbour', P, P, P));
});

const TITLE = 'The new ferry leaves on Monday';

test('removes a block with the text of the title', () => {
  const trail = `<div class=trail><p>${TITLE}</p></div>`;
  const html = `<body><main>${trail}<h1>${TITLE}</h1>${paragraphs(2)}<h2>${TITLE}</h2>${paragraphs(1)}</main>`;
  expect(textOf(html)).toBe(text(`# ${TITLE}`, P, P, P));
});

test.each([
  ['a cell of a table', `<table><tr><th>Name<td>${TITLE}<tr><th>Pier<td>Third</table>`, `| Name | ${TITLE} |`],
  ['a short text', '<h1>Ferry</h1><p>Ferry</p>', '# Ferry\n\nFerry'],
])('%s with the text of the title stays', (_name, block, expected) => {
  const title = block.startsWith('<h1>') ? '' : `<h1>${TITLE}</h1>`;
  expect(textOf(`<body><main>${title}${block}${paragraphs(2)}</main>`)).toContain(expected);
});

test('a page of documentation keeps a section whose heading equals the title of the page', () => {
  const name = 'harbour.gates.north_gate_controller';
  const head = '<meta name="generator" content="Sphinx 7.2">';
  const html = `<head>${head}</head><body><main><h1>${name}</h1><p>${P}</p><h2>${name}</h2><p>${OTHER}</p></main>`;
  expect(textOf(html)).toBe(text(`# ${name}`, P, `## ${name}`, OTHER));
});
