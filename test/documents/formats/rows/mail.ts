import { createTransport } from 'nodemailer';

import { makeMsg } from '../makeMsg.js';
import { byPython } from '../byPython.js';
import { bytesOf, type Row } from './row.js';

async function mail(message: Parameters<ReturnType<typeof createTransport>['sendMail']>[0]): Promise<Uint8Array> {
  const transport = createTransport({ streamTransport: true, buffer: true });
  const { message: bytes } = await transport.sendMail({
    from: 'a@example.org',
    to: 'b@example.org',
    date: new Date('2024-12-02T08:30:00Z'),
    ...message,
  });
  return Uint8Array.from(bytes as Buffer);
}

const newsletter = async (): Promise<Uint8Array> =>
  mail({
    subject: 'Grüße vom Hafen – news for December',
    text: 'Dear members,\n\nthe slipway is closed on 14 January.\n\nAnna',
    html: '<p>Dear members,</p><p>the slipway is closed on <b>14 January</b>.</p><img src="cid:logo">',
    attachments: [
      { filename: 'fees.csv', content: 'Boat,Fee\nSmall,10\n' },
      { filename: 'Sitzung März.txt', content: 'Minutes of the meeting.' },
      { filename: 'logo.png', content: Buffer.from('x'), cid: 'logo' },
    ],
  });

/** Texts of the messages that test/fixtures/documents/write.py and make.py write. */
const TITLE = '# Hafengebühren 2025 – fees of the harbour';
const SENT = 'Date: 2024-12-02 08:30 UTC';
const ANNA = 'From: Anna Keller <anna@example.org>';
const MEMBERS = `${ANNA}\nTo: members@example.org, Zoë Löfgren <zoe@example.org>\n${SENT}`;
const ZOE = `${ANNA}\nTo: Zoë Löfgren <zoe@example.org>\n${SENT}`;
const BODY = `Dear members,

the fees for 2025 are attached. They were agreed on at the meeting of 26 November, with one vote against.

Two dates to keep:
- 14 January, the slipway is closed
- 1 February, the new fees hold

Anna Keller
Harbour office, Ballycotton`;
const LETTER = `# News from the harbour

The north quay is open again. Thank you for your patience!

| Boat | Fee |
| --- | --- |
| Small | 10 |
| Large | 25 |

1. Moor
2. Pay at the office

More at our site.`;
const LETTER_CHUNKS = {
  size: 100,
  parts: [
    [TITLE, '| Large | 25 |'],
    ['1. Moor', 'More at our site.'],
  ],
} as const;

export const EML: Row = {
  good: [
    {
      by: 'Nodemailer, a newsletter',
      from: newsletter,
      text: '# Grüße vom Hafen – news for December\n\nFrom: a@example.org\nTo: b@example.org\nDate: 2024-12-02 08:30 UTC\n\nDear members,\n\nthe slipway is closed on 14 January.\n\nAnna',
      attachments: ['fees.csv', 'Sitzung März.txt'],
    },
    {
      by: 'Python',
      from: byPython('plain.eml'),
      text: `${TITLE}\n\n${MEMBERS}\n\n${BODY}`,
      attachments: ['fees 2025.csv', 'Sitzung März.txt'],
    },
    {
      by: 'Python, HTML in latin1',
      from: byPython('letter.eml'),
      text: `${TITLE}\n\n${MEMBERS}\n\n${LETTER}`,
      chunks: LETTER_CHUNKS,
    },
  ],
  // Truncated within its first attachment.
  broken: {
    make: async () => {
      const bytes = Buffer.from(await newsletter());
      return bytes.subarray(0, bytes.indexOf('fees.csv') + 20);
    },
    text: '# Grüße vom Hafen – news for December\n\nFrom: a@example.org\nTo: b@example.org\nDate: 2024-12-02 08:30 UTC\n\nDear members,\n\nthe slipway is closed on 14 January.\n\nAnna',
  },
  empty: () => 'From: a@example.org\r\nTo: b@example.org\r\nMIME-Version: 1.0\r\n\r\n',
  encrypted: async () =>
    mail({
      subject: 'Fees',
      raw: [
        'From: a@example.org',
        'Subject: Fees',
        'MIME-Version: 1.0',
        'Content-Type: application/pkcs7-mime; smime-type=enveloped-data; name="smime.p7m"',
        'Content-Transfer-Encoding: base64',
        '',
        'MIIBVQYJKoZIhvcNAQcDoIIBRjCCAUICAQAxggE=',
      ].join('\r\n'),
    }),
  wrong: { ending: 'docx' },
};

