/** Tests readers of parts of documents, such as comments, notes, headers, footers and form values, on parts in code. */
import { describe, expect, test } from '@jest/globals';

import { linkedDataHtml } from '../../documents/html/linkedData.js';
import { CommentedText } from '../../documents/office/commentedText.js';
import { AutoNumbers } from '../../documents/office/autoNumbers.js';
import { readComments } from '../../documents/parsers/docx/readComments.js';
import { readNotes } from '../../documents/parsers/docx/readNotes.js';
import { readPageEdge } from '../../documents/parsers/docx/readPageEdges.js';
import { readSvg } from '../../documents/parsers/epub/readSvg.js';
import { inlineText } from '../../documents/parsers/openDocument/elements.js';
import { objectName } from '../../documents/parsers/openDocument/readObjects.js';
import { readPageEdges } from '../../documents/parsers/openDocument/readPageEdges.js';
import { readAnnotations } from '../../documents/parsers/pdf/readAnnotations.js';
import { readInfo } from '../../documents/parsers/pdf/readInfo.js';
import { readOutline } from '../../documents/parsers/pdf/readOutline.js';
import { readAuthors, readComments as readSlideComments } from '../../documents/parsers/pptx/readComments.js';
import { dateOf } from '../../documents/parsers/rtf/dateOf.js';
import { MergedCells } from '../../documents/parsers/xlsx/mergedCells.js';
import { everyRow } from '../support/everyRow.js';
import { LIMITS } from './page.js';

const part = (xml: string): Buffer => Buffer.from(xml);

describe('Word', () => {
  test('reads comments with their author and the text they refer to, in one line', () => {
    const commented = new CommentedText();
    commented.begin('1');
    commented.add('the fee');
    commented.end('1');
    const comments = [
      '<w:comment w:id="1" w:author="Anna"><w:p><w:t>Too</w:t></w:p><w:p><w:instrText>PAGE</w:instrText><w:t>low</w:t><w:br/><w:t>now</w:t></w:p></w:comment>',
      '<w:comment w:id="2" w:author="Bo"><w:p/></w:comment>',
      '<w:comment w:id="3"><w:p><w:t>Why?</w:t></w:p></w:comment>',
    ];
    expect(readComments(part(`<w:comments>${comments.join('')}</w:comments>`), commented, LIMITS)).toEqual([
      'Comment by Anna on "the fee": Too low now',
      'Comment: Why?',
    ]);
  });

  test('reads notes without deleted text, field instructions and separators', () => {
    const notes = [
      '<w:footnote w:id="-1" w:type="separator"><w:p><w:separator/></w:p></w:footnote>',
      '<w:footnote w:id="1"><w:p><w:t>Of</w:t><w:del><w:r><w:t>old</w:t></w:r></w:del><w:instrText>REF</w:instrText><w:tab/><w:t>wood.</w:t></w:p></w:footnote>',
      '<w:endnote w:id="2"><w:p><w:t>In winter.</w:t></w:p></w:endnote>',
    ];
    expect([...readNotes(part(`<w:notes>${notes.join('')}</w:notes>`), LIMITS)]).toEqual([
      ['1', 'Of wood.'],
      ['2', 'In winter.'],
    ]);
  });

  test('reads the lines of a footer without page numbers and deleted text, and the text after a page number', () => {
    const run = (text: string): string => `<w:r><w:t>${text}</w:t></w:r>`;
    const lines = [
      `${run('Harbour of')}<w:br/>${run('Kinsale')}<w:del>${run('old')}</w:del>`,
      `${run('Page ')}<w:fldSimple w:instr=" PAGE ">${run('7')}</w:fldSimple>`,
      `<w:fldSimple w:instr=" DATE ">${run('May 2025')}</w:fldSimple>`,
      `<w:fldChar w:fldCharType="begin"/><w:instrText> NUMPAGES </w:instrText><w:fldChar w:fldCharType="separate"/>${run('9')}<w:fldChar w:fldCharType="end"/>${run(' pages of fees and rules')}`,
    ];
    expect(readPageEdge(part(`<w:ftr>${lines.map((line) => `<w:p>${line}</w:p>`).join('')}</w:ftr>`), LIMITS)).toBe(
      'Harbour of Kinsale | May 2025 | pages of fees and rules',
    );
  });
});

