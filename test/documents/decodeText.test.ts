import { describe, expect, test } from '@jest/globals';
import iconv from 'iconv-lite';
import { decodeText } from '../../documents/decodeText.js';
import { parsePage } from './page.js';

const decode = (bytes: Uint8Array, contentType: string | null, html = true): string =>
  decodeText({ bytes, contentType }, { html });
const page = (declaration: string, encoding: string, text: string): Uint8Array =>
  iconv.encode(`<html><head>${declaration}</head>${text}`, encoding);

test.each([
  [
    'prefers the byte order mark to the header',
    page('', 'utf16-le', 'ä€'),
    'text/html; charset=iso-8859-1',
    'ä€',
    true,
  ],
  [
    'prefers the header to the page',
    page('<meta charset=utf-8>', 'windows-1251', 'Привет'),
    'text/html; Charset="Windows-1251"',
    'Привет',
    false,
  ],
  [
    'reads the charset of a meta element',
    page('<meta charset="shift_jis">', 'shift_jis', '日本語'),
    'text/html',
    '日本語',
    false,
  ],
  [
    'reads the charset of http-equiv',
    page(`<META http-equiv='Content-Type' content='text/html; charset=koi8-r'>`, 'koi8-r', 'Привет'),
    null,
    'Привет',
    false,
  ],
  [
    'reads the encoding of an XML declaration',
    iconv.encode('<?xml version="1.0" encoding="ISO-8859-2"?><html>ž', 'iso-8859-2'),
    null,
    'ž',
    false,
  ],
  ['reads latin1 as windows-1252', page('<meta charset=latin1>', 'windows-1252', '“€–’”'), null, '“€–’”', false],
  ['ignores an unknown label', page('', 'utf-8', 'ä'), 'text/html; charset=klingon', 'ä', false],
  ['detects undeclared UTF-8', page('', 'utf-8', 'ä€'), null, 'ä€', false],
  [
    'reads undeclared bytes that are not UTF-8 as windows-1252',
    page('', 'windows-1252', 'caf\u00e9 “x”'),
    'text/html',
    'café “x”',
    false,
  ],
  ['ignores a meta element that declares UTF-16', page('<meta charset=utf-16>', 'utf-8', 'ä'), null, 'ä', false],
  ['ignores a declaration inside a comment', page('<!-- <meta charset=koi8-r> -->', 'utf-8', 'ä'), null, 'ä', false],
])('%s', (_name, bytes, contentType, text, marked) => {
  const allBytes = marked ? new Uint8Array([0xff, 0xfe, ...bytes]) : bytes;
  expect(decode(allBytes, contentType).endsWith(text)).toBe(true);
});

test.each(['binary', 'base64', 'hex', 'utf-7', 'UTF-7-IMAP'])(
  'ignores the label %s, which does not name an encoding',
  (label) => {
    const text = 'Привет, мир! Сегодня в гавани тихо.';
    expect(decode(iconv.encode(text, 'windows-1251'), `text/plain; charset=${label}`, false)).toBe(text);
  },
);

test('removes the byte order mark from the text', () => {
  expect(decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x61]), null)).toBe('a');
});

test('does not interpret meta elements in plain text', () => {
  expect(decode(new TextEncoder().encode('<meta charset=koi8-r> ä'), 'text/plain', false)).toBe(
    '<meta charset=koi8-r> ä',
  );
});

test('replaces invalid bytes of a declared encoding', () => {
  const bytes = new Uint8Array([0xc3, 0xa4, 0xff, 0xc3, 0xb6]);
  expect(decode(bytes, 'text/plain; charset=utf-8', false)).toBe('ä\ufffdö');
});

describe('a declaration that contradicts the bytes', () => {
  const utf8 = 'text/html; charset=utf-8';
  test.each([
    [
      'is ignored: the header declares UTF-8, the bytes are windows-1252',
      page('', 'windows-1252', 'café 5 €'),
      utf8,
      'café 5 €',
    ],
    [
      'is ignored: the header declares UTF-8, the page and the bytes are KOI8-R',
      page('<meta charset=koi8-r>', 'koi8-r', 'Привет'),
      utf8,
      'Привет',
    ],
    [
      'is ignored: the page declares UTF-8, the bytes are windows-1252',
      page('<meta charset=utf-8>', 'windows-1252', 'café'),
      null,
      'café',
    ],
    [
      'is ignored: the header declares latin1, the bytes are UTF-8',
      page('', 'utf-8', 'café 5 €'),
      'text/html; charset=iso-8859-1',
      'café 5 €',
    ],
    [
      'is ignored: the byte order mark declares UTF-8, the bytes are windows-1252',
      Buffer.from([0xef, 0xbb, 0xbf, 0xe9, 0x20, 0xe9, 0x20]),
      null,
      'ï»¿é é ',
    ],
  ])('%s', (_name, bytes, contentType, text) => {
    expect(decode(bytes, contentType).endsWith(text)).toBe(true);
  });
});

test('decodes only the bytes of a view into a larger buffer', () => {
  const bytes = new TextEncoder().encode('xx<p>caf\u00e9</p>yy');
  expect(parsePage('', { bytes: bytes.subarray(2, bytes.length - 2) }).text).toBe('café');
});

describe('undeclared UTF-8', () => {
  const german = new TextEncoder().encode('Grüße vom König');
  test('is detected when it ends within a character', () => {
    expect(decode(german.subarray(0, 14), null, false)).toBe('Grüße vom K');
  });
  test('is detected when one byte is invalid among many valid characters', () => {
    const text = new TextEncoder().encode('Größe über alles: süß, schön. ');
    const damaged = new Uint8Array([...text, 0xe4, ...new TextEncoder().encode(' Tür')]);
    expect(decode(damaged, null, false)).toBe('Größe über alles: süß, schön. \ufffd Tür');
  });
  test('is not assumed for windows-1252 text that ends in a non-ASCII letter', () => {
    expect(decode(new Uint8Array([0x63, 0x61, 0x66, 0xe9]), null, false)).toBe('café');
  });
});
