import { strToU8, type Zippable } from 'fflate';
import { encrypt } from 'officecrypto-tool';
import { expect, test } from '@jest/globals';
import { isEdgeText } from '../../../documents/office/pageEdges.js';
import { officeFile } from '../formats/officeFile.js';
import { faultOfFile, readFile } from '../readFile.js';

const W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
const R = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

/** Builds a Word document from its body and further parts. @param parts each with the type of its relationship */
function word(body: string, parts: ReadonlyArray<readonly [type: string, name: string, content: string]> = []) {
  const relations = parts.map(
    ([type, name], nth) => `<Relationship Id="rId${nth + 1}" Type="${R}/${type}" Target="${name}"/>`,
  );
  const more: Zippable = {
    'word/_rels/document.xml.rels': strToU8(`<Relationships>${relations.join('')}</Relationships>`),
  };
  for (const [, name, content] of parts) more[`word/${name}`] = strToU8(content);
  return officeFile('word/document.xml', `<w:document ${W} xmlns:r="${R}"><w:body>${body}</w:body></w:document>`, more);
}

const paragraph = (text: string): string => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;
const cell = (text: string, properties = ''): string =>
  `<w:tc><w:tcPr>${properties}</w:tcPr>${text === '' ? '<w:p/>' : paragraph(text)}</w:tc>`;
const row = (...cells: readonly string[]): string => `<w:tr>${cells.join('')}</w:tr>`;

test('repeats the text of a merged cell in all columns and rows that it covers', async () => {
  const down = '<w:vMerge w:val="restart"/>';
  const { text } = await readFile(
    word(
      `<w:tbl>${row(cell('Quay', down), cell('Depth', '<w:gridSpan w:val="2"/>'))}` +
        `${row(cell('', '<w:vMerge/>'), cell('2023'), cell('2024'))}` +
        `${row(cell('North', down), cell('4.5'), cell('4.6'))}${row(cell('', '<w:vMerge/>'), cell('5'), cell('6'))}` +
        `${row(cell('Measured in metres', '<w:gridSpan w:val="3"/>'))}` +
        `<w:tr><w:trPr><w:gridBefore w:val="1"/></w:trPr>${cell('7')}${cell('8')}</w:tr></w:tbl>`,
    ),
    'a.docx',
  );
  expect(text.split('\n')).toEqual([
    '| Quay | Depth | Depth |',
    '| --- | --- | --- |',
    '| Quay | 2023 | 2024 |',
    '| North | 4.5 | 4.6 |',
    '| North | 5 | 6 |',
    '| Measured in metres |  |  |',
    '|  | 7 | 8 |',
  ]);
});

test('does not repeat long texts of merged cells, and limits the columns that a cell can claim to cover', async () => {
  const { text } = await readFile(
    word(
      `<w:tbl>${row(cell('x'.repeat(101), '<w:gridSpan w:val="2"/>'), cell('b'))}` +
        `${row(cell('wide', '<w:gridSpan w:val="999999999"/>'), cell('end'))}</w:tbl>`,
    ),
    'a.docx',
  );
  const [first, , second] = text.split('\n');
  expect(first).toBe(`| ${'x'.repeat(101)} |  | b |`);
  expect(second).toBe(`| ${Array.from({ length: 100 }, () => 'wide').join(' | ')} | end |`);
});

test('reads a table inside a paragraph', async () => {
  const { text } = await readFile(word(`<w:p><w:r><w:tbl>${row(cell('a'), cell('b'))}</w:tbl></w:r></w:p>`), 'a.docx');
  expect(text).toBe('| a | b |\n| --- | --- |');
});

test('reads a table of one cell as plain text', async () => {
  const { text } = await readFile(
    word(`<w:tbl><w:tr><w:tc>${paragraph('One')}${paragraph('Two')}</w:tc></w:tr></w:tbl>${paragraph('After')}`),
    'a.docx',
  );
  expect(text).toBe('One\n\nTwo\n\nAfter');
});

