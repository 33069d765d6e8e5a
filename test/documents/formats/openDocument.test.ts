import { expect, test } from '@jest/globals';
import { strToU8 } from 'fflate';

import { everyRow } from '../../support/everyRow.js';
import { faultOfFile, readFile } from '../readFile.js';
import { encryptedEntry, flatFile, odfFile, type OdfKind, type OdfParts } from './odfFile.js';

const textOf = async (parts: OdfParts): Promise<string> => (await readFile(odfFile('text', parts), 'a.odt')).text;
const sheetOf = async (rows: string, more: Partial<OdfParts> = {}): Promise<string> =>
  (
    await readFile(
      odfFile('spreadsheet', { body: `<table:table table:name="Sheet1">${rows}</table:table>`, ...more }),
      'a.ods',
    )
  ).text;
const cell = (text: string, attributes = ''): string =>
  `<table:table-cell ${attributes}><text:p>${text}</text:p></table:table-cell>`;
const row = (cells: string, attributes = ''): string => `<table:table-row ${attributes}>${cells}</table:table-row>`;

test('notes and comments follow the text, and comments quote the text to which they refer', async () => {
  const note = (kind: string, text: string): string =>
    `<text:note text:note-class="${kind}"><text:note-citation>9</text:note-citation><text:note-body><text:p>${text}</text:p></text:note-body></text:note>`;
  const body = `<text:p>Boats${note('footnote', 'Of wood.')} <office:annotation office:name="c"><dc:creator>Anna</dc:creator><dc:date>2024-01-01</dc:date><text:p>Where?</text:p></office:annotation>moor here<office:annotation-end office:name="c"/> at night${note('endnote', 'In winter.')}.</text:p>`;
  expect(await textOf({ body })).toBe(
    'Boats[^1] moor here at night[^e1].\n\n[^1]: Of wood.\n\n[^e1]: In winter.\n\nComment by Anna on "moor here": Where?',
  );
});

test('a quotation in a comment has spaces between lines and paragraphs; a comment that marks only a position has no quotation', async () => {
  const comment = (name: string): string =>
    `<office:annotation office:name="${name}"><dc:creator>Anna</dc:creator><text:p>Why ${name}?</text:p></office:annotation>`;
  const body =
    `<text:p>${comment('a')}Boats<text:line-break/>moor</text:p><text:p>here<office:annotation-end office:name="a"/>.</text:p>` +
    `<text:p>There${comment('b')} they wait.</text:p>`;
  expect((await textOf({ body })).split('\n\n').slice(3)).toEqual([
    'Comment by Anna on "Boats moor here": Why a?',
    'Comment by Anna: Why b?',
  ]);
});

test('tracked deletions are omitted and counted', async () => {
  const changed =
    '<text:tracked-changes><text:changed-region><text:deletion><text:p>gone</text:p></text:deletion></text:changed-region><text:changed-region><text:insertion/></text:changed-region></text:tracked-changes>';
  const document = await readFile(
    odfFile('text', { body: `${changed}<text:p>Boats <text:change-start/>always<text:change-end/> moor.</text:p>` }),
    'a.odt',
  );
  expect(document.text).toBe('Boats always moor.');
  expect(document.metadata).toMatchObject({ tracked_changes: { insertions: 1, deletions: 1 } });
});

test('headers and footers follow the text, each once and without page numbers', async () => {
  const master =
    '<style:master-page><style:header><text:p>Harbour office</text:p></style:header><style:footer><text:p>Page <text:page-number>3</text:page-number></text:p></style:footer></style:master-page><style:master-page><style:header><text:p>Harbour office</text:p></style:header></style:master-page>';
  expect(await textOf({ body: '<text:p>Boats.</text:p>', master })).toBe('Boats.\n\nHeader: Harbour office');
});

test('merged cells repeat their text, and repeated cells are limited', async () => {
  const merged = `<table:table>${row(cell('Boats', 'table:number-columns-spanned="2"') + '<table:covered-table-cell/>' + cell('Fee'))}${row(cell('Ada', 'table:number-rows-spanned="2"') + cell('N1') + cell('10'))}${row('<table:covered-table-cell/>' + cell('N2') + cell('12'))}</table:table>`;
  expect(await textOf({ body: merged })).toBe(
    '| Boats | Boats | Fee |\n| --- | --- | --- |\n| Ada | N1 | 10 |\n| Ada | N2 | 12 |',
  );
  const wide = `<table:table>${row(cell('x', 'table:number-columns-repeated="1000000000"'))}</table:table>`;
  expect((await textOf({ body: wide })).match(/x/g)).toHaveLength(100);
});

