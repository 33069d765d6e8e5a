import { strToU8, unzipSync, type Zippable } from 'fflate';
import { expect, test } from '@jest/globals';
import { officeFile } from '../formats/officeFile.js';
import { readFile } from '../readFile.js';

const R = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const relations = (...targets: ReadonlyArray<readonly [type: string, target: string]>): Uint8Array =>
  strToU8(
    `<Relationships>${targets
      .map(([type, target], nth) => `<Relationship Id="r${nth + 1}" Type="${R}/${type}" Target="${target}"/>`)
      .join('')}</Relationships>`,
  );

/** Builds a presentation of one slide. Its relations have an unusual namespace prefix. */
const show = (slide: string, more: Zippable): Uint8Array =>
  officeFile(
    'ppt/presentation.xml',
    `<p:presentation xmlns:p="p" xmlns:rel="${R}"><p:sldIdLst><p:sldId id="256" rel:id="r1"/></p:sldIdLst></p:presentation>`,
    {
      'ppt/_rels/presentation.xml.rels': relations(
        ['slide', 'slides/slide1.xml'],
        ['commentAuthors', 'commentAuthors.xml'],
        ['authors', 'authors.xml'],
      ),
      'ppt/slides/slide1.xml': strToU8(`<p:sld xmlns:p="p" xmlns:a="a">${slide}</p:sld>`),
      ...more,
    },
  );

test('repeats merged cells of a table on a slide', async () => {
  const cell = (text: string, attributes = ''): string =>
    `<a:tc ${attributes}><a:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></a:txBody></a:tc>`;
  const { text } = await readFile(
    show(
      `<a:tbl><a:tr>${cell('Quay', 'rowSpan="2"')}${cell('Depth', 'gridSpan="2"')}${cell('', 'hMerge="1"')}</a:tr>` +
        `<a:tr>${cell('', 'vMerge="1"')}${cell('2023')}${cell('2024')}</a:tr>` +
        `<a:tr>${cell('North')}${cell('4.5')}${cell('4.6')}</a:tr></a:tbl>`,
      {},
    ),
    'a.pptx',
  );
  expect(text.split('\n').slice(2)).toEqual([
    '| Quay | Depth | Depth |',
    '| --- | --- | --- |',
    '| Quay | 2023 | 2024 |',
    '| North | 4.5 | 4.6 |',
  ]);
});

test('reads both forms of comments with their authors and replies', async () => {
  const { text } = await readFile(
    show('<p:sp><a:p><a:r><a:t>Words</a:t></a:r></a:p></p:sp>', {
      'ppt/slides/_rels/slide1.xml.rels': relations(
        ['comments', '../comments/comment1.xml'],
        ['comments', '../comments/modernComment_1.xml'],
      ),
      'ppt/commentAuthors.xml': strToU8('<p:cmAuthorLst xmlns:p="p"><p:cmAuthor id="0" name="Anna"/></p:cmAuthorLst>'),
      'ppt/authors.xml': strToU8('<q:authorLst xmlns:q="q"><q:author id="{1}" name="Bo"/></q:authorLst>'),
      'ppt/comments/comment1.xml': strToU8(
        '<p:cmLst xmlns:p="p"><p:cm authorId="0"><p:text>Too long</p:text></p:cm></p:cmLst>',
      ),
      'ppt/comments/modernComment_1.xml': strToU8(
        '<q:cmLst xmlns:q="q" xmlns:a="a"><q:cm authorId="{1}"><q:replyLst><q:reply authorId="{2}"><q:txBody><a:p><a:r><a:t>Yes</a:t></a:r></a:p></q:txBody></q:reply></q:replyLst>' +
          '<q:txBody><a:p><a:r><a:t>Shorter?</a:t></a:r></a:p></q:txBody></q:cm></q:cmLst>',
      ),
    }),
    'a.pptx',
  );
  expect(text).toBe('# Slide 1\n\nWords\n\nComment by Anna: Too long\n\nComment by Bo: Shorter?\n\nReply: Yes');
});

/** ECMA-376, part 1, 21.1.2.4.1 (buAutoNum). */
test('numbers the paragraphs of a list as the slide does', async () => {
  const line = (text: string, level: number, mark: string): string =>
    `<a:p><a:pPr lvl="${level}">${mark}</a:pPr><a:r><a:t>${text}</a:t></a:r></a:p>`;
  const auto = (type: string, more = ''): string => `<a:buAutoNum type="${type}" ${more}/>`;
  const shape = [
    line('Fox', -1, auto('arabicPeriod', 'startAt="3"')),
    line('Owl', 0, auto('arabicPeriod', 'startAt="3"')),
    line('Eagle owl', 1, auto('alphaLcParenBoth')),
    line('Barn owl', 1, auto('alphaLcParenBoth')),
    line('Jay', 0, auto('arabicPeriod', 'startAt="3"')),
    line('Blue jay', 1, auto('alphaLcParenBoth')),
    line('Birds', 0, '<a:buNone/>'),
    line('Wren', 0, auto('romanUcParenR')),
    line('Rook', 0, '<a:buChar char="•"/>'),
    line('Swan', 0, auto('romanUcParenR')),
  ].join('');
  const { text } = await readFile(
    show(`<p:sp>${shape}</p:sp><p:sp>${line('Crow', 0, auto('arabicPlain'))}</p:sp>`, {}),
    'a.pptx',
  );
  expect(text.split('\n').slice(2)).toEqual([
    ...['3. Fox', '4. Owl', '  - (a) Eagle owl', '  - (b) Barn owl', '5. Jay', '  - (a) Blue jay'],
    ...['', 'Birds', '- I) Wren', '- Rook', '- I) Swan', '', '- 1 Crow'],
  ]);
});

test('unpacks each part once, so that contents of exactly MAX_UNPACKED_BYTES are accepted', async () => {
  const file = show('<p:sp><a:p><a:r><a:t>Words</a:t></a:r></a:p></p:sp>', {
    'ppt/slides/_rels/slide1.xml.rels': relations(['comments', '../comments/comment1.xml']),
    'ppt/comments/comment1.xml': strToU8('<p:cmLst xmlns:p="p"><p:cm><p:text>Too long</p:text></p:cm></p:cmLst>'),
  });
  const maxUnpackedBytes = Object.values(unzipSync(file)).reduce((sum, { length }) => sum + length, 0);
  expect((await readFile(file, 'a.pptx', { maxUnpackedBytes })).text).toContain('Comment: Too long');
});