export const MSG: Row = {
  good: [
    {
      by: 'Aspose.Email FOSS',
      from: 'python/plain.msg',
      text: `${TITLE}\n\n${ZOE}\n\n${BODY}`,
      attachments: ['fees 2025.csv'],
    },
    {
      by: 'Aspose.Email FOSS, HTML',
      from: 'python/letter.msg',
      text: `${TITLE}\n\n${ZOE}\n\n${LETTER}`,
      chunks: LETTER_CHUNKS,
    },
    {
      by: 'SheetJS CFB, with people and files',
      from: () =>
        makeMsg({
          subject: TITLE.slice(2),
          body: `${BODY.replaceAll('\n', '\r\n')}\r\n`,
          from: ['Anna Keller', 'anna@example.org'],
          to: [['Zoë Löfgren', 'zoe@example.org']],
          sent: new Date('2024-12-02T08:30:00Z'),
          attachments: [
            ['fees 2025.csv', Buffer.from('Boat,Fee\r\nSmall,10\r\n')],
            ['Sitzung März.txt', Buffer.from('Minutes of the meeting.')],
          ],
        }),
      text: `${TITLE}\n\n${ZOE}\n\n${BODY}`,
      attachments: ['fees 2025.csv', 'Sitzung März.txt'],
    },
    {
      by: 'SheetJS CFB, HTML',
      from: () =>
        makeMsg({
          subject: 'Slipway',
          html: '<html><body><p>Dear Bo,</p><p>the slipway is <b>closed</b> on 14&nbsp;January.</p><ul><li>Trailers go to Cobh.</li><li>Cranes work.</li></ul></body></html>',
        }),
      text: '# Slipway\n\nDear Bo,\n\nthe slipway is closed on 14 January.\n\n- Trailers go to Cobh.\n- Cranes work.',
    },
    {
      // Exchange stores messages written in HTML this way.
      by: 'SheetJS CFB, HTML encapsulated in RTF',
      from: () =>
        makeMsg({
          subject: 'Quay',
          rtf: String.raw`{\rtf1\ansi\ansicpg1252\fromhtml1 \deff0{\fonttbl{\f0\fswiss Arial;}}{\*\htmltag64 <p>}\htmlrtf {\htmlrtf0 The quay is {\*\htmltag84 <b>}\htmlrtf {\b \htmlrtf0 open{\*\htmltag92 </b>}\htmlrtf }\htmlrtf0  again, from 14 J\'e4nner on.{\*\htmltag72 </p>}\htmlrtf \par}\htmlrtf0}`,
        }),
      text: '# Quay\n\nThe quay is open again, from 14 Jänner on.',
    },
  ],
  broken: {
    make: async () => (await bytesOf({ from: 'python/plain.msg' })).slice(0, 700),
    fault: /^(?:broken_content|no_text): /,
  },
  empty: () => makeMsg({}),
  // The content is in an attachment encrypted with the recipient's key.
  encrypted: () =>
    makeMsg({
      subject: 'Fees',
      type: 'IPM.Note.SMIME',
      attachments: [['smime.p7m', Buffer.from('MIIBVQYJKoZIhvcNAQcDoIIBRjCCAUICAQAxggE=', 'base64')]],
    }),
  wrong: { ending: 'docx' },
};
