import { expect, test } from '@jest/globals';
import { textOf } from './page.js';

const cases: ReadonlyArray<readonly [name: string, html: string, text: string]> = [
  ['headings and paragraphs', '<h1>One</h1><p>a</p><h3>Two</h3>b', '# One\n\na\n\n### Two\n\nb'],
  [
    'white space, collapsed as in a browser',
    '<p>  one\n two&nbsp;&nbsp;three <b>four</b>five </p>',
    'one two three fourfive',
  ],
  [
    'entities, named, numbered and from windows-1252',
    '<p>&lt;b&gt; &eacute; &#233; &#x20AC; &#150; a&amp;b &copy</p>',
    '<b> é é € – a&b ©',
  ],
  [
    'joiners inside words, but no other invisible characters',
    '<p>so\u00adft z\u200bero می\u200cخواهم 👩\u200d💻 \u200d\ufeffend</p>',
    'soft zero می\u200cخواهم 👩\u200d💻 end',
  ],
  [
    'lists, nested and numbered',
    '<ul><li>a<li>b<ul><li>c</ul><li>d</ul><ol start=3><li>x<li value=9>y<li>z</ol>',
    '- a\n- b\n  - c\n- d\n\n3. x\n9. y\n10. z',
  ],
  [
    'lists that count down, from their length or from their start',
    '<ol reversed><li>x<li>y</ol><p>Then</p><ol reversed start=9><li>x<li>y</ol>',
    '2. x\n1. y\n\nThen\n\n9. x\n8. y',
  ],
  [
    'lists that count down, with white space between their items',
    '<ol reversed>\n<li>x</li>\n<li>y</li>\n</ol>',
    '2. x\n1. y',
  ],
  [
    'lines of code in indented divs, without their pop-ups',
    '<p>Run</p><div class=code><div class=row><span>1</span>if (a)</div><div class=row><span>2</span>  b();</div><div class=row><span>3</span>  c();</div><div id=tip><p>Pop-up</p></div></div>',
    'Run\n\n```\nif (a)\n  b();\n  c();\n```',
  ],
  [
    'divs that are indented by one space as text, not as code',
    '<p>Run</p><div class=code><div class=row>if (a)</div><div class=row> b();</div><div class=row> c();</div></div>',
    'Run\n\nif (a)\nb();\nc();',
  ],
  [
    'indented divs next to other divs, blocks or text as text, not as code',
    ['<div class=other>Then</div>', '<div><p>Then</p></div>', 'Then']
      .map(
        (other) =>
          `<div class=code><div class=row>if (a)</div><div class=row>  b();</div><div class=row>  c();</div>${other}</div>`,
      )
      .join('<hr>'),
    ['if (a)\nb();\nc();\nThen', 'if (a)\nb();\nc();\n\nThen', 'if (a)\nb();\nc();\n\nThen'].join('\n\n'),
  ],
  [
    'links to notes, marked as such, if their text is a number',
    '<p>Word<a epub:type=noteref href=#n>12</a> and <a epub:type=noteref href=#m>see there</a>.</p>',
    'Word[12] and see there.',
  ],
  [
    'tables for layout only, which their role states',
    '<table role=none><tr><td>a<td>b<tr><td>c<td>d</table><table role=presentation><tr><td>e<td>f<tr><td>g<td>h</table>',
    'a\n\nb\n\nc\n\nd\n\ne\n\nf\n\ng\n\nh',
  ],
  ['paragraphs inside list items', '<ol><li><p>a</p><p>b</p></li><li><p>c</p></li></ol>', '1. a\n\n   b\n2. c'],
  ['code inside a list item', '<ul><li>run<pre>a\n  b</pre></ul>', '- run\n\n  ```\n  a\n    b\n  ```'],
  [
    'definition lists',
    '<dl><dt>Term<dd>Meaning<dd>Other<dt>Next<dd><p>One</p><p>Two</p></dl>',
    'Term\n: Meaning\n: Other\n\nNext\n: One\n\n  Two',
  ],
  ['a definition list used to indent', '<dl><dd>Only indented</dl>', 'Only indented'],
  ['quotes', '<p>He said</p><blockquote><p>One</p><p>Two</p></blockquote>', 'He said\n\n> One\n\n> Two'],
  [
    'quotes at the start of an item and of a definition',
    '<ul><li><blockquote>One</blockquote></ul><dl><dt>Term<dd><blockquote><p>Two</p></blockquote><p>Three</p></dl>',
    '- > One\n\nTerm\n: > Two\n\n  Three',
  ],
  ['quotes that only indent code', '<blockquote><pre>x = 1</pre></blockquote>', '```\nx = 1\n```'],
  [
    'code with its white space',
    '<pre>\n  if (a &lt; b) {\n\n\treturn;\n  }  \n</pre>',
    '```\n  if (a < b) {\n\n\treturn;\n  }\n```',
  ],
  ['the language of code', '<pre><code class="language-ts">let a;</code></pre>', '```ts\nlet a;\n```'],
  ['a fence longer than the fences inside', '<pre>```\nx\n```</pre>', '````\n```\nx\n```\n````'],
  [
    'inline code',
    '<p>Call <code>f(x)</code> or <tt>a`b</tt>, <kbd><b>Ctrl</b>+C</kbd>.</p>',
    'Call `f(x)` or `` a`b ``, `Ctrl+C`.',
  ],
  ['code made of br and nbsp', '<tt>$ ls<br>\na&nbsp;&nbsp;&nbsp;b</tt>', '```\n$ ls\na   b\n```'],
  ['line breaks', 'one<br>two<br/><br>three<br><br><br>four', 'one\ntwo\n\nthree\n\nfour'],
  [
    'links and images as words',
    '<p><a href="/x">Here</a> is <img src=a.png alt="a cat"><img src=b.png alt="b.png"><img alt="" src=c.png>.</p>',
    'Here is a cat .',
  ],
  [
    'powers, ordinals and footnotes',
    '<p>2<sup>32</sup>, (a+b)<sup>2</sup>, 1<sup>st</sup>, H<sub>2</sub>O, word<sup><a href="#n">1</a></sup></p>',
    '2^32, (a+b)^2, 1st, H2O, word[1]',
  ],
  [
    'roots, and signs before and after a letter, in formulas',
    '<p><math alttext=""><mroot><mi>x</mi><mn>3</mn></mroot><mo>=</mo><mmultiscripts><mi>C</mi><mn>4</mn><none/><mprescripts/><mn>6</mn><mn>14</mn></mmultiscripts></math></p>',
    'x^(1/3) = _6^14C_4',
  ],
  ['quotations in a sentence', '<p>He said <q>come here</q> and left.</p>', 'He said “come here” and left.'],
  ['formulas', '<p>Take <math alttext="x^2"><mi>x</mi><mn>2</mn></math> now</p>', 'Take x^2 now'],
  [
    'headings without permalink signs',
    '<h2>Title<a class=headerlink href="#title">¶</a></h2><p>Text</p>',
    '## Title\n\nText',
  ],
  ['a heading without an end tag', '<h2>Title<p>Text<p>More', '## Title\n\nText\n\nMore'],
  ['short lines made of divs', '<div>Street 1</div><div>12345 Town</div><p>Text</p>', 'Street 1\n12345 Town\n\nText'],
  ['misnested formatting', '<b>one<p>two</b> three</p>', 'one\n\ntwo three'],
  [
    'elements without end tags',
    '<p>a<p>b<table><tr><td>c<td>d<tr><td>e<td>f</table>',
    'a\n\nb\n\n| c | d |\n| --- | --- |\n| e | f |',
  ],
  [
    'anchors without end tags',
    '<a name=top><h1>A</h1><ul><li>one <a href=x>two</a><li>three</ul>',
    '# A\n\n- one two\n- three',
  ],
  [
    'the label of a field and its count as separate words',
    '<div><label><input type=radio>Ropes</label><span class=count>1385</span></div>',
    'Ropes 1385',
  ],
  [
    'links and spans with classes next to each other as separate words',
    '<p><span class=year>2026</span><span class=length>2 h</span></p><p><a href=/a>Ann</a><a href=/b>Ben</a></p>',
    '2026 2 h\n\nAnn Ben',
  ],
  [
    'initials, spans without classes and parts of code as parts of a word',
    '<p><span class=initial>T</span><span class=rest>he harbour</span></p><p><span>har</span><span>bour</span></p><p><code><span class=n>call</span><span class=p>()</span></code></p>',
    'The harbour\n\nharbour\n\n`call()`',
  ],
  [
    'a space at an end of inline code',
    '<p><code>[static] </code>Gate <b>is</b><code> a</code> gate</p>',
    '`[static]` Gate is `a` gate',
  ],
  [
    'the language of a code block in another',
    '<pre><pre class=playground><code class="language-rust">a</code></pre></pre>',
    '```rust\na\n```',
  ],
];