test('reads comments with the text to which they refer, and counts tracked changes in the metadata', async () => {
  const document = await readFile(
    word(
      '<w:p><w:commentRangeStart w:id="0"/><w:r><w:t>The fee</w:t></w:r><w:commentRangeEnd w:id="0"/>' +
        '<w:r><w:t xml:space="preserve"> is </w:t></w:r><w:del><w:r><w:delText>ten</w:delText></w:r></w:del>' +
        '<w:ins><w:r><w:t>twelve</w:t></w:r></w:ins><w:r><w:t>.</w:t></w:r></w:p>',
      [
        [
          'comments',
          'comments.xml',
          `<w:comments ${W}><w:comment w:id="0" w:author="Anna Keller">${paragraph('Too low?')}</w:comment>` +
            `<w:comment w:id="7" w:author="">${paragraph('No place')}</w:comment></w:comments>`,
        ],
      ],
    ),
    'a.docx',
  );
  expect(document.text).toBe(
    'The fee is twelve.\n\nComment by Anna Keller on "The fee": Too low?\n\nComment: No place',
  );
  expect(document.metadata).toMatchObject({ tracked_changes: { insertions: 1, deletions: 1 } });
});

test('a quotation in a comment has spaces between lines and paragraphs, and an ellipsis if it was cut', async () => {
  const ends = (id: number, text: string): string => `${text}<w:commentRangeEnd w:id="${id}"/>`;
  const long = `<w:r><w:t>boat${' '.repeat(9)}</w:t></w:r>`.repeat(50);
  const body =
    `<w:p><w:commentRangeStart w:id="0"/><w:r><w:t>Boats</w:t><w:br/><w:t>moor</w:t></w:r></w:p>` +
    `<w:p>${ends(0, '<w:r><w:t>here</w:t></w:r>')}</w:p><w:p><w:commentRangeStart w:id="1"/>${ends(1, long)}</w:p>`;
  const comments = [0, 1].map((id) => `<w:comment w:id="${id}">${paragraph('Why?')}</w:comment>`).join('');
  const { text } = await readFile(
    word(body, [['comments', 'comments.xml', `<w:comments ${W}>${comments}</w:comments>`]]),
    'a.docx',
  );
  expect(text.split('\n\n').slice(-2)).toEqual([
    'Comment on "Boats moor here": Why?',
    `Comment on "${'boat '.repeat(40)}…": Why?`,
  ]);
});

test('reads a chart with groups of labels, and with a title that is the value of a cell', async () => {
  const points = (...labels: ReadonlyArray<readonly [idx: number, label: string]>): string =>
    labels.map(([idx, label]) => `<c:pt idx="${idx}"><c:v>${label}</c:v></c:pt>`).join('');
  const quarters = points([0, 'Q1'], [1, 'Q2'], [2, 'Q1']);
  const categories = `<c:multiLvlStrRef><c:lvl>${quarters}</c:lvl><c:lvl>${points([0, '2023'], [2, '2024'])}</c:lvl></c:multiLvlStrRef>`;
  const chart =
    `<c:chartSpace xmlns:c="c"><c:title><c:tx><c:strRef><c:strCache>${points([0, 'Calls'], [1, 'by quarter'])}</c:strCache></c:strRef></c:tx></c:title>` +
    `<c:plotArea><c:ser><c:tx><c:v>All</c:v></c:tx><c:cat>${categories}</c:cat><c:val>${points([0, '7'], [1, '8'], [2, '9'])}</c:val></c:ser></c:plotArea></c:chartSpace>`;
  const body = '<w:p><w:r><w:drawing><c:chart xmlns:c="c" r:id="rId1"/></w:drawing></w:r></w:p>';
  expect((await readFile(word(body, [['chart', 'chart1.xml', chart]]), 'a.docx')).text).toBe(
    'Calls by quarter\n\n|  | All |\n| --- | --- |\n| 2023 Q1 | 7 |\n| 2023 Q2 | 8 |\n| 2024 Q1 | 9 |',
  );
});

