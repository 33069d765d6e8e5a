import { describe, expect, test } from '@jest/globals';

import { isEmptyShell } from '../../../connectors/web/emptyShell.js';
import { samplePage } from '../../emulators/site.js';

const isShell = (html: string) => isEmptyShell(Buffer.from(html));
const SCRIPT = '<script type="module" crossorigin src="/assets/index-a1.js"></script>';

describe('an empty shell', () => {
  test.each([
    [
      'an element that a framework fills',
      `<!doctype html><html><head><title>A title of the page, which is not part of the text</title>${SCRIPT}</head><body><div id="root"></div></body></html>`,
    ],
    [
      'a notice for visitors without scripts',
      `<body><noscript>You need to enable JavaScript to run this app.</noscript><div class=page></div>${SCRIPT}</body>`,
    ],
    ['an element with a custom name', `<body><app-root></app-root><script>start()</script></body>`],
    [
      'an element in capitals with a loading message',
      `<body><DIV ID=app>Loading</DIV><SCRIPT SRC=a.js></SCRIPT></body>`,
    ],
    [
      'an element with tags inside its attributes',
      `<body><div id='__next' data-x="a > b and ${'much more '.repeat(50)}"><p>Please wait</p></div>${SCRIPT}`,
    ],
    [
      'styles and data without text',
      `<style>${'p { color: red }'.repeat(500)}</style><script>window.state = "${'words '.repeat(5000)}"; a < b</script><main></main>`,
    ],
    [
      'text that is not displayed',
      `<svg><text>${'drawn '.repeat(100)}</text></svg><template>${'later '.repeat(100)}</template><!-- ${'a note '.repeat(100)}--><script src=x></script>`,
    ],
    ['a loading message', `<body> <div>Loading…</div><script src=x></script>`],
    ['a script alone', `<script src=x>`],
    [
      'a long head before the element to fill',
      `<style>${'p { color: red }'.repeat(2_000)}</style><div id=root></div>${SCRIPT}`,
    ],
  ])('%s', (_, html) => {
    expect(isShell(html)).toBe(true);
  });
});

describe('a page that is not an empty shell', () => {
  test.each([
    ['an ordinary page', samplePage(3)],
    ['a page rendered by the server', `<div id="root"><p>${'Rendered there. '.repeat(20)}</p></div>${SCRIPT}`],
    ['an element to fill, without a script', '<div id="root"></div>'],
    ['a short page with a script', '<p>A short page.</p><script src="/analytics.js"></script>'],
    [
      'JSON-LD data, but no program',
      '<div id="root"></div><script type="application/ld+json">{"@type": "Article"}</script>',
    ],
    ['JSON data, but no program', '<div id="root"></div><script type="application/json">{}</script>'],
    ['a notice without a script', '<noscript>Enable JavaScript</noscript>'],
    ['nothing', ''],
    ['words', 'words'],
    [
      'a long head before the words',
      `${SCRIPT}<style>${'p { color: red }'.repeat(2_000)}</style><div id=root>${'Rendered there. '.repeat(20)}</div>`,
    ],
    ['a long head without a script', `<style>${'p { color: red }'.repeat(2_000)}</style><div id=root></div>`],
    ['the beginning of a tag', '<'],
    ['an image for visitors without scripts', `<noscript><img src="/count.gif"></noscript><p>Short.</p>${SCRIPT}`],
    [
      'a long page with an element to fill',
      `<table><tr><td>4 &lt; 5<td>${'1 '.repeat(300)}</table>${SCRIPT}<p id=app>`,
    ],
  ])('%s', (_, html) => {
    expect(isShell(html)).toBe(false);
  });

  test('a page in UTF-16', () => {
    const html = `\ufeff<div id="root">${'text '.repeat(100)}</div>${SCRIPT}`;
    expect(isEmptyShell(Buffer.from(html, 'utf16le'))).toBe(false);
  });
});

test.each([
  ['open tags', '<a '],
  ['open quotes', '<a b="'],
  ['closed quotes', '<a b=""'],
  ['scripts', '<script>'],
  ['end tags without names', '</'],
  ['comments', '<!--'],
  ['roots', '<p id=root>'],
  ['types', '<script type = type = >'],
  ['noscripts', '<noscript>java</noscript>'],
  ['spaces', `<p id${' '.repeat(1900)}>`],
])('decides on a hostile page of %s in linear time', (_, piece) => {
  const page = Buffer.from(`<script></script>${piece.repeat(20_000_000 / piece.length)}`);
  const start = process.cpuUsage();
  isEmptyShell(page);
  const { user, system } = process.cpuUsage(start);
  // Linear time takes milliseconds, quadratic time minutes.
  expect(user + system).toBeLessThan(3_000_000);
});
