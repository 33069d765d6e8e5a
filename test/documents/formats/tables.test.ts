import Papa from 'papaparse';
import iconv from 'iconv-lite';
import { expect, test } from '@jest/globals';
import { chunksOfFile, faultOfFile, processFile, readFile } from '../readFile.js';

const textOf = async (content: string | Uint8Array, name = 'a.csv'): Promise<string> =>
  (await readFile(content, name)).text;

test.each([
  ['commas', 'name,city\nAnna,Bern\nBo,Oslo\n', 'name: Anna, city: Bern\nname: Bo, city: Oslo'],
  ['semicolons, with commas inside', 'name;fee\nAnna;1,50\nBo;2,75\n', 'name: Anna, fee: 1,50\nname: Bo, fee: 2,75'],
  ['tabs in a .csv', 'name\tcity\nAnna\tBern\n', 'name: Anna, city: Bern'],
  ['vertical bars', 'name|city\r\nAnna|Bern\r\n', 'name: Anna, city: Bern'],
  [
    'a line that declares the separator',
    'sep=;\nname;city\nAnna;Bern, Switzerland\n',
    'name: Anna, city: Bern, Switzerland',
  ],
  [
    'quotes, doubled quotes and lines in cells',
    'name,note\n"Anna, K.","said ""yes""\nat once"\n',
    'name: Anna, K., note: said "yes" at once',
  ],
  ['a byte order mark', '\ufeffname,city\nAnna,Bern\n', 'name: Anna, city: Bern'],
  ['empty cells, rows and columns without a name', 'name,,city\nAnna,x,\n\n,,\n,,Oslo\n', 'name: Anna, x\ncity: Oslo'],
  ['rows of different lengths', 'name,city\nAnna\nBo,Oslo,spare\n', 'name: Anna\nname: Bo, city: Oslo, spare'],
  ['numbers from the first row on, so no header', '1,Anna\n2,Bo\n3,Cy\n', '1, Anna\n2, Bo\n3, Cy'],
  ['years as names of columns', 'boat,2022,2023\nAda,10,12\n', 'boat: Ada, 2022: 10, 2023: 12'],
  ['a single row', 'Anna,Bern\n', 'Anna, Bern'],
  ['one column', 'name\nAnna\nBo\n', 'name: Anna\nname: Bo'],
  ['a quote that is never closed', 'part,size\nrope,"5 m\nmast,3\n', 'part: rope, size: "5 m\npart: mast, size: 3'],
])('reads CSV with %s', async (_name, content, text) => {
  expect(await textOf(content)).toBe(text);
});

test('reads CSV that Papa Parse writes, encoded in windows-1252', async () => {
  const rows = [
    { Straße: 'Hafenstraße 1', Ort: 'Köln', Bemerkung: 'laut; "sehr"' },
    { Straße: 'Am Kai 2', Ort: 'Zürich', Bemerkung: '' },
  ];
  const bytes = iconv.encode(Papa.unparse(rows, { delimiter: ';', newline: '\r\n' }), 'windows-1252');
  const document = await readFile(Uint8Array.from(bytes), 'a.csv');
  expect(document.text).toBe(
    'Straße: Hafenstraße 1, Ort: Köln, Bemerkung: laut; "sehr"\nStraße: Am Kai 2, Ort: Zürich',
  );
  expect(document).toMatchObject({ format: 'CSV', metadata: { rows: 2, columns: ['Straße', 'Ort', 'Bemerkung'] } });
});

test('reads TSV, by the extensions .tsv and .tab', async () => {
  const document = await readFile('name\tfee, full\nAnna\t1,5\n', 'a.tsv');
  expect([document.format, document.mimeType, document.text]).toEqual([
    'TSV',
    'text/tab-separated-values',
    'name: Anna, fee, full: 1,5',
  ]);
  expect(await textOf('name,city\nAnna,Bern\n', 'a.tsv')).toBe('name: Anna, city: Bern');
  expect(await textOf('a\tb\n"x y"\t2\n', 'a.tab')).toBe('a: x y, b: 2');
});

const ROWS = 'n,word\n1,one\n2,two\n3,three\n4,four\n5,five\n';

