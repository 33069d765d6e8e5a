import CFB from 'cfb';
import iconv from 'iconv-lite';
import { expect, test } from '@jest/globals';
import { htmlType, messageCharset } from '../../../documents/mail/messageCharset.js';
import { splitQuoted } from '../../../documents/mail/splitQuoted.js';
import { everyRow } from '../../support/everyRow.js';
import { makeMsg } from '../formats/makeMsg.js';
import { readFile } from '../readFile.js';

const CHARSETS: ReadonlyArray<readonly [stated: Parameters<typeof messageCharset>[0], charset: string]> = [
  [{ messageCodepage: 1251, internetCodepage: 20_127 }, 'cp1251'],
  [{ messageCodepage: 65_001 }, 'utf-8'],
  [{ internetCodepage: 65_001, messageLocaleId: 1031 }, 'cp1252'],
  [{ internetCodepage: 1251, messageLocaleId: 1031 }, 'cp1252'],
  [{ internetCodepage: 950 }, 'cp950'],
  [{ messageLocaleId: 1049 }, 'cp1251'],
  [{ messageLocaleId: 0x0423 }, 'cp1251'],
  [{ messageLocaleId: 0x0429 }, 'cp1256'],
  [{ messageLocaleId: 0x241a }, 'cp1250'],
  [{ messageLocaleId: 0x281a }, 'cp1251'],
  [{ messageLocaleId: 1028 }, 'cp950'],
  [{ messageLocaleId: 2052 }, 'cp936'],
  [{ messageLocaleId: 1041 }, 'cp932'],
  [{}, 'cp1252'],
  [{ messageCodepage: 99_999 }, 'cp1252'],
];

test('chooses the encoding of an Outlook message by its code page, else its language, else its internet code page', () =>
  everyRow(
    CHARSETS,
    ([stated]) => JSON.stringify(stated),
    ([stated, charset]) => expect(messageCharset(stated)).toBe(charset),
  ));

test('names the encoding of an HTML body by its code page', () => {
  const pages = [65_001, 1250, 1258, 1249, 1259, 28_591, 28_605, 28_590, 28_606, undefined];
  const charsetOf = (page: number | undefined) => htmlType(page)?.replace('text/html; charset=', '') ?? null;
  expect(pages.map(charsetOf)).toEqual([
    ...['utf-8', 'windows-1250', 'windows-1258', null, null],
    ...['iso-8859-1', 'iso-8859-15', null, null, null],
  ]);
});

test('decodes subject and body of an Outlook message without a code page in the code page of its locale', async () => {
  const file = CFB.read(Buffer.from(makeMsg({})), { type: 'buffer' });
  CFB.utils.cfb_add(file, '/__substg1.0_0037001E', iconv.encode('Сборы', 'cp1251'));
  CFB.utils.cfb_add(file, '/__substg1.0_1000001E', iconv.encode('Они растут.', 'cp1251'));
  const properties = Buffer.alloc(48);
  // PidTagMessageLocaleId, Russian.
  properties.writeUInt32LE(0x3ff10003, 32);
  properties.writeUInt32LE(6, 36);
  properties.writeUInt32LE(1049, 40);
  CFB.utils.cfb_add(file, '/__properties_version1.0', properties);
  const bytes = Uint8Array.from(CFB.write(file, { type: 'buffer' }) as Buffer);
  expect((await readFile(bytes, 'a.msg')).text).toBe('# Сборы\n\nОни растут.');
});

const QUOTED: ReadonlyArray<readonly [what: string, text: string, ownText: string, quoted: string | null]> = [
  ['no quotation', 'Yes.\nAnna', 'Yes.\nAnna', null],
  [
    'marked lines',
    'Yes.\n\nOn Mon, 2 Dec 2024, Bo wrote:\n> Agreed?\n>\n> Bo',
    'Yes.',
    'On Mon, 2 Dec 2024, Bo wrote:\n> Agreed?\n>\n> Bo',
  ],
  [
    'an attribution of two lines',
    'Ja.\nAm Montag, den 2. Dezember, schrieb\nBo <bo@example.org>:\n> Gut?',
    'Ja.',
    'Am Montag, den 2. Dezember, schrieb\nBo <bo@example.org>:\n> Gut?',
  ],
  [
    'an attribution above one unmarked line',
    'Yes.\n\nOn Mon, Bo wrote:\nAgreed?',
    'Yes.',
    'On Mon, Bo wrote:\nAgreed?',
  ],
  ['an attribution without a quotation', 'Yes.\nOn Mon, Bo wrote:\n', 'Yes.\nOn Mon, Bo wrote:\n', null],
  [
    'answers between the lines',
    'On Mon, Bo wrote:\n> One?\nYes.\n> Two?\nNo.',
    'On Mon, Bo wrote:\n> One?\nYes.\n> Two?\nNo.',
    null,
  ],
  [
    'a divider',
    'Yes.\n-----Original Message-----\nFrom: Bo\n\nAgreed?',
    'Yes.',
    '-----Original Message-----\nFrom: Bo\n\nAgreed?',
  ],
  [
    'headers',
    'Yes.\n\nFrom: Bo\nSent: Monday\nTo: Anna\n\nAgreed?',
    'Yes.',
    'From: Bo\nSent: Monday\nTo: Anna\n\nAgreed?',
  ],
  ['the word From in prose', 'From: the quay\nto the office', 'From: the quay\nto the office', null],
  [
    'a forwarded message without words',
    '-----Forwarded message-----\nFrom: Bo\n\nHi',
    '-----Forwarded message-----\nFrom: Bo\n\nHi',
    null,
  ],
];

test('separates the messages that a reply quotes at its end', () =>
  everyRow(
    QUOTED,
    ([what]) => what,
    ([, text, ownText, quoted]) => expect(splitQuoted(text)).toEqual({ ownText, quoted }),
  ));

test('names sender, recipients and date in the text, and puts quoted messages below a heading', async () => {
  const to = Array.from({ length: 22 }, (_, nth) => `p${nth}@example.org`);
  const { text } = await readFile(
    [
      'From: Anna <anna@example.org>',
      `To: ${to.join(', ')}`,
      'Cc: bo@example.org',
      'Date: Mon, 02 Dec 2024 09:30:00 +0100',
      'Subject: Fees',
      '',
      'Yes.',
      '-----Original Message-----',
      'Agreed?',
    ].join('\r\n'),
    'a.eml',
  );
  expect(text).toBe(
    `# Fees\n\nFrom: Anna <anna@example.org>\nTo: ${to.slice(0, 20).join(', ')} and 2 more\nCc: bo@example.org\nDate: 2024-12-02 08:30 UTC\n\nYes.\n\n## Quoted message\n\n-----Original Message-----\nAgreed?`,
  );
});

test('reads all text of an RTF group in which the symbol for an ignorable destination follows text', async () => {
  const rtf = String.raw`{\rtf1 {Before \*\ignored after} {\*\hidden gone}{\*\shppict{\pict 00}}}`;
  const document = await readFile(rtf, 'a.rtf');
  expect(document.text).toBe('Before after');
  expect(document.metadata['not_read']).toEqual({ pictures: 1 });
});
