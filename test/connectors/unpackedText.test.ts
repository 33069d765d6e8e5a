import { gzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';

import { requireId } from '../../connectors/faults.js';
import { unpackedText } from '../../connectors/unpackedText.js';
import { everyRow } from '../support/everyRow.js';

const XML = '<a>é</a>';
const declared = (encoding: string) => `<?xml version="1.0" encoding="${encoding}"?>${XML}`;
/** Sitemaps and feeds as they are sent, each with its decoded text. */
const TEXTS: readonly (readonly [what: string, bytes: Buffer, contentType: string | undefined, text: string])[] = [
  ['big-endian UTF-16 without a byte order mark', Buffer.from(XML, 'utf16le').swap16(), undefined, XML],
  ['UTF-8 that declares UTF-16', Buffer.from(declared('UTF-16')), undefined, declared('UTF-16')],
  ['a charset in the header', Buffer.from(declared('utf-8'), 'latin1'), 'text/xml; charset=latin1', declared('utf-8')],
  ['an unknown charset', Buffer.from(declared('klingon')), undefined, declared('klingon')],
  ['a text that ends inside a character', Buffer.from([0x3c, 0x61, 0x3e, 0xc3]), undefined, '<a>\u{fffd}'],
  ['gzip that declares another type', gzipSync(XML), 'application/xml', XML],
];

test('decodes a text by its byte order, else its header, else its declaration; as UTF-8 if these are unknown or impossible', () =>
  everyRow(
    TEXTS,
    ([what]) => what,
    async ([, bytes, contentType, text]) => {
      let count = 0;
      let read = '';
      const body = (async function* () {
        yield bytes;
      })();
      for await (const piece of unpackedText(body, contentType, (size) => (count += size))) read += piece;
      expect(read).toBe(text);
      expect(count).toBe(bytes[0] === 0x1f ? Buffer.from(XML).length : bytes.length);
    },
  ));

test('rejects an answer about one object unless its id is a number or a non-empty text', () => {
  expect(requireId('Guru', { id: 7 }, 'the card')).toEqual({ id: 7 });
  for (const id of ['', null, undefined, {}])
    expect(() => requireId('Guru', { id }, 'the card')).toThrow('without the card');
});