test('a table of one cell is a frame around its paragraphs and tables', async () => {
  const table = (rows: string): string => `<table:table>${rows}</table:table>`;
  const framed = (content: string): string => table(row(`<table:table-cell>${content}</table:table-cell>`));
  const inner = table(row(cell('Boat') + cell('Fee')) + row(cell('Ada') + cell('10')));
  const shown = '| Boat | Fee |\n| --- | --- |\n| Ada | 10 |';
  expect(await textOf({ body: framed(`<text:p>Before.</text:p>${inner}<text:p>After.</text:p>`) })).toBe(
    `Before.\n\n${shown}\n\nAfter.`,
  );
  expect(await textOf({ body: framed(inner) })).toBe(shown);
  expect(await textOf({ body: framed(framed('<text:p>Boats.</text:p>')) })).toBe('Boats.');
});

test('numbering continues and starts as the file defines', async () => {
  const styles =
    '<text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="1" text:start-value="3"/></text:list-style>';
  const list = (item: string, attributes = ''): string =>
    `<text:list text:style-name="L" ${attributes}><text:list-item><text:p>${item}</text:p><text:p>More.</text:p></text:list-item></text:list>`;
  const body = `${list('One')}<text:p>Between.</text:p>${list('Two', 'text:continue-numbering="true"')}`;
  expect(await textOf({ styles, body })).toBe('3. One\n  More.\n\nBetween.\n\n4. Two\n  More.');
});

test('lists, also in cells, have the numbers that their style defines', async () => {
  const level = (nth: number, format: string, more: string): string =>
    `<text:list-level-style-number text:level="${nth}" style:num-format="${format}" ${more}/>`;
  const styles =
    `<text:list-style style:name="L">${level(1, '1', 'style:num-suffix="."')}${level(2, '1', 'text:display-levels="2"')}` +
    `${level(3, 'a', 'style:num-prefix="(" style:num-suffix=")"')}</text:list-style>` +
    `<text:list-style style:name="B"><text:list-level-style-bullet text:level="1"/>${level(2, 'I', 'style:num-suffix=")" text:display-levels="2"')}</text:list-style>`;
  const item = (text: string, inner = ''): string =>
    `<text:list-item>${text && `<text:p>${text}</text:p>`}${inner}</text:list-item>`;
  const list = (items: string, style = ''): string => `<text:list ${style}>${items}</text:list>`;
  const [inL, inB] = ['text:style-name="L"', 'text:style-name="B"'];
  const ropes = list(item('Hemp') + item('Steel'));
  const body =
    list(item('Boats') + item('Gear', list(item('Ropes', ropes) + item('Anchors'))), inL) +
    `<text:p>Then</text:p>${list(item('Quay', list(item('North'))), inB)}<text:p>And</text:p>` +
    list(item('', list(item('Fees'))), inL) +
    `<table:table>${row(cell('Rule') + `<table:table-cell>${list(item('', list(item('Moor'))), inL)}</table:table-cell>`)}</table:table>`;
  expect((await textOf({ styles, body })).split('\n')).toEqual([
    ...['1. Boats', '2. Gear', '  - 2.1 Ropes', '    - (a) Hemp', '    - (b) Steel', '  - 2.2 Anchors', ''],
    ...[
      'Then',
      '',
      '- Quay',
      '  - I) North',
      '',
      'And',
      '',
      '  - 1.1 Fees',
      '',
      '| Rule | 1.1 Moor |',
      '| --- | --- |',
    ],
  ]);
});

test('prefers the complete number format of LibreOffice (num-list-format) to prefix and suffix', async () => {
  const styles =
    '<text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="A" xmlns:loext="l" loext:num-list-format="§ %1%:%2%" style:num-suffix=":"/></text:list-style>';
  const body = '<text:list text:style-name="L"><text:list-item><text:p>Moor</text:p></text:list-item></text:list>';
  expect(await textOf({ styles, body })).toBe('- § A: Moor');
});

