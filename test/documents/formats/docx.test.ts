import {
  Document,
  ExternalHyperlink,
  FootnoteReferenceRun,
  HeadingLevel,
  LevelFormat,
  Packer,
  Paragraph,
  Table,
  TableCell,
  TableRow,
  TextRun,
} from 'docx';
import { strToU8, unzipSync, zipSync } from 'fflate';
import { encrypt } from 'officecrypto-tool';
import PptxGenJs from 'pptxgenjs';
import { expect, test } from '@jest/globals';
import { chunksOfFile, faultOfFile, readFile } from '../readFile.js';
import { officeFile } from './officeFile.js';

// In the package's types the class is `PptxGenJs.default`; in Node the import itself is the class.
const Presentation = PptxGenJs as unknown as typeof PptxGenJs.default;

const makeDocx = async (children: ConstructorParameters<typeof Document>[0]['sections'][0]['children']) =>
  Uint8Array.from(
    await Packer.toBuffer(
      new Document({
        title: 'Harbour rules',
        creator: 'Anna Keller',
        footnotes: { 1: { children: [new Paragraph('As of 2024.')] } },
        numbering: {
          config: [{ reference: 'steps', levels: [{ level: 0, format: LevelFormat.DECIMAL, text: '%1.' }] }],
        },
        sections: [{ children }],
      }),
    ),
  );

const table = (rows: readonly (readonly string[])[]): Table =>
  new Table({
    rows: rows.map(
      (row) => new TableRow({ children: row.map((cell) => new TableCell({ children: [new Paragraph(cell)] })) }),
    ),
  });

test('reads headings, lists, links, footnotes and tables', async () => {
  const bytes = await makeDocx([
    new Paragraph({ text: 'Harbour rules', heading: HeadingLevel.TITLE }),
    new Paragraph({ text: 'Mooring', heading: HeadingLevel.HEADING_2 }),
    new Paragraph({
      children: [
        new TextRun('Boats '),
        new TextRun({ text: 'must', bold: true }),
        new TextRun(' moor.'),
        new FootnoteReferenceRun(1),
      ],
    }),
    new Paragraph({ text: 'Rope', bullet: { level: 0 } }),
    new Paragraph({ text: 'Thick', bullet: { level: 1 } }),
    new Paragraph({ text: '' }),
    new Paragraph({ text: 'Call the office', numbering: { reference: 'steps', level: 0 } }),
    new Paragraph({ text: 'Wait', numbering: { reference: 'steps', level: 0 } }),
    table([
      ['Boat', 'Fee'],
      ['Small | light', '10 €'],
    ]),
    new Paragraph({
      children: [
        new TextRun('See '),
        new ExternalHyperlink({ link: 'https://example.org/fees', children: [new TextRun('all fees')] }),
        new TextRun({ text: 'or ask.', break: 1 }),
      ],
    }),
  ]);
  const document = await readFile(bytes, 'rules.docx');
  expect(document.text).toBe(
    [
      '# Harbour rules',
      '## Mooring',
      'Boats must moor.[^1]',
      '- Rope\n  - Thick\n1. Call the office\n2. Wait',
      '| Boat | Fee |\n| --- | --- |\n| Small \\| light | 10 € |',
      'See [all fees](https://example.org/fees)\nor ask.',
      '[^1]: As of 2024.',
    ].join('\n\n'),
  );
  expect(document).toMatchObject({ format: 'DOCX', metadata: { title: 'Harbour rules', author: 'Anna Keller' } });
  expect(document.sourceCreatedAt).toMatch(/^20\d\d-\d\d-\d\dT/);
});

const W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
const word = (body: string): Uint8Array =>
  officeFile('word/document.xml', `<w:document ${W}><w:body>${body}</w:body></w:document>`);

test('reads text boxes and nested tables, but no deleted text, field codes or fallbacks', async () => {
  const { text } = await readFile(
    word(
      '<w:p><w:r><w:t>Kept</w:t></w:r><w:del><w:r><w:t>deleted</w:t><w:delText>gone</w:delText></w:r></w:del>' +
        '<w:ins><w:r><w:t xml:space="preserve"> added</w:t></w:r></w:ins><w:r><w:instrText>PAGE</w:instrText></w:r></w:p>' +
        '<w:p><w:r><AlternateContent><Choice><w:txbxContent><w:p><w:r><w:t>In a box</w:t></w:r></w:p></w:txbxContent></Choice>' +
        '<Fallback><w:p><w:r><w:t>In a box</w:t></w:r></w:p></Fallback></AlternateContent></w:r></w:p>' +
        '<w:tbl><w:tr><w:tc><w:p><w:r><w:t>outer</w:t></w:r></w:p><w:tbl><w:tr><w:tc><w:p><w:r><w:t>inner</w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:tc></w:tr></w:tbl>',
    ),
    'a.docx',
  );
  expect(text).toBe('Kept added\n\nIn a box\n\nouter\n\n| inner |\n| --- |');
});

