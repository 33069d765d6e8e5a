/** The layout of every page of the guide: head, contents, outline, and links to the neighbouring pages. */
import { addressOf, CONTENTS, linkBetween } from './contents.js';

export interface Heading {
  readonly level: number;
  readonly id: string;
  /** HTML without links. */
  readonly html: string;
}

export interface PageFrame {
  /** Path of the page below docs/. */
  readonly page: string;
  /** Titles of all pages, by path. */
  readonly titles: ReadonlyMap<string, string>;
  readonly content: string;
}

const HEADING = /<h([1-4]) id="([^"]*)"[^>]*>([\s\S]*?)<\/h\1>/g;

/** Returns the headings of rendered Markdown. */
export const headingsOf = (content: string): Heading[] =>
  [...content.matchAll(HEADING)].map(([, level = '', id = '', html = '']) => ({
    level: Number(level),
    id,
    html: html.replaceAll(/<\/?(?:a|span)\b[^>]*>/g, ''),
  }));

/** Returns the text of HTML, with single spaces. */
export const textOf = (html: string): string =>
  html
    .replaceAll(/<!--[\s\S]*?-->|<svg[\s\S]*?<\/svg>/g, ' ')
    .replaceAll(/<\/?(?:a|b|code|em|span|strong)\b[^>]*>/g, '')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** Returns the first sentence of the first paragraph, at most 200 characters, for search engines and previews. */
function descriptionOf(content: string): string {
  const [, paragraph = ''] = /<p>([\s\S]*?)<\/p>/.exec(content) ?? [];
  return textOf(paragraph)
    .replace(/^(.{20,200}?[.:])\s.*$/, '$1')
    .slice(0, 200)
    .replaceAll('"', '&quot;');
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** Returns the HTML of a page with its layout. */
export function framed({ page, titles, content }: PageFrame): string {
  const address = addressOf(page);
  const to = (other: string): string => linkBetween(address, other);
  const titleOf = (path: string): string => escaped(titles.get(path) ?? path);
  const parts = CONTENTS.map(({ title, pages }) => {
    const links = pages.map((path) => {
      const current = path === page ? ' aria-current="page"' : '';
      return `<li><a href="${to(addressOf(path))}"${current}>${titleOf(path)}</a></li>`;
    });
    const open = pages.includes(page) ? ' open' : '';
    return `<details${open}><summary>${title}</summary><ul>${links.join('')}</ul></details>`;
  });
  const part = CONTENTS.find(({ pages }) => pages.includes(page));
  const outline = headingsOf(content)
    .filter(({ level }) => level === 2 || level === 3)
    .map(({ level, id, html }) => `<li class="level${level}"><a href="#${id}">${html}</a></li>`);
  const order = CONTENTS.flatMap(({ pages }) => pages);
  const at = order.indexOf(page);
  const neighbour = (path: string | undefined, rel: 'prev' | 'next', word: string): string =>
    path === undefined
      ? '<span></span>'
      : `<a rel="${rel}" href="${to(addressOf(path))}"><small>${word}</small>${titleOf(path)}</a>`;
  const anchored = content.replaceAll(
    /(<h[2-4] id="([^"]*)"[^>]*>)([\s\S]*?)(<\/h[2-4]>)/g,
    '$1$3 <a class="anchor" href="#$2" aria-label="Link to this section">#</a>$4',
  );
  const home = address === 'index.html';
  const title = home ? 'Allotrope guide' : `${titleOf(page)} · Allotrope guide`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<meta name="description" content="${descriptionOf(content)}">
<link rel="icon" href="${to('assets/icon.svg')}">
<link rel="stylesheet" href="${to('assets/guide.css')}">
<script src="${to('assets/theme.js')}"></script>
<script type="module" src="${to('assets/guide.js')}"></script>
</head>
<body class="${home ? 'home' : 'page'}">
<a class="skip" href="#content">Skip to the content</a>
<header class="bar">
<a class="menu" href="#contents" aria-label="Contents">☰</a>
<a class="brand" href="${to('index.html')}"><img src="${to('assets/icon.svg')}" alt="" width="22" height="22">Allotrope</a>
<button class="search" type="button" hidden><span>Search</span><kbd>/</kbd></button>
<a class="reference" href="${to('../docs')}/">API reference</a>
<button class="theme" type="button" hidden aria-label="Switch between light and dark">◐</button>
</header>
<div class="frame">
<nav id="contents" aria-label="Contents">${parts.join('\n')}</nav>
<main id="content">
${home || !part ? '' : `<p class="part">${part.title}</p>\n`}<article>
${anchored}</article>
<footer>
<div class="neighbours">${neighbour(order[at - 1], 'prev', 'Previous')}${neighbour(order[at + 1], 'next', 'Next')}</div>
<p>Source: <code>docs/${page}</code></p>
</footer>
</main>
${outline.length > 1 ? `<aside aria-label="On this page"><p>On this page</p><ul>${outline.join('')}</ul></aside>` : '<aside></aside>'}
</div>
<dialog aria-label="Search"><form method="dialog"><input type="search" placeholder="Search the guide" autocomplete="off" spellcheck="false" aria-label="Search the guide"><button value="close" aria-label="Close">Esc</button></form><ol></ol><p class="hint">Type a word, a setting or an operation.</p></dialog>
</body>
</html>
`;
}