test('an item without text has a number, too', async () => {
  const styles =
    '<text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="1"/></text:list-style>';
  const items = ['<text:p>Moor</text:p>', '<text:p/>', '<text:p/><text:p>Pay</text:p><text:p>More.</text:p>'];
  const body = `<text:list text:style-name="L">${items.map((item) => `<text:list-item>${item}</text:list-item>`).join('')}</text:list>`;
  expect(await textOf({ styles, body })).toBe('1. Moor\n3. Pay\n  More.');
});

test('text boxes, links, titles and ruby annotations are text; alternative texts are not', async () => {
  const styles = '<style:style style:name="P1" style:family="paragraph" style:parent-style-name="Title"/>';
  const body = `<text:p text:style-name="P1">Tides</text:p><text:p>See <text:a xlink:href="https://example.org/">here</text:a><draw:frame><svg:title>Alternative</svg:title><draw:text-box><text:p>Boxed.</text:p></draw:text-box></draw:frame> for <text:ruby><text:ruby-base>東京</text:ruby-base><text:ruby-text>とうきょう</text:ruby-text></text:ruby>.</text:p>`;
  expect(await textOf({ styles, body })).toBe(
    '# Tides\n\nBoxed.\n\nSee [here](https://example.org/) for 東京(とうきょう).',
  );
});

test('a number of spaces that is not positive is tolerated', async () => {
  const body = '<text:p>Tides<text:s text:c="-1"/> and<text:s text:c="0"/>boats</text:p>';
  expect(await textOf({ body })).toBe('Tides and boats');
});

const CHART = `<office:chart><chart:chart><chart:title><text:p>Calls</text:p></chart:title><table:table>${row('<table:table-cell/>' + cell('Fishing'))}${row(cell('First') + cell('148', 'office:value="148"'))}</table:table></chart:chart></office:chart>`;
const CHART_TEXT = 'Calls\n\n|  | Fishing |\n| --- | --- |\n| First | 148 |';

test('a reference that is not UTF-8 is tolerated', async () => {
  const body = '<text:p>Tides<draw:frame><draw:object xlink:href="./Object%E4"/></draw:frame></text:p>';
  expect(await textOf({ body })).toBe('Tides');
});

test('charts are tables at their place, and what is not read is counted', async () => {
  const document = await readFile(
    odfFile('text', {
      body: '<office:forms/><text:p>Before.<draw:frame><draw:object xlink:href="./Object 1"/></draw:frame></text:p><text:p>After.<draw:control/></text:p>',
      objects: { 'Object 1': CHART, 'Object 2': '<office:text/>' },
      more: {
        'Pictures/a.png': strToU8('x'),
        'Basic/Standard/Module1.xml': strToU8('x'),
        'ObjectReplacements/Object 1': strToU8('x'),
      },
    }),
    'a.odt',
  );
  expect(document.text).toBe(`Before.\n\n${CHART_TEXT}\n\nAfter.`);
  expect(document.metadata['not_read']).toEqual({ pictures: 1, embedded_files: 1, macros: 1, form_fields: 1 });
});

test('sheets: comments, text boxes and charts follow the rows, and hidden sheets are marked', async () => {
  const styles =
    '<style:style style:name="ta" style:family="table"><style:table-properties table:display="false"/></style:style>';
  const commented =
    '<table:table-cell><office:annotation><dc:creator>Anna</dc:creator><text:p>Check.</text:p></office:annotation><text:p>Ada</text:p></table:table-cell>';
  const shapes =
    '<table:shapes><draw:frame><draw:text-box><text:p>Boxed.</text:p></draw:text-box></draw:frame><draw:frame><draw:object xlink:href="./Object 1"/></draw:frame></table:shapes>';
  const body = `<table:table table:name="Boats" table:style-name="ta">${shapes}${row(cell('Berth') + cell('Boat'))}${row(cell('N1') + commented)}</table:table>`;
  const document = await readFile(odfFile('spreadsheet', { styles, body, objects: { 'Object 1': CHART } }), 'a.ods');
  expect(document.text).toBe(
    `# Boats (hidden)\n\nBerth: N1, Boat: Ada\n\nBoxed.\n\nCalls\n\n${CHART_TEXT.slice(7)}\n\nComment by Anna on B2: Check.`,
  );
  expect(document.metadata).toMatchObject({ sheets: ['Boats'], hidden_sheets: ['Boats'], rows: 1 });
});

