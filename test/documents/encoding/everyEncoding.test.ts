import { expect, test } from '@jest/globals';
import iconv from 'iconv-lite';
import { decodeText } from '../../../documents/decodeText.js';
import { everyRow } from '../../support/everyRow.js';
import { readFile } from '../readFile.js';
import { CELLS, readCell } from './cells.js';
import { decode, encode } from './encode.js';
import { LEGACY, SAMPLES, type Language } from './samples.js';

test('decodes a page in every language and encoding, undeclared, wrongly declared and correctly declared', () =>
  everyRow(
    CELLS,
    ({ language, encoding, declaration }) => `${language}, ${encoding}, ${declaration}`,
    (cell) => {
      const { wanted, read, lost } = readCell(cell);
      // A text that the encoding cannot represent would test only question marks.
      expect(lost).toBeLessThan(12);
      expect(read).toBe(wanted);
    },
  ));

test('decodes a plain text file in every language and encoding', () =>
  everyRow(
    (Object.keys(SAMPLES) as Language[]).flatMap((language) =>
      [...LEGACY[language].encodings, 'utf-16le', 'utf-16be'].map((encoding) => ({ language, encoding })),
    ),
    ({ language, encoding }) => `${language}, ${encoding}`,
    async ({ language, encoding }) => {
      const text = SAMPLES[language].join('\n\n');
      const bytes = encode(text, encoding);
      expect((await readFile(bytes, 'notes.txt')).text).toBe(decode(bytes, encoding));
    },
  ));

const EBCDIC_PUNCTUATION = ' .<(+|&!$*);-/,%_>?:#@\'="';
const EBCDIC_PUNCTUATION_BYTES = [
  0x40, 0x4b, 0x4c, 0x4d, 0x4e, 0xbb, 0x50, 0x4f, 0x5b, 0x5c, 0x5d, 0x5e, 0x60, 0x61, 0x6b, 0x6c, 0x6d, 0x6e, 0x6f,
  0x7a, 0x7b, 0x7c, 0x7d, 0x7e, 0x7f,
];

/** Encodes a character in EBCDIC (code page 500). */
function ebcdicByte(char: string): number {
  if (char === '\n') return 0x15;
  const rows: readonly [from: string, to: string, at: number][] = [
    ['a', 'i', 0x81],
    ['j', 'r', 0x91],
    ['s', 'z', 0xa2],
    ['A', 'I', 0xc1],
    ['J', 'R', 0xd1],
    ['S', 'Z', 0xe2],
    ['0', '9', 0xf0],
  ];
  const row = rows.find(([from, to]) => char >= from && char <= to);
  if (row) return row[2] + char.charCodeAt(0) - row[0].charCodeAt(0);
  return EBCDIC_PUNCTUATION_BYTES[EBCDIC_PUNCTUATION.indexOf(char)] ?? 0x6f;
}

test('decodes a text file in EBCDIC, the encoding of mainframes', async () => {
  const text = 'Monthly report, branch 17.\nThe stock of spare parts fell to 214 pieces; order more by Friday.';
  expect((await readFile(Uint8Array.from(text, ebcdicByte), 'report.txt')).text).toBe(text);
});

test('decodes a text in EBCDIC that is mostly indentation, and omits printer control codes', async () => {
  const words = ['INVOICE', 'Branch 17', 'Spare parts 214', 'Tools 9', 'Paint 30', 'Total 253'];
  const lines = words.map((line) => `${' '.repeat(30)}${line}`);
  const bytes = [...Array.from(lines.join('\n'), ebcdicByte), 0x39];
  const { text } = await readFile(Uint8Array.from(bytes), 'report.txt');
  expect(text.split('\n').map((line) => line.trim())).toEqual(words);
});

test.each([
  ['cp850', 'Der Schlüssel für die Tür hängt über dem Küchentisch, größer als früher.'],
  ['cp852', 'Žluťoučký kůň skočil přes příkop a běžel dál k řece, kde čekal převozník.'],
  ['ibm866', 'Ключ от двери висит над столом на кухне.'],
])('decodes an undeclared text file in the DOS code page %s', (encoding, text) => {
  const bytes = iconv.encode(text, encoding);
  expect(decodeText({ bytes, contentType: null }, { html: false })).toBe(text);
});

test('decodes a CSV table in Shift_JIS', async () => {
  const table = '品名,数量,場所\nりんご,12,東京の倉庫\nみかん,30,大阪の倉庫\nぶどう,7,京都の店\n';
  expect((await readFile(encode(table, 'shift_jis'), 'stock.csv')).text).toContain('りんご');
});

test.each([
  ['a single accent', 'caf\u00e9 5 \u20ac'],
  ['quotation marks and a price', '\u201cquoted\u201d \u2013 it\u2019s \u00a35'],
  ['measures', '10 \u00b0C \u00b1 2 \u00b5m'],
  ['fractions', '\u00bd cup, \u00bc l \u00d7 3'],
  ['opening signs of Spanish', '\u00bfQu\u00e9? \u00a1No!'],
  ['a copyright line', '\u00a9 2020 Example\u00ae'],
  ['upper case', 'GR\u00dcSSE AUS K\u00d6LN'],
])('decodes a few characters of windows-1252 without a declaration: %s', (_name, text) => {
  expect(decodeText({ bytes: iconv.encode(text, 'windows-1252'), contentType: null }, { html: true })).toBe(text);
});

test('keeps a declared encoding that it cannot detect itself', () => {
  const text = 'Tiếng Việt';
  const bytes = encode('Ti\u00ea\u0301ng Vi\u00ea\u0323t', 'windows-1258');
  const read = decodeText({ bytes, contentType: 'text/html; charset=windows-1258' }, { html: true });
  expect(read.normalize('NFC')).toBe(text);
});

test('uses the language of the page to choose an encoding if few letters are not ASCII', () => {
  const page = (lang: string) => iconv.encode(`<html lang="${lang}"><p>a\u0161</p>`, 'windows-1257');
  const read = (lang: string) => decodeText({ bytes: page(lang), contentType: null }, { html: true });
  expect(read('lt')).toContain('a\u0161');
  expect(read('is')).toContain('a\u00f0');
});
