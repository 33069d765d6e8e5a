import { expect, test } from '@jest/globals';
import { prescanMeta } from '../../../documents/encoding/prescanMeta.js';

test.each([
  ['a charset attribute', '<meta charset=koi8-r>', 'koi8-r'],
  ['a charset attribute in capitals, with spaces', '<META  CHARSET = "Windows-1251" >', 'windows-1251'],
  ['http-equiv', '<meta http-equiv="Content-Type" content="text/html; charset=euc-kr">', 'euc-kr'],
  ['http-equiv, content first', `<meta content='text/html;charset="big5"' http-equiv=content-type>`, 'big5'],
  ['the first of two', '<meta charset=koi8-r><meta charset=utf-8>', 'koi8-r'],
  ['a declaration after scripts', `<script>${'x'.repeat(3000)}</script><meta charset=gbk>`, 'gbk'],
  ['an XML declaration', '<?xml version="1.0" encoding="iso-8859-2"?><html>', 'iso-8859-2'],
  ['UTF-16, which is read as UTF-8', '<meta charset=utf-16le>', 'utf-8'],
  ['x-user-defined, which is read as windows-1252', '<meta charset=x-user-defined>', 'windows-1252'],
  ['content without http-equiv', '<meta name=note content="charset=koi8-r">', null],
  ['a description with the word', '<meta name=description content="How to set charset=koi8-r">', null],
  ['an attribute of another element', '<a title="<meta charset=koi8-r>">', null],
  ['a comment', '<!-- <meta charset=koi8-r> --><meta charset=gbk>', 'gbk'],
  ['a comment without an end', '<!-- <meta charset=koi8-r>', null],
  ['a tag without an end', '<meta charset=koi8-r', null],
  ['an element with a similar name', '<metadata charset=koi8-r>', null],
  ['none', '<p>text</p>', null],
])('finds the declared encoding, or none: %s', (_name, html, label) => {
  expect(prescanMeta(new TextEncoder().encode(html))).toBe(label);
});

test('treats following tags as part of a tag without an end, as browsers do', () => {
  expect(prescanMeta(new TextEncoder().encode(`${'<a '.repeat(5000)}<meta charset=koi8-r>`))).toBe(null);
});