test('reads the dates of a chart, and the x and y values of each series of a scatter chart', async () => {
  const cache = (values: readonly number[], format = 'General'): string =>
    `<c:numRef><c:numCache><c:formatCode>${format}</c:formatCode>${values.map((value, idx) => `<c:pt idx="${idx}"><c:v>${value}</c:v></c:pt>`).join('')}</c:numCache></c:numRef>`;
  const series = (name: string, x: string, y: string): string =>
    `<c:ser><c:tx><c:v>${name}</c:v></c:tx>${x}${y}</c:ser>`;
  const tableOf = async (content: string): Promise<string[]> => {
    const chart = `<c:chartSpace xmlns:c="c"><c:date1904 val="0"/><c:plotArea>${content}</c:plotArea></c:chartSpace>`;
    const body = '<w:p><w:r><w:drawing><c:chart xmlns:c="c" r:id="rId1"/></w:drawing></w:r></w:p>';
    return (await readFile(word(body, [['chart', 'chart1.xml', chart]]), 'a.docx')).text.split('\n');
  };
  const dates = `<c:cat>${cache([45_292, 45_323], 'm/d/yyyy')}</c:cat>`;
  expect(await tableOf(series('Calls', dates, `<c:val>${cache([7, 8], '0.00')}</c:val>`))).toEqual([
    ...['|  | Calls |', '| --- | --- |', '| 2024-01-01 | 7 |', '| 2024-02-01 | 8 |'],
  ]);
  const scatter = (name: string, x: readonly number[], y: readonly number[]): string =>
    series(name, `<c:xVal>${cache(x)}</c:xVal>`, `<c:yVal>${cache(y)}</c:yVal>`);
  expect(await tableOf(scatter('North', [1, 2], [7, 8]) + scatter('South', [1.5], [9]))).toEqual([
    ...['|  | North |  | South |', '| --- | --- | --- | --- |', '| 1 | 7 | 1.5 | 9 |', '| 2 | 8 |  |  |'],
  ]);
});

test('reads the lines of a footnote with a space between them, and moved text once', async () => {
  const run = (content: string): string => `<w:r>${content}</w:r>`;
  const moved = run('<w:t>moved</w:t>');
  const note =
    `<w:footnotes ${W}><w:footnote w:id="2"><w:p>${run('<w:t>first</w:t><w:br/><w:t>second</w:t><w:tab/>')}` +
    `<w:moveFrom>${moved}</w:moveFrom><w:moveTo>${moved}</w:moveTo></w:p></w:footnote></w:footnotes>`;
  const body = `<w:p>${run('<w:t>Boats</w:t><w:footnoteReference w:id="2"/>')}</w:p>`;
  const { text } = await readFile(word(body, [['footnotes', 'footnotes.xml', note]]), 'a.docx');
  expect(text).toBe('Boats[^1]\n\n[^1]: first second moved');
});

test('reads each header and footer once, without page numbers', async () => {
  const field = (code: string): string =>
    `<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> ${code} </w:instrText></w:r>` +
    '<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>3</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>';
  const { text } = await readFile(
    word(paragraph('Body'), [
      ['header', 'header1.xml', `<w:hdr ${W}>${paragraph('Harbour rules')}</w:hdr>`],
      ['header', 'header2.xml', `<w:hdr ${W}>${paragraph('Harbour rules')}</w:hdr>`],
      ['footer', 'footer1.xml', `<w:ftr ${W}><w:p><w:r><w:t>Page </w:t></w:r>${field('PAGE')}</w:p></w:ftr>`],
      [
        'footer',
        'footer2.xml',
        `<w:ftr ${W}><w:p><w:r><w:t>Ballycotton, printed </w:t></w:r>${field('DATE')}</w:p>` +
          `<w:p><w:fldSimple w:instr="NUMPAGES"><w:r><w:t>9</w:t></w:r></w:fldSimple></w:p></w:ftr>`,
      ],
    ]),
    'a.docx',
  );
  expect(text).toBe('Body\n\nHeader: Harbour rules\n\nFooter: Ballycotton, printed 3');
});

