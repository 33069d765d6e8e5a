import { expect, test } from '@jest/globals';
import { chunksOfFile, faultOfFile, readFile } from '../readFile.js';

const rtf = (body: string): string => `{\\rtf1\\ansi\\ansicpg1252\\deff0 ${body}}`;

test('reads headings, list markers, tables and metadata of a document saved by Word', async () => {
  const document = await readFile(
    rtf(
      '{\\fonttbl{\\f0\\froman\\fcharset0 Times;}{\\f1\\fcharset204 Arial Cyr;}}{\\colortbl;\\red0\\green0\\blue0;}' +
        '{\\stylesheet{\\s1 heading 1;}}{\\*\\generator Some Program 1.0;}' +
        "{\\info{\\title Hafenordnung}{\\author J\\'fcrgen}{\\creatim\\yr2024\\mo3\\dy1\\hr12\\min30}}" +
        '{\\header Confidential\\par}\\pard\\s1\\outlinelevel0 Mooring\\par' +
        "\\pard Boats moor \\b always\\b0  here\\emdash so it was at the Caf\\'e9 of \\u26085?\\u26412?.\\line Second line.\\par" +
        "\\pard{\\f1 \\'cf\\'f0\\'e8}\\par" +
        '\\pard{\\listtext\\f1 \\u8226?\\tab}Rope\\par\\pard{\\listtext 2.\\tab}Anchor\\par' +
        '\\pard\\intbl Boat\\cell Fee\\cell\\row\\pard\\intbl Small\\cell 10 \\u8364?\\cell\\row\\pard' +
        '{\\field{\\*\\fldinst HYPERLINK "https://example.org"}{\\fldrslt the site}}\\par',
    ),
    'rules.rtf',
  );
  expect(document.text).toBe(
    [
      '# Mooring',
      'Boats moor always here—so it was at the Café of 日本.\nSecond line.',
      'При',
      '- Rope\n2. Anchor',
      '| Boat | Fee |\n| --- | --- |\n| Small | 10 € |',
      'the site',
      'Header: Confidential',
    ].join('\n\n'),
  );
  expect(document).toMatchObject({
    format: 'RTF',
    metadata: { title: 'Hafenordnung', author: 'Jürgen' },
    sourceCreatedAt: '2024-03-01T12:30:00.000Z',
  });
});

test('reads a document saved by WordPad, and one in another code page', async () => {
  const wordpad =
    '{\\rtf1\\ansi\\ansicpg1252\\deff0\\nouicompat{\\fonttbl{\\f0\\fnil\\fcharset0 Calibri;}}\r\n{\\*\\generator Riched20 10.0}\\viewkind4\\uc1 \r\n\\pard\\sa200\\sl276\\slmult1\\f0\\fs22\\lang9 First paragraph.\\par\r\nSecond one.\\par\r\n}\r\n\u0000';
  expect((await readFile(wordpad, 'a.rtf')).text).toBe('First paragraph.\n\nSecond one.');
  const japanese = "{\\rtf1\\ansi\\ansicpg932{\\fonttbl{\\f0\\fcharset128 MS;}}\\f0 \\'93\\'fa\\'96\\'7b\\par}";
  expect((await readFile(japanese, 'a.rtf')).text).toBe('日本');
});

test('reads lists, headings, links, footnotes and cells of several paragraphs as AbiWord writes them', async () => {
  const { text } = await readFile(
    rtf(
      '{\\stylesheet{\\s35\\fs32 Heading 1;}{\\s47 Normal;}}\\pard\\plain\\s35{\\s35 Fees}{\\par}' +
        '\\pard\\s47 They rise{\\super\\chftn{\\footnote\\pard In {\\i 2025}.\\par And then?}} again.\\par' +
        '{\\listtext\\pard{\\s47\\tab Small boats}{\\s47\\par}\n}{\\listtext\\pard{\\tab Large boats}{\\par}\n}' +
        '\\pard See {\\field{\\*\\fldinst HYPERLINK "x"}{\\*\\fldrslt{the site}}}.\\par' +
        '{\\trowd\\cellx9{\\pard\\intbl Boat\\par and berth\\par}\\cell{\\pard\\intbl Fee\\par}\\cell\\intbl\\row}\\pard End.\\par',
    ),
    'a.rtf',
  );
  expect(text).toBe(
    [
      '# Fees',
      'They rise[^1] again.',
      '- Small boats\n- Large boats',
      'See the site.',
      '| Boat and berth | Fee |\n| --- | --- |',
      'End.',
      '[^1]: In 2025. And then?',
    ].join('\n\n'),
  );
});