test('sheets: merged cells repeat their text, dates are ISO 8601, and a value without text is shown', async () => {
  const rows =
    row(cell('Boat') + cell('Since') + cell('Fee')) +
    row(
      cell('Ada', 'table:number-rows-spanned="2"') +
        cell('1.5.19', 'office:value-type="date" office:date-value="2019-05-01T10:30:00.5"') +
        '<table:table-cell office:value-type="float" office:value="12"/>',
    ) +
    row('<table:covered-table-cell><text:p>covered</text:p></table:covered-table-cell>' + cell('later') + cell('13')) +
    row('<table:table-cell/>' + cell('last') + cell('14'));
  expect(await sheetOf(rows)).toBe(
    'Boat: Ada, Since: 2019-05-01 10:30:00, Fee: 12\nBoat: Ada, Since: later, Fee: 13\nSince: last, Fee: 14',
  );
});

test('sheets: repeated rows are limited by the number of cells', async () => {
  const rows = row(cell('x'), 'table:number-rows-repeated="1000000000"');
  const bytes = odfFile('spreadsheet', { body: `<table:table>${rows}</table:table>` });
  expect(await faultOfFile(bytes, 'a.ods', { maxCells: 1000 })).toMatch(/^too_large: .*MAX_TABLE_CELLS/);
});

test('slides beyond the limit are refused', async () => {
  const bytes = odfFile('presentation', { body: '<draw:page/>'.repeat(4) });
  expect(await faultOfFile(bytes, 'a.odp', { maxPages: 3 })).toMatch(/^too_large: .*MAX_DOCUMENT_PAGES: 3/);
});

test('comments of slides follow them, and placeholders that the layout repeats are omitted', async () => {
  const comment = '<office:annotation><dc:creator>Anna</dc:creator><text:p>Why?</text:p></office:annotation>';
  const shape = (kind: string, text: string): string =>
    `<draw:frame presentation:class="${kind}"><draw:text-box><text:p>${text}</text:p></draw:text-box></draw:frame>`;
  const body = `<draw:page>${comment}${shape('title', 'Tides')}${shape('footer', 'left out')}</draw:page><draw:page>${shape('subtitle', 'Ebb')}</draw:page>`;
  expect((await readFile(odfFile('presentation', { body }), 'a.odp')).text).toBe(
    '# Tides\n\nComment by Anna: Why?\n\n# Slide 2\n\nEbb',
  );
});

test('encrypted pictures do not make a document unreadable, and its metadata is read', async () => {
  const document = await readFile(
    odfFile('text', {
      body: '<text:p>Boats.</text:p>',
      manifest: encryptedEntry('Pictures/a.png'),
      meta: '<dc:title>Fleet</dc:title><meta:initial-creator>Anna</meta:initial-creator><meta:keyword>sea</meta:keyword><meta:keyword>tide</meta:keyword><meta:creation-date>2024-05-01T10:00:00Z</meta:creation-date>',
    }),
    'a.odt',
  );
  expect(document.metadata).toMatchObject({ title: 'Fleet', author: 'Anna', keywords: 'sea, tide' });
  expect(document.sourceCreatedAt).toBe('2024-05-01T10:00:00.000Z');
});

test('elements that are nested too deeply, and contents that exceed the limit when unpacked, are too large', async () => {
  expect(
    await faultOfFile(odfFile('text', { body: '<text:section>'.repeat(600) + '</text:section>'.repeat(600) }), 'a.odt'),
  ).toMatch(/^too_large: .*MAX_ELEMENT_DEPTH/);
  const bytes = odfFile('text', { body: '<text:p>Boats.</text:p>' });
  expect(await faultOfFile(bytes, 'a.odt', { maxUnpackedBytes: 100 })).toMatch(/^too_large: .*MAX_UNPACKED_BYTES/);
});

const HIDDEN =
  '<style:style style:name="ta" style:family="table"><style:table-properties table:display="false"/></style:style>';