test.each(cases)('renders %s', (_name, html, text) => {
  expect(textOf(html)).toBe(text);
});

const tables: ReadonlyArray<readonly [name: string, html: string, text: string]> = [
  [
    'a data table',
    '<table><caption>Sizes</caption><thead><tr><th>Name</th><th>Size</th></tr></thead><tbody><tr><td>a|b</td><td><p>1</p><p>2</p></td></tr></tbody></table>',
    'Sizes\n\n| Name | Size |\n| --- | --- |\n| a\\|b | 1 2 |',
  ],
  [
    'table cells that span columns',
    '<table border=1><tr><th colspan=2>AB<th>C<tr><td>1<td>2<td>3</table>',
    '| AB |  | C |\n| --- | --- | --- |\n| 1 | 2 | 3 |',
  ],
  [
    'a header whose last cell spans columns, so that Markdown shows all columns',
    '<table><tr><th>Year<th colspan=2>Sales<tr><td>1<td>2<td>3</table>',
    '| Year | Sales |  |\n| --- | --- | --- |\n| 1 | 2 | 3 |',
  ],
  [
    'a page laid out by a table',
    '<table width="100%"><tr><td><h1>News</h1><p>First.</p></td><td><font size=2><p>Second.</font></td></tr></table>',
    '# News\n\nFirst.\n\nSecond.',
  ],
  [
    'a data table inside a layout table',
    '<center><table><tr><td>Intro<table border><tr><td>a<td>b<tr><td>c<td>d</table></table></center>',
    'Intro\n\n| a | b |\n| --- | --- |\n| c | d |',
  ],
  ['a table with a single column', '<table><tr><td>one<tr><td>two</table>', 'one\n\ntwo'],
  [
    'table cells with code of several lines, each below its label',
    '<table><tr><th>In<th>Out<tr><td><pre>a\nb</pre><td>c</table>',
    'In\n\n```\na\nb\n```\n\nOut\n\nc',
  ],
  [
    'two rows of table cells with code, row by row below the labels',
    '<table><tr><th>In<th>Out<tr><td><pre>a</pre><td>b<tr><td><pre>c</pre><td>d</table>',
    'In\n\nOut\n\n```\na\n```\n\nb\n\n```\nc\n```\n\nd',
  ],
  ['table cells without a table', '<td>a<td>b', 'a\n\nb'],
  [
    'a cell of several rows that is a picture, whose label is written once',
    '<table><tr><td rowspan=2><img alt="[Gate]" src=n.png></td><th>Note</th></tr><tr><td>a</td></tr></table>',
    '| [Gate] | Note |\n| --- | --- |\n|  | a |',
  ],
];

test.each(tables)('renders %s', (_name, html, text) => {
  expect(textOf(html)).toBe(text);
});