test('reads lists as Word writes them, with the mark before the properties of its paragraph', async () => {
  const mark = (text: string): string => `{\\listtext\\pard\\plain\\f3 ${text}\\tab}`;
  const { text } = await readFile(
    rtf(
      `\\pard Intro\\par ${mark("\\'b7")}\\pard\\plain\\ls1 Rope\\par ${mark("\\'b7")}Anchor\\par ` +
        `${mark('1.')}\\pard\\plain\\ls2\\ilvl1 Moor\\par ${mark('2.')}\\pard\\plain\\ls2 \\par \\pard\\plain Outro\\par ` +
        `${mark('3.')}\\pard\\plain\\intbl Boat\\cell ${mark('4.')}\\pard\\intbl\\cell\\row\\pard\\plain End\\par`,
    ),
    'a.rtf',
  );
  expect(text).toBe('Intro\n\n- Rope\n- Anchor\n  1. Moor\n\nOutro\n\n| Boat |  |\n| --- | --- |\n\nEnd');
});

test('omits pictures, objects and hidden text, and unescapes characters', async () => {
  const { text } = await readFile(
    rtf(
      '{\\pict\\pngblip 89504e47}{\\object{\\*\\objdata 0105}}{\\v hidden}{\\*\\unknown no}A \\{b\\} \\\\ c\\~d\\par',
    ),
    'a.rtf',
  );
  expect(text).toBe('A {b} \\ c d');
});

test('hidden text ends at \\v0, also in notes, and \\v0 does not show text in a group that is ignored', async () => {
  const { text } = await readFile(
    rtf('Boats{\\footnote seen {\\v not }{\\v0 here}}{\\v not \\v0 moor}{\\*\\unknown no\\v0 no}\\par'),
    'a.rtf',
  );
  expect(text).toBe('Boats[^1]moor\n\n[^1]: seen here');
});

test('keeps tables whole in chunks', async () => {
  const row = (a: string, b: string): string => `\\pard\\intbl ${a}\\cell ${b}\\cell\\row`;
  const bytes = rtf(`\\pard Some words before the table.\\par${row('Boat', 'Fee')}${row('Small', '10')}\\pard`);
  expect(await chunksOfFile(bytes, 'a.rtf', { chunkSize: 18, chunkOverlap: 0 })).toEqual([
    'Some words before the table.',
    '| Boat | Fee |\n| --- | --- |\n| Small | 10 |',
  ]);
});

test('reads an unclosed file, and reports empty and too deep files and the format of a wrongly named one', async () => {
  expect((await readFile('{\\rtf1 never closed', 'a.rtf')).text).toBe('never closed');
  expect(await faultOfFile('{\\rtf1}', 'a.rtf')).toMatch(/^no_text: /);
  expect(await faultOfFile(rtf(`${'{'.repeat(100_000)}deep`), 'a.rtf')).toMatch(/^too_large: .*MAX_ELEMENT_DEPTH/);
  expect(await faultOfFile('', 'a.rtf')).toMatch(/^no_text: /);
  const wronglyNamed = await readFile(rtf('Words\\par'), 'a.docx');
  expect([wronglyNamed.text, wronglyNamed.format, wronglyNamed.metadata['named_as']]).toEqual(['Words', 'RTF', 'DOCX']);
});

test('reads comments, headers and footers, and omits numbers of pages', async () => {
  const page = (instruction: string): string => `{\\field{\\*\\fldinst ${instruction} }{\\fldrslt 77}}`;
  const { text, notRead } = await readFile(
    rtf(
      `{\\header Harbour office\\par\\pard\\intbl Berth 7\\cell Kiel\\cell\\row\\pard Page ${page('PAGE')} of ${page('NUMPAGES')}\\par}` +
        `{\\headerl Harbour office\\par}{\\footer Page \\chpgn\\par}{\\footerf Rules of the harbour, page ${page('PAGE')}\\par}` +
        '\\pard Depth{\\*\\atnid AB}{\\*\\atnauthor Anna}\\chatn{\\*\\annotation{\\*\\atndate 1}\\pard Measured when?\\par By whom?}' +
        ' is four metres{\\footnote Since {\\field{\\*\\fldinst DATE}{\\fldrslt 1901}}}.\\par',
    ),
    'a.rtf',
  );
  expect([text, notRead]).toEqual([
    [
      'Depth is four metres[^1].',
      '[^1]: Since 1901',
      'Comment by Anna: Measured when? By whom?',
      'Header: Harbour office | Berth 7 Kiel',
      'Header: Harbour office',
      'Footer: Rules of the harbour, page',
    ].join('\n\n'),
    undefined,
  ]);
});