test('groups rows by max_items_per_chunk, and by size without it', async () => {
  expect(await chunksOfFile(ROWS, 'a.csv', { maxItemsPerChunk: 2 })).toEqual([
    'n: 1, word: one\nn: 2, word: two',
    'n: 3, word: three\nn: 4, word: four',
    'n: 5, word: five',
  ]);
  expect(await chunksOfFile(ROWS, 'a.csv', { maxItemsPerChunk: 1 })).toHaveLength(5);
  expect(await chunksOfFile(ROWS, 'a.csv')).toEqual([await textOf(ROWS)]);
  // A group larger than a chunk is cut between rows.
  expect(await chunksOfFile(ROWS, 'a.csv', { maxItemsPerChunk: 4, chunkSize: 22, chunkOverlap: 0 })).toEqual([
    'n: 1, word: one\nn: 2, word: two',
    'n: 3, word: three\nn: 4, word: four',
    'n: 5, word: five',
  ]);
});

test('ignores max_items_per_chunk for other formats', async () => {
  const text = 'One.\n\nTwo.\n\nThree.\n\nFour.\n';
  for (const name of ['a.txt', 'a.md', 'a.html']) {
    const options = { chunkSize: 5, chunkOverlap: 0 };
    expect(await chunksOfFile(text, name, { ...options, maxItemsPerChunk: 1 })).toEqual(
      await chunksOfFile(text, name, options),
    );
  }
});

const WIDE = 'id,text,more\n1,a short one,x\n2,a row with quite a few more words in it,and some more\n3,end,y\n';

test('keeps a row that fits a chunk whole; with split_rows fills chunks and cuts between cells', async () => {
  const options = { chunkSize: 24, chunkOverlap: 0 };
  expect(await chunksOfFile(WIDE, 'a.csv', options)).toEqual([
    'id: 1, text: a short one, more: x',
    'id: 2, text: a row with quite a few more words in it, more: and some more',
    'id: 3, text: end, more: y',
  ]);
  expect(await chunksOfFile(WIDE, 'a.csv', { ...options, splitRows: true })).toEqual([
    'id: 1, text: a short one, more: x\nid: 2,',
    'text: a row with quite a few more words in it, more: and some more\nid: 3,',
    'text: end, more: y',
  ]);
});

test('cuts a row larger than a chunk between cells, then between words', async () => {
  const long = `id,text\n1,${'many words here '.repeat(20)}\n2,end\n`;
  const chunks = await chunksOfFile(long, 'a.csv', { chunkSize: 30, chunkOverlap: 0 });
  expect(chunks[0]).toMatch(/^id: 1,/);
  expect(chunks.at(-1)).toMatch(/id: 2, text: end$/);
  expect(chunks.join(' ').replaceAll('\n', ' ')).toBe((await textOf(long)).replaceAll('\n', ' '));
});

test('overlaps chunks by whole rows', async () => {
  const chunks = await chunksOfFile(ROWS, 'a.csv', { chunkSize: 30, chunkOverlap: 10 });
  expect(chunks.length).toBeGreaterThan(1);
  for (const chunk of chunks) for (const line of chunk.split('\n')) expect(line).toMatch(/^n: \d, word: \w+$/);
  expect(chunks[1]?.split('\n')[0]).toBe(chunks[0]?.split('\n').at(-1));
});

test('begins each chunk with the prefix', async () => {
  const { texts } = await processFile(ROWS, 'a.csv', { chunkSize: 22, chunkOverlap: 0, prefix: 'a.csv' });
  expect(texts.every((text) => text.startsWith('a.csv\n\nn: '))).toBe(true);
});

test('reads the members of a JSON list by their paths', async () => {
  const content = JSON.stringify([
    { id: 1, name: { first: 'Anna', last: 'Keller' }, tags: ['a', 'b'], boats: [{ name: 'Ada' }, { name: 'Bo' }] },
    { id: 2, name: null, empty: [], note: 'two\nlines', ok: false },
    'a word',
  ]);
  const document = await readFile(content, 'a.json');
  expect(document.text).toBe(
    [
      'id: 1\nname.first: Anna\nname.last: Keller\ntags: a, b\nboats.0.name: Ada\nboats.1.name: Bo',
      'id: 2\nnote: two\nlines\nok: false',
      'a word',
    ].join('\n\n'),
  );
  expect(document).toMatchObject({ format: 'JSON', mimeType: 'application/json', metadata: { items: 3 } });
  expect(await chunksOfFile(content, 'a.json', { maxItemsPerChunk: 2 })).toEqual([
    document.text.slice(0, document.text.indexOf('\n\na word')),
    'a word',
  ]);
});

