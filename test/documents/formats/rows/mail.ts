import { createTransport } from 'nodemailer';

import { makeMsg } from '../makeMsg.js';
import { kept, type Row } from './row.js';

async function mail(message: Parameters<ReturnType<typeof createTransport>['sendMail']>[0]): Promise<Uint8Array> {
  const transport = createTransport({ streamTransport: true, buffer: true });
  const { message: bytes } = await transport.sendMail({ from: 'a@example.org', to: 'b@example.org', ...message });
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

/** What test/fixtures/documents/make.py sends. */
const TITLE = '# Hafengebühren 2025 – fees of the harbour';
const PLAIN = `${TITLE}

Dear members,

the fees for 2025 are attached. They were agreed on at the meeting of 26 November, with one vote against.

Two dates to keep:
- 14 January, the slipway is closed
- 1 February, the new fees hold

Anna Keller
Harbour office, Ballycotton`;
const LETTER = `${TITLE}

# News from the harbour

The north quay is open again. Thank you for your patience!

| Boat | Fee |
| --- | --- |
| Small | 10 |
| Large | 25 |

1. Moor
2. Pay at the office

More at our site.`;
const LETTER_CHUNKS = {
  size: 50,
  parts: [
    [TITLE, 'Thank you for your patience!'],
    ['| Boat | Fee |', 'More at our site.'],
  ],
} as const;

export const EML: Row = {
  good: [
    {
      by: 'Nodemailer, a newsletter',
      make: newsletter,
      text: '# Grüße vom Hafen – news for December\n\nDear members,\n\nthe slipway is closed on 14 January.\n\nAnna',
      attachments: ['fees.csv', 'Sitzung März.txt'],
    },
    {
      by: 'Python',
      make: kept('python/plain.eml'),
      text: PLAIN,
      attachments: ['fees 2025.csv', 'Sitzung März.txt'],
    },
    { by: 'Python, of HTML in latin1', make: kept('python/letter.eml'), text: LETTER, chunks: LETTER_CHUNKS },
  ],
  // It breaks off in its first attachment.
  broken: {
    make: async () => {
      const bytes = Buffer.from(await newsletter());
      return bytes.subarray(0, bytes.indexOf('fees.csv') + 20);
    },
    text: '# Grüße vom Hafen – news for December\n\nDear members,\n\nthe slipway is closed on 14 January.\n\nAnna',
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
    { by: 'Aspose.Email FOSS', make: kept('python/plain.msg'), text: PLAIN, attachments: ['fees 2025.csv'] },
    { by: 'Aspose.Email FOSS, of HTML', make: kept('python/letter.msg'), text: LETTER, chunks: LETTER_CHUNKS },
    {
      by: 'SheetJS CFB',
      make: () => makeMsg({ subject: 'Fees', body: 'They rise.', attachments: [['a.txt', Buffer.from('x')]] }),
      text: '# Fees\n\nThey rise.',
      attachments: ['a.txt'],
    },
  ],
  broken: { make: () => kept('python/plain.msg')().subarray(0, 700), fault: /^(?:broken_content|no_text): / },
  empty: () => makeMsg({}),
  encrypted: null,
  wrong: { ending: 'docx' },
};