test('reads text boxes as Word 2007 writes them, without a DrawingML alternative', async () => {
  const box =
    '<w:pict><v:shape><v:textbox><w:txbxContent><w:p><w:r><w:t>In a box</w:t></w:r></w:p></w:txbxContent></v:textbox></v:shape></w:pict>';
  const xml = `<w:p><w:r>${box}</w:r><w:r><w:t>Around it</w:t></w:r></w:p>`;
  expect((await readFile(word(xml), 'a.docx')).text).toBe('In a box\n\nAround it');
});

test('ignores the formatting before a tracked change', async () => {
  const before = (name: string, old: string): string =>
    `<w:${name}Change><w:${name}>${old}</w:${name}></w:${name}Change>`;
  const inCell = (properties: string, text: string): string =>
    `<w:tc><w:tcPr>${properties}</w:tcPr><w:p><w:r><w:t>${text}</w:t></w:r></w:p></w:tc>`;
  const { text } = await readFile(
    word(
      `<w:p><w:pPr><w:outlineLvl w:val="1"/>${before('pPr', '<w:outlineLvl w:val="0"/>')}</w:pPr><w:r><w:t>Fees</w:t></w:r></w:p>` +
        `<w:p><w:pPr>${before('pPr', '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="3"/></w:numPr>')}</w:pPr><w:r><w:t>No item</w:t></w:r></w:p>` +
        `<w:tbl><w:tr>${inCell(before('tcPr', '<w:gridSpan w:val="2"/>'), 'Boat')}${inCell('', 'Fee')}</w:tr></w:tbl>`,
    ),
    'a.docx',
  );
  expect(text).toBe('## Fees\n\nNo item\n\n| Boat | Fee |\n| --- | --- |');
});

test('continues the numbers of lists with a common definition, unless a list sets its own start', async () => {
  const item = (numId: number, text: string): string =>
    `<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="${numId}"/></w:numPr></w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`;
  const listInstance = (id: number, more: string): string =>
    `<w:num w:numId="${id}"><w:abstractNumId w:val="7"/>${more}</w:num>`;
  const startAt = (start: number): string =>
    `<w:lvlOverride w:ilvl="0"><w:startOverride w:val="${start}"/></w:lvlOverride>`;
  const bytes = officeFile(
    'word/document.xml',
    `<w:document ${W}><w:body>${[item(3, 'Call'), item(1, 'moor'), item(1, 'pay'), item(4, 'Leave'), item(4, 'wave')].join('')}</w:body></w:document>`,
    {
      'word/_rels/document.xml.rels': strToU8(
        '<Relationships><Relationship Id="rId1" Type="http://x/numbering" Target="numbering.xml"/></Relationships>',
      ),
      'word/numbering.xml': strToU8(
        `<w:numbering ${W}><w:abstractNum w:abstractNumId="7"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl></w:abstractNum>${listInstance(1, '')}${listInstance(3, startAt(1))}${listInstance(4, startAt(5))}</w:numbering>`,
      ),
    },
  );
  expect((await readFile(bytes, 'a.docx')).text).toBe('1. Call\n2. moor\n3. pay\n5. Leave\n6. wave');
});