test('reads the comments of a slide in the old and the new format, each followed by its replies', () => {
  const authors = readAuthors(part('<l><cmAuthor id="0" name=" Anna "/><author id="{1}" name="Bo"/></l>'), LIMITS);
  const comments = [
    '<p:cm authorId="0"><p:text>Too long</p:text><p:more>1</p:more></p:cm>',
    '<cm authorId="{1}"><reply authorId="0"><a:p><a:t>Yes</a:t></a:p></reply><a:p><a:t>Too</a:t></a:p><a:p><a:t>short</a:t></a:p></cm>',
    '<cm authorId="9"><a:p><a:t>Why?</a:t></a:p></cm>',
  ];
  expect(readSlideComments(part(`<l>${comments.join('')}</l>`), authors, LIMITS)).toEqual([
    'Comment by Anna: Too long',
    'Comment by Bo: Too short',
    'Reply by Anna: Yes',
    'Comment: Why?',
  ]);
});

test('continues the numbers of a level until its numbering changes or a shallower level has a paragraph', () => {
  const numbers = new AutoNumbers();
  const next = (level: number, type: string | null, start = 1) =>
    numbers.next(level, type === null ? null : { type, start });
  expect([next(0, 'arabicPeriod'), next(1, 'alphaLcParenR'), next(1, 'alphaLcParenR')]).toEqual(['1.', 'a)', 'b)']);
  expect([next(0, 'arabicPeriod'), next(1, 'alphaLcParenR'), next(1, 'romanUcParenBoth', 4)]).toEqual([
    '2.',
    'a)',
    '(IV)',
  ]);
  expect([next(0, null), next(0, 'arabicPeriod'), next(0, 'arabicPeriod', 7)]).toEqual(['', '1.', '7.']);
  expect(next(0, 'circleNumDbPlain', 3)).toBe('③');
});

describe('OpenDocument', () => {
  test('reads each header and footer once, without page numbers', () => {
    const edges = [
      '<style:header><text:p>Fees</text:p></style:header>',
      '<style:header-left><text:p>Fees</text:p><text:p>Left<text:tab/><text:span>side</text:span></text:p></style:header-left>',
      '<style:header-first><text:p>Fees</text:p></style:header-first>',
      '<style:style><text:p>Other</text:p></style:style>',
      '<style:footer><text:p>Harbour</text:p><text:p>Page <text:page-number>1</text:page-number></text:p></style:footer>',
    ];
    expect(readPageEdges(part(`<style:master-page>${edges.join('')}</style:master-page>`), LIMITS)).toEqual([
      'Header: Fees',
      'Header: Fees | Left side',
      'Footer: Harbour',
    ]);
  });

  test('writes the white space that elements represent, at most 100 spaces for one element', () => {
    const found = (name: string, c?: string) => inlineText(name, c === undefined ? {} : { c });
    expect([found('s'), found('s', '3'), found('s', 'x'), found('tab'), found('line-break'), found('span')]).toEqual([
      ...[' ', '   ', ' ', '\t', '\n', ''],
    ]);
    expect(found('s', '9999')).toHaveLength(100);
  });

  test('finds the folder of an object by any form of its address', () => {
    for (const href of ['./Object 1', 'Object%201/', './object 1/']) expect(objectName(href)).toBe('object 1');
    expect(objectName('100%')).toBe('100%');
    expect(objectName('%ff')).toBe('%ff');
  });
});

test('reads the text that an SVG page shows, a line for each text', () => {
  const svg =
    '<svg><title>No</title><text>Fees<tspan x="9">of 2025</tspan><tspan>!</tspan><desc>No <b>no</b></desc></text>out<text> </text><foreignObject><p>One</p><p>Two</p></foreignObject></svg>';
  expect(readSvg(part(svg), LIMITS)).toBe('Fees of 2025!\nOne\nTwo');
});

