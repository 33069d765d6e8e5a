import { expect, test } from '@jest/globals';
import { detectFormat } from '../../documents/detectFormat.js';
import { faultOf } from './page.js';

const formatOf = (content: string, contentType: string | null, name: string): string =>
  detectFormat({ bytes: new TextEncoder().encode(content), contentType, name });

test.each([
  ['a page under any name and type', '\n<!-- x --><!DOCTYPE html><p>a', 'text/plain', 'a.txt', 'HTML'],
  ['XHTML', '<?xml version="1.0"?><html xmlns="x">', 'application/xml', 'a', 'HTML'],
  ['a fragment of a page', '<h1>a</h1>', null, 'upload', 'HTML'],
  ['a fragment at the head of a Markdown file', '<p align=center>x</p>\n\n# Readme', null, 'README.md', 'MD'],
  ['a fragment sent as plain text', '<p>a', 'text/plain', 'https://example.org/a', 'TXT'],
  ['text sent as a page, without a tag', 'line\nline', 'text/html', 'https://example.org/a', 'TXT'],
  ['a page that begins with words', 'Warning: x <br> <p>a', 'text/html; charset=utf-8', 'a', 'HTML'],
  ['the name of a page', 'Hello', null, 'a.HTM', 'HTML'],
  ['Markdown by type', '# a', 'text/markdown; charset=utf-8', 'a', 'MD'],
  ['Markdown by name, sent as plain text', '# a', 'text/plain', 'https://example.org/a.md?raw=1#x', 'MD'],
  ['a page with a stray zero byte', '<!DOCTYPE html><p>a\u0000b', 'text/html', 'a.html', 'HTML'],
  ['anything else that is text', '{"a": 1}', 'application/json', 'a.json', 'TXT'],
  ['nothing known', 'words', null, '', 'TXT'],
])('%s', (_name, content, contentType, name, format) => {
  expect(formatOf(content, contentType, name)).toBe(format);
});

test.each([
  ['a PDF', '%PDF-1.7', 'text/html', 'a.html'],
  ['an archive', 'PK\u0003\u0004', null, 'a.docx'],
  ['binary data', 'abc\u0000def', 'text/plain', 'a.txt'],
  ['an image by its type', 'x', 'image/svg+xml', 'a.svg'],
])('%s is not read as text', (_name, content, contentType, name) => {
  expect(faultOf(() => formatOf(content, contentType, name))).toBe('unsupported_type');
});

test('UTF-16 is text, not binary data', () => {
  const bytes = new Uint8Array(Buffer.from('\ufeff<html><p>ä', 'utf16le'));
  expect(detectFormat({ bytes, contentType: null, name: '' })).toBe('HTML');
  const unmarked = new Uint8Array(Buffer.from('words', 'utf16le'));
  expect(detectFormat({ bytes: unmarked, contentType: 'text/plain; charset=UTF-16LE', name: '' })).toBe('TXT');
});