test('distinguishes header text from page numbers in Latin, Chinese, Japanese and Korean script', () => {
  const numbered = (line: string): boolean => isEdgeText(line, true);
  const pages = ['Page 3 of 10', '第3页，共10页', '3ページ / 10ページ', '총 10 페이지 중 3 페이지'];
  expect(pages.filter(numbered)).toEqual([]);
  const names = ['Harbour rules 3', '北方港口公司 第3页', '港湾の規則 3ページ', '항구 규정집 3'];
  expect(names.filter((name) => !numbered(name))).toEqual([]);
});

test('reads files inserted in the text (altChunk) at their position, and counts unreadable ones', async () => {
  const chunk = (nth: number): string => `<w:altChunk r:id="rId${nth}"/>`;
  const document = await readFile(
    word(`${paragraph('Before')}${chunk(1)}${paragraph('Between')}${chunk(2)}${chunk(3)}${chunk(4)}`, [
      ['aFChunk', 'a.html', '<html><body><h2>Fees</h2><p>They rise.</p></body></html>'],
      ['aFChunk', 'b.rtf', String.raw`{\rtf1 From RTF}`],
      [
        'aFChunk',
        'c.mht',
        'MIME-Version: 1.0\r\nFrom: x\r\nSubject: y\r\nContent-Type: text/html\r\n\r\n<p>From a web archive</p>',
      ],
      ['aFChunk', 'd.bin', '\u0000\u0001\u0002'],
    ]),
    'a.docx',
  );
  expect(document.text).toBe('Before\n\n## Fees\n\nThey rise.\n\nBetween\n\nFrom RTF\n\nFrom a web archive');
  expect(document.metadata['not_read']).toEqual({ inserted_files: 1 });
});

test.each([
  ['empty', 'a.html', '<p></p>', 1],
  ['unreadable', 'd.bin', '\u0000\u0001\u0002', 101],
])('tries to read at most 100 inserted files, counting %s ones', async (_what, name, content, skipped) => {
  const parts = Array.from({ length: 100 }, (_, nth) => ['aFChunk', `${nth}-${name}`, content] as const);
  const document = await readFile(
    word(`${paragraph('Before')}<w:altChunk r:id="rId101"/>`, [...parts, ['aFChunk', 'last.html', '<p>The last</p>']]),
    'a.docx',
  );
  expect(document.text).toBe('Before');
  expect(document.metadata['not_read']).toEqual({ inserted_files: skipped });
});

test('counts the pictures, embedded files and macros that it does not read', async () => {
  const document = await readFile(
    officeFile('word/document.xml', `<w:document ${W}><w:body>${paragraph('Body')}</w:body></w:document>`, {
      'word/media/image1.png': strToU8('x'),
      'word/media/image2.EMF': strToU8('x'),
      'word/media/media1.mp4': strToU8('x'),
      'word/embeddings/oleObject1.bin': strToU8('x'),
      'word/vbaProject.bin': strToU8('x'),
    }),
    'a.docx',
  );
  expect(document.metadata['not_read']).toEqual({ pictures: 2, recordings: 1, embedded_files: 1, macros: 1 });
});

test('decrypts files with the default password of Excel, and rejects other encrypted files', async () => {
  const plain = Buffer.from(word(paragraph('Anybody may read this')));
  // By default the library writes agile encryption; the option selects the encryption of Office 2007.
  for (const type of [{}, { type: 'standard' }] as const) {
    const withDefaultPassword = encrypt(plain, { password: 'VelvetSweatshop', ...type });
    expect((await readFile(Uint8Array.from(withDefaultPassword), 'a.docx')).text).toBe('Anybody may read this');
    const locked = encrypt(plain, { password: 'other', ...type });
    expect(await faultOfFile(Uint8Array.from(locked), 'a.docx')).toMatch(/^encrypted: /);
    // The end of the container is missing.
    expect(await faultOfFile(Uint8Array.from(withDefaultPassword.subarray(0, 1500)), 'a.docx')).toMatch(
      /^(?:encrypted|broken_content): /,
    );
  }
});

test('opens a file with bytes after the end of its archive', async () => {
  const bytes = word(paragraph('Body'));
  expect((await readFile(Buffer.concat([bytes, Buffer.from('\r\n\0\0more')]), 'a.docx')).text).toBe('Body');
});