test('reads charts as tables and diagrams as lists, at their positions', async () => {
  const presentation = new Presentation();
  const slide = presentation.addSlide();
  const labels = ['First', 'Second'];
  slide.addChart('pie' as Parameters<typeof slide.addChart>[0], [{ name: 'Calls', labels, values: [148, 171.5] }], {
    x: 1,
    y: 1,
    w: 6,
    h: 3,
    showTitle: true,
    title: 'Calls by quarter',
  });
  const parts = unzipSync((await presentation.write({ outputType: 'uint8array' })) as Uint8Array);
  const chart = Object.entries(parts).find(([name]) => /^ppt\/charts\/chart\d+\.xml$/.test(name))?.[1];
  const drawing = (what: string): string => `<w:r><w:drawing>${what}</w:drawing></w:r>`;
  const bytes = officeFile(
    'word/document.xml',
    `<w:document ${W} xmlns:c="c" xmlns:d="d" xmlns:r="r"><w:body>` +
      `<w:p><w:r><w:t>Before</w:t></w:r>${drawing('<c:chart r:id="rId1"/>')}<w:r><w:t> it.</w:t></w:r></w:p>` +
      `<w:tbl><w:tr><w:tc><w:p><w:r><w:t>Cell</w:t></w:r>${drawing('<d:relIds r:dm="rId2"/>')}</w:p></w:tc></w:tr></w:tbl>` +
      `<w:p>${drawing('<c:chart r:id="rId9"/>')}<w:r><w:t>After.</w:t></w:r></w:p></w:body></w:document>`,
    {
      'word/_rels/document.xml.rels': strToU8(
        '<Relationships><Relationship Id="rId1" Type="http://x/chart" Target="charts/chart1.xml"/>' +
          '<Relationship Id="rId2" Type="http://x/diagramData" Target="diagrams/data1.xml"/></Relationships>',
      ),
      'word/charts/chart1.xml': chart ?? strToU8('<none/>'),
      'word/diagrams/data1.xml': strToU8(
        '<m xmlns:a="a"><pt><a:p><a:t>Survey</a:t></a:p></pt><pt><a:p><a:t>Dredge</a:t></a:p></pt></m>',
      ),
    },
  );
  expect((await readFile(bytes, 'a.docx')).text).toBe(
    [
      'Before it.',
      'Calls by quarter',
      '|  | Calls |\n| --- | --- |\n| First | 148 |\n| Second | 171.5 |',
      'Cell',
      '- Survey\n- Dredge',
      'After.',
    ].join('\n\n'),
  );
});

test('reads the headings of a document without styles', async () => {
  const { text } = await readFile(
    word(
      '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Fees</w:t></w:r></w:p>' +
        '<w:p><w:pPr><w:outlineLvl w:val="1"/></w:pPr><w:r><w:t>Small boats</w:t></w:r></w:p>' +
        '<w:p><w:r><w:t>Ten</w:t><w:tab/><w:t>euros</w:t></w:r></w:p>',
    ),
    'a.docx',
  );
  expect(text).toBe('# Fees\n\n## Small boats\n\nTen euros');
});

test('keeps headings with their text, and tables whole, in chunks', async () => {
  const bytes = await makeDocx([
    new Paragraph({ text: 'Mooring', heading: HeadingLevel.HEADING_1 }),
    new Paragraph('Boats moor at the north quay.'),
    new Paragraph({ text: 'Fees', heading: HeadingLevel.HEADING_1 }),
    table([
      ['Boat', 'Fee'],
      ['Small', '10'],
      ['Large', '25'],
    ]),
  ]);
  expect(await chunksOfFile(bytes, 'rules.docx', { chunkSize: 36, chunkOverlap: 0 })).toEqual([
    '# Mooring\n\nBoats moor at the north quay.',
    '# Fees\n\n| Boat | Fee |\n| --- | --- |\n| Small | 10 |\n| Large | 25 |',
  ]);
  expect(
    await chunksOfFile(bytes, 'rules.docx', {
      chunkSize: 36,
      chunkOverlap: 0,
      prefix: 'rules.docx',
      maxItemsPerChunk: 1,
    }),
  ).toEqual([
    'rules.docx\n\n# Mooring\n\nBoats moor at the north quay.',
    'rules.docx\n\n# Fees\n\n| Boat | Fee |\n| --- | --- |\n| Small | 10 |\n| Large | 25 |',
  ]);
});

test('reports encrypted, broken and empty files, and the format of a wrongly named one', async () => {
  const bytes = await makeDocx([new Paragraph('Words')]);
  const encrypted = Uint8Array.from(encrypt(Buffer.from(bytes), { password: 'x' }));
  expect(await faultOfFile(encrypted, 'a.docx')).toMatch(/^encrypted: .*password/);
  expect(await faultOfFile(bytes.subarray(0, 3000), 'a.docx')).toMatch(/^broken_content: .*save it again/);
  const malformed = word('<w:p><w:r><w:t>Words</w:r></w:p>');
  expect(await faultOfFile(malformed, 'a.docx')).toMatch(/^broken_content: /);
  const parts = { '[Content_Types].xml': strToU8('<Types/>'), 'word/x.xml': strToU8('<a/>') };
  expect(await faultOfFile(zipSync(parts), 'a.docx')).toMatch(/^broken_content: .*without a document/);
  expect(await faultOfFile(zipSync({ 'Boats.txt': strToU8('Ada') }), 'a.docx')).toMatch(
    /^unsupported_type: .*not an Office file but an archive of other files, the first of them boats\.txt\. Unpack it/,
  );
  expect(await faultOfFile(await makeDocx([]), 'a.docx')).toMatch(/^no_text: /);
  const wronglyNamed = await readFile(bytes, 'a.pdf');
  expect([wronglyNamed.text, wronglyNamed.format, wronglyNamed.metadata['named_as']]).toEqual(['Words', 'DOCX', 'PDF']);
});