/**
 * Documents that read the same from an archive and from one XML file (two have a chart), with their file extensions.
 */
const BOTH_FORMS: ReadonlyArray<readonly [kind: OdfKind, ending: string, parts: OdfParts, text: RegExp]> = [
  [
    'text',
    'odt',
    {
      styles: '<style:style style:name="P1" style:family="paragraph" style:parent-style-name="Title"/>',
      master:
        '<style:master-page><style:header><text:p>Harbour office, Kiel</text:p></style:header></style:master-page>',
      meta: '<dc:title>Fleet</dc:title><meta:creation-date>2024-05-01T10:00:00Z</meta:creation-date>',
      body: '<text:p text:style-name="P1">Tides &amp; boats</text:p><text:p>Before.<draw:frame><draw:object xlink:href="./Object 1"/></draw:frame></text:p><text:p>After.<office:annotation><dc:creator>Anna</dc:creator><dc:date>2020-01-01T00:00:00</dc:date><text:p>Why?</text:p></office:annotation></text:p>',
      objects: { 'Object 1': CHART },
    },
    /^# Tides & boats\n\nBefore\.\n\nCalls\n\n[^]*\n\nAfter\.\n\nComment by Anna: Why\?\n\nHeader: Harbour office, Kiel$/,
  ],
  [
    'spreadsheet',
    'ods',
    {
      styles: HIDDEN,
      body: `<table:table table:name="Boats" table:style-name="ta"><table:shapes><draw:frame><draw:object xlink:href="./Object 1"/></draw:frame></table:shapes>${row(cell('Berth') + cell('Boat'))}${row(cell('N1') + cell('Ada'))}</table:table>`,
      objects: { 'Object 1': CHART },
    },
    /^# Boats \(hidden\)\n\nBerth: N1, Boat: Ada\n\nCalls\n/,
  ],
  [
    'presentation',
    'odp',
    {
      body: '<draw:page draw:name="Tides"><draw:frame><draw:text-box><text:p>Ebb</text:p></draw:text-box></draw:frame></draw:page>',
    },
    /Ebb/,
  ],
];

test('a flat file is read as the archive with the same parts, under any name', () =>
  everyRow(
    BOTH_FORMS,
    ([kind]) => kind,
    async ([kind, ending, parts, text]) => {
      const archived = await readFile(odfFile(kind, parts), `a.${ending}`);
      expect(archived.text).toMatch(text);
      const flat = await readFile(flatFile(kind, parts), `a.f${ending}`);
      expect({ ...flat, metadata: { ...flat.metadata } }).toEqual(archived);
      expect(await readFile(flatFile(kind, parts), 'a.xml')).toMatchObject({ text: flat.text, format: flat.format });
    },
  ));

test('flat files: pictures and other objects are counted, and one without a document is broken', async () => {
  const picture = '<draw:frame><draw:image><office:binary-data>AAAA</office:binary-data></draw:image></draw:frame>';
  const formula = '<draw:frame><draw:object><math><mi>x</mi></math></draw:object></draw:frame>';
  const foreign =
    '<draw:frame><draw:object-ole><office:binary-data>AAAA</office:binary-data></draw:object-ole></draw:frame>';
  const body = `<text:p>Boats.${picture}${formula}${foreign}</text:p>`;
  const { text, metadata } = await readFile(flatFile('text', { body }), 'a.fodt');
  expect({ text, notRead: metadata['not_read'] }).toEqual({
    text: 'Boats.',
    notRead: { pictures: 1, embedded_files: 2 },
  });
  const whole = flatFile('text', { body: '<text:p>Boats.</text:p>' });
  expect(await faultOfFile(whole.replaceAll('office:body', 'office:nothing'), 'a.fodt')).toMatch(
    /^broken_content: .*OpenDocument XML file without a document/,
  );
  expect(await faultOfFile(whole.slice(0, -40), 'a.fodt')).toMatch(/^broken_content: .*not well-formed/);
  expect(
    await faultOfFile(
      flatFile('text', { body: '<text:section>'.repeat(600) + '</text:section>'.repeat(600) }),
      'a.fodt',
    ),
  ).toMatch(/^too_large: .*MAX_ELEMENT_DEPTH/);
});