describe('PDF', () => {
  test('reads the facts of the information dictionary, with times in UTC', () => {
    const facts = { Title: ' The\nfees ', Author: ' ', Subject: 7, Keywords: 'k'.repeat(1001) };
    const dates = { CreationDate: "D:20240301120000+01'30'", ModDate: 'D:2024' };
    expect(readInfo({ info: { ...facts, ...dates } })).toStrictEqual({
      metadata: {
        title: 'The fees',
        keywords: 'k'.repeat(1000),
        created: '2024-03-01T10:30:00.000Z',
        modified: '2024-01-01T00:00:00.000Z',
      },
      created: '2024-03-01T10:30:00.000Z',
    });
    expect(readInfo({ info: { CreationDate: 'D:20241399', ModDate: 5 } })).toStrictEqual({
      metadata: {},
      created: null,
    });
    expect(readInfo(null)).toStrictEqual({ metadata: {}, created: null });
  });

  test('reads the titles of an outline at all levels, and none of a broken outline', async () => {
    const outline = [
      { title: 'fees', items: [{ title: 'boats', items: [] }] },
      { title: ' ', items: [] },
    ];
    const pdf = (getOutline: () => Promise<unknown>) => ({ getOutline }) as never;
    expect([...(await readOutline(pdf(async () => outline)))]).toEqual(['fees', 'boats']);
    expect([...(await readOutline(pdf(async () => null)))]).toEqual([]);
    expect([...(await readOutline(pdf(() => Promise.reject(new Error('broken')))))]).toEqual([]);
  });

  const field = (more: object) => ({ subtype: 'Widget', rect: [0, 0, 90, 10], fieldType: 'Tx', ...more });
  const options = [
    { exportValue: 'a', displayValue: 'Small' },
    { exportValue: 'b', displayValue: 'Large' },
  ];
  const ANNOTATIONS: ReadonlyArray<readonly [what: string, annotation: object, text: string | null]> = [
    ['a name with groups', field({ fieldName: 'form[0].page[0].city[0]', fieldValue: 'Cork' }), 'city: Cork'],
    ['a name without letters', field({ fieldName: 'a.12', fieldValue: 'Cork' }), 'a: Cork'],
    ['a description', field({ fieldName: 'c', alternativeText: 'Town:', fieldValue: 'Cork' }), 'Town: Cork'],
    ['no value', field({ fieldName: 'c', fieldValue: ' ' }), null],
    ['a password', field({ fieldName: 'c', fieldValue: 'secret', password: true }), null],
    ['chosen options', field({ fieldType: 'Ch', fieldName: 'c', fieldValue: ['b', 'x'], options }), 'c: Large, x'],
    [
      'an empty checkbox',
      field({ fieldType: 'Btn', fieldName: 'c', checkBox: true, fieldValue: 'Off' }),
      'c: not checked',
    ],
    ['a checkbox', field({ fieldType: 'Btn', fieldName: 'c', checkBox: true, fieldValue: 'Yes' }), 'c: checked'],
    [
      'a checkbox with a value',
      field({ fieldType: 'Btn', fieldName: 'c', checkBox: true, fieldValue: 'Night' }),
      'c: checked (Night)',
    ],
    [
      'a chosen option',
      field({ fieldType: 'Btn', fieldName: 'c', radioButton: true, fieldValue: 'x', buttonValue: 'x' }),
      'c: x',
    ],
    [
      'another option',
      field({ fieldType: 'Btn', fieldName: 'c', radioButton: true, fieldValue: 'x', buttonValue: 'y' }),
      null,
    ],
    [
      'a comment',
      { subtype: 'Text', contentsObj: { str: ' Too\nlow ' }, titleObj: { str: 'Anna' } },
      'Comment by Anna: Too low',
    ],
    [
      'a comment with rich text',
      { subtype: 'Text', contentsObj: { str: '' }, richText: { str: 'Low' } },
      'Comment: Low',
    ],
    ['text on the page', { subtype: 'FreeText', contentsObj: { str: 'Draft' }, titleObj: { str: 'Anna' } }, 'Draft'],
    ['a link', { subtype: 'Link', contentsObj: { str: 'https://a.example' } }, null],
  ];
  test('reads form values and comments, and neither passwords nor options that are not chosen', () =>
    everyRow(
      ANNOTATIONS,
      ([what]) => what,
      ([, annotation, text]) => {
        const { groups } = readAnnotations([annotation, annotation], [1, 0, 0, 1, 0, 0]);
        const isField = 'fieldType' in annotation;
        const found = groups.flatMap(({ lines }) => lines.map((line) => line.text));
        // Two annotations can show the same field, which is read once. Two equal comments are both read.
        expect(found).toEqual(text === null ? [] : isField ? [text] : [text, text]);
      },
    ));
});

