import { describe, expect, test } from '@jest/globals';
import iconv from 'iconv-lite';
import { decodeText } from '../../documents/decodeText.js';
import { parsePage } from './page.js';

const decode = (bytes: Uint8Array, contentType: string | null, html = true): string =>
  decodeText({ bytes, contentType }, { html });
const page = (declaration: string, encoding: string, text: string): Uint8Array =>
  iconv.encode(`<html><head>${declaration}</head>${text}`, encoding);

test.each([
  ['the byte order mark before all else', page('', 'utf16-le', 'ä€'), 'text/html; charset=iso-8859-1', 'ä€', true],
  [
    'the header before the page',
    page('<meta charset=utf-8>', 'windows-1251', 'Привет'),
    'text/html; Charset="Windows-1251"',
    'Привет',
    false,
  ],
  ['the page', page('<meta charset="shift_jis">', 'shift_jis', '日本語'), 'text/html', '日本語', false],
  [
    'http-equiv',
    page(`<META http-equiv='Content-Type' content='text/html; charset=koi8-r'>`, 'koi8-r', 'Привет'),
    null,
    'Привет',
    false,
  ],
  [
    'an XML declaration',
    iconv.encode('<?xml version="1.0" encoding="ISO-8859-2"?><html>ž', 'iso-8859-2'),
    null,
    'ž',
    false,
  ],
  ['latin1 means windows-1252', page('<meta charset=latin1>', 'windows-1252', '“€–’”'), null, '“€–’”', false],
  ['a label nobody knows', page('', 'utf-8', 'ä'), 'text/html; charset=klingon', 'ä', false],
  ['undeclared UTF-8', page('', 'utf-8', 'ä€'), null, 'ä€', false],
  ['undeclared and not UTF-8', page('', 'windows-1252', 'caf\u00e9 “x”'), 'text/html', 'café “x”', false],
  ['a page cannot declare UTF-16', page('<meta charset=utf-16>', 'utf-8', 'ä'), null, 'ä', false],
  ['a declaration inside a comment', page('<!-- <meta charset=koi8-r> -->', 'utf-8', 'ä'), null, 'ä', false],
])('%s', (_name, bytes, contentType, text, marked) => {
  const all = marked ? new Uint8Array([0xff, 0xfe, ...bytes]) : bytes;
  expect(decode(all, contentType).endsWith(text)).toBe(true);
});

test('a byte order mark is no part of the text', () => {
  expect(decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x61]), null)).toBe('a');
});

test('plain text has no meta elements', () => {
  expect(decode(new TextEncoder().encode('<meta charset=koi8-r> ä'), 'text/plain', false)).toBe(
    '<meta charset=koi8-r> ä',
  );
});

test('wrong bytes of a declared encoding are replaced, not an error', () => {
  const bytes = new Uint8Array([0xc3, 0xa4, 0xff, 0xc3, 0xb6]);
  expect(decode(bytes, 'text/plain; charset=utf-8', false)).toBe('ä\ufffdö');
});

describe('a declaration that the bytes contradict counts for nothing', () => {
  const utf8 = 'text/html; charset=utf-8';
  test.each([
    ['declared UTF-8, is windows-1252', page('', 'windows-1252', 'café 5 €'), utf8, 'café 5 €'],
    ['declared UTF-8, and the page knows better', page('<meta charset=koi8-r>', 'koi8-r', 'Привет'), utf8, 'Привет'],
    ['the page alone declares UTF-8', page('<meta charset=utf-8>', 'windows-1252', 'café'), null, 'café'],
    ['declared latin1, is UTF-8', page('', 'utf-8', 'café 5 €'), 'text/html; charset=iso-8859-1', 'café 5 €'],
    ['a byte order mark by mistake', Buffer.from([0xef, 0xbb, 0xbf, 0xe9, 0x20, 0xe9, 0x20]), null, 'ï»¿é é '],
  ])('%s', (_name, bytes, contentType, text) => {
    expect(decode(bytes, contentType).endsWith(text)).toBe(true);
  });
});

test('bytes that are part of a larger buffer', () => {
  const whole = new TextEncoder().encode('xx<p>caf\u00e9</p>yy');
  expect(parsePage('', { bytes: whole.subarray(2, whole.length - 2) }).text).toBe('café');
});

describe('UTF-8 that nobody declared', () => {
  const german = new TextEncoder().encode('Grüße vom König');
  test('is known where it breaks off within a letter', () => {
    expect(decode(german.subarray(0, 14), null, false)).toBe('Grüße vom K');
  });
  test('is known by its many right letters where one is wrong', () => {
    const text = new TextEncoder().encode('Größe über alles: süß, schön. ');
    const damaged = new Uint8Array([...text, 0xe4, ...new TextEncoder().encode(' Tür')]);
    expect(decode(damaged, null, false)).toBe('Größe über alles: süß, schön. \ufffd Tür');
  });
  test('is not what other text becomes that ends in a letter of its own', () => {
    expect(decode(new Uint8Array([0x63, 0x61, 0x66, 0xe9]), null, false)).toBe('café');
  });
});