test('reads a JSON object, JSON lines, and integers that exceed the number type', async () => {
  expect((await readFile('{"a": {"b": {"c": 1.5}}, "list": []}', 'a.json')).text).toBe('a.b.c: 1.5');
  const lines = await readFile('{"id": 12345678901234567890}\n\n{"id": "x", "n": 0.1}\n', 'a.jsonl');
  expect([lines.text, lines.mimeType]).toEqual(['id: 12345678901234567890\n\nid: x\nn: 0.1', 'application/x-ndjson']);
  expect((await readFile('["say \\"12345678901234567890\\"", 12345678901234567890]', 'a.json')).text).toBe(
    'say "12345678901234567890"\n\n12345678901234567890',
  );
});

// A JavaScript number is exact for all integers of up to 15 digits, and for those of 16 digits only up to 2^53
// (https://tc39.es/ecma262/#sec-number.max_safe_integer).
test('numbers in JSON keep each of their digits', async () => {
  const numbers = [
    '999999999999999',
    '9007199254740993',
    '-9007199254740993',
    '0.1234567890123456789',
    '12345678901234567',
  ];
  const { text } = await readFile(`{${numbers.map((number, nth) => `"n${nth}": ${number}`).join()}}`, 'a.json');
  expect(text.split('\n')).toEqual(numbers.map((number, nth) => `n${nth}: ${number}`));
});

test('reads a JSON string that is too long for the stack of a regular expression', async () => {
  const word = 'x'.repeat(16_000_000);
  const { text } = await readFile(`["${word}", "C:\\\\", 12345678901234567890]`, 'a.json');
  expect(text.slice(word.length)).toBe('\n\nC:\\\n\n12345678901234567890');
});

test('keeps an object that fits a chunk whole, even with split_rows', async () => {
  const content = JSON.stringify([{ a: 'one two three four five' }, { a: 'six seven eight nine ten' }]);
  const options = { chunkSize: 12, chunkOverlap: 0, splitRows: true };
  expect(await chunksOfFile(content, 'a.json', options)).toEqual([
    'a: one two three four five',
    'a: six seven eight nine ten',
  ]);
});

test('reports broken and empty tables, and the format of a wrongly named one', async () => {
  expect(await faultOfFile('', 'a.csv')).toMatch(/^no_text: .*empty/);
  expect(await faultOfFile('\n\n', 'a.tsv')).toMatch(/^no_text: /);
  expect(await faultOfFile('{"a": [1, 2', 'a.json')).toMatch(/^broken_content: .*not valid JSON/);
  expect(await faultOfFile('[]', 'a.json')).toMatch(/^no_text: /);
  const wronglyNamed = await readFile('name,city\nAnna,Bern\nBo,Oslo\nCy,Rome\n', 'a.xlsx');
  expect([wronglyNamed.format, wronglyNamed.metadata['named_as']]).toEqual(['TXT', 'XLSX']);
  const table = await readFile('name,city,age\nAnna,Bern,1\nBo,Oslo,2\nCy,Rome,3\n', 'a.json');
  expect([table.format, table.metadata['named_as']]).toEqual(['CSV', 'JSON']);
  expect((await readFile('[{"a": 1}]', 'a.csv')).format).toBe('JSON');
});

test('rejects too many cells, too deep values and too much text, and names the setting', async () => {
  expect(await faultOfFile(ROWS, 'a.csv', { maxCells: 5 })).toMatch(/^too_large: .*MAX_TABLE_CELLS/);
  expect(await faultOfFile(`${'['.repeat(600)}1${']'.repeat(600)}`, 'a.json')).toMatch(
    /^too_large: .*MAX_ELEMENT_DEPTH/,
  );
  expect(await faultOfFile(ROWS, 'a.csv', { maxTextCharacters: 30 })).toMatch(/^too_large: .*MAX_TEXT_CHARACTERS/);
});