test('reads the date of an RTF document, and ignores impossible ones', () => {
  expect(dateOf([2024, 3, 1, 12, 30])).toBe('2024-03-01T12:30:00.000Z');
  expect(dateOf([2024])).toBe('2024-01-01T00:00:00.000Z');
  expect([dateOf([1899, 12, 31]), dateOf([]), dateOf([NaN]), dateOf([2024, NaN])]).toEqual([null, null, null, null]);
});

test('fills the cells that merged cells cover, except for a title and long texts', () => {
  const at = (top: number, bottom: number, left: number, right: number) => ({ top, bottom, left, right });
  const cells = new MergedCells([at(1, 1, 0, 1), at(2, 2, 0, 1), at(2, 4, 2, 3), at(5, 5, 0, 1)], 100);
  const fill = (row: string[], number: number) => [cells.fill(row, number), ...row];
  expect(fill(['Title', ''], 1)).toEqual([true, 'Title', '']);
  expect(fill(['', '', 'Fee', '', 'x'], 2)).toEqual([true, '', '', 'Fee', 'Fee', 'x']);
  expect(fill(['a'], 3)).toEqual([false, 'a', '', 'Fee', 'Fee']);
  expect(fill(['a', '', '', 'own'], 4)).toEqual([false, 'a', '', 'Fee', 'own']);
  expect(fill(['y'.repeat(101), '', 'b'], 5)).toEqual([false, 'y'.repeat(101), '', 'b']);
  expect(() => new MergedCells([at(1, 1, 0, 2)], 2).fill(['a', '', '', 'b'], 1)).toThrow(/MAX_TABLE_CELLS/);
});

test('reads the posts of a thread from JSON-LD in any form, with author and date, and not the data about the site', () => {
  const said = 'I keep bees on the roof and wonder how much water they need.';
  const thread = {
    '@type': ['DiscussionForumPosting'],
    headline: 'Water < wine',
    author: [{ name: 'Ann "A"', description: said.replace('bees', 'hens') }],
    ...{
      datePublished: '2024-01-02',
      text: said,
      publisher: { name: 'Site', description: said.replace('bees', 'cats') },
    },
    comment: [
      { '@type': 'Comment', author: 'Bo', dateCreated: '2024-01-03', text: 'Try it.\nSoon.' },
      { '@type': 'Comment', author: 'Cy', text: 'No date' },
      { '@type': 'Comment', author: 'Di', text: 'No date' },
      { '@type': 'ImageObject', text: 'A label' },
      null,
    ],
  };
  const post = (author: string, date: string, html: string): string =>
    `<article class="post" data-author="${author}"><time datetime="${date}">${date}</time><div>${html}</div></article>`;
  const expected = [
    '<h2>Water &lt; wine</h2>',
    post('Ann &quot;A&quot;', '2024-01-02', `<p>${said}</p>`),
    post('Bo', '2024-01-03', '<p>Try it.</p>\n<p>Soon.</p>'),
    '<p>No date</p>',
  ].join('\n');
  const json = JSON.stringify(thread);
  for (const form of [json, ` <!-- ${json} --> `, `\n//<![CDATA[\n${json}\n//]]>\n`])
    expect(linkedDataHtml(`<script>1</script><script type='application/ld+json'>${form}</script>`)).toBe(expected);
  expect(
    linkedDataHtml(`<script type="application/ld+json">{broken</script><script type="text/json">${json}</script>`),
  ).toBe('');
  expect(linkedDataHtml(`<script type="application/ld+json">${json}`)).toBe('');
});
