import CFB from 'cfb';
import { createTransport } from 'nodemailer';
import { expect, test } from '@jest/globals';
import { faultOfFile, readFile } from '../readFile.js';
import { makeMsg } from './makeMsg.js';

const SENT = 'From: Anna Keller <anna@example.org>\nTo: bo@example.org, Cy <cy@example.org>';
const DATE = 'Date: 2024-03-01 12:00 UTC';

/** Writes a message with Nodemailer. */
async function makeMail(mail: Parameters<ReturnType<typeof createTransport>['sendMail']>[0]): Promise<Uint8Array> {
  const { message } = await createTransport({ streamTransport: true, buffer: true, newline: 'windows' }).sendMail({
    from: '"Anna Keller" <anna@example.org>',
    to: 'bo@example.org, "Cy" <cy@example.org>',
    date: new Date('2024-03-01T12:00:00Z'),
    messageId: '<one@example.org>',
    ...mail,
  });
  return Uint8Array.from(message as Buffer);
}

test('reads the headers of a message as metadata and its attachments as files', async () => {
  const document = await readFile(
    await makeMail({
      subject: 'Grüße vom Hafen',
      cc: 'dee@example.org',
      text: 'Dear Bo,\n\nthe fees are attached.\n\nAnna',
      attachments: [
        { filename: 'fees.csv', content: 'boat,fee\nsmall,10\n' },
        { filename: '../../etc/passwd', content: Buffer.from([1, 2, 3]), contentType: 'application/octet-stream' },
      ],
    }),
    'mail.eml',
  );
  expect(document.text).toBe(
    `# Grüße vom Hafen\n\n${SENT}\nCc: dee@example.org\n${DATE}\n\nDear Bo,\n\nthe fees are attached.\n\nAnna`,
  );
  expect(document).toMatchObject({
    format: 'EML',
    mimeType: 'message/rfc822',
    sourceCreatedAt: '2024-03-01T12:00:00.000Z',
    metadata: {
      title: 'Grüße vom Hafen',
      from: 'Anna Keller <anna@example.org>',
      to: ['bo@example.org', 'Cy <cy@example.org>'],
      cc: ['dee@example.org'],
      date: '2024-03-01T12:00:00.000Z',
      message_id: '<one@example.org>',
    },
  });
  expect(document.attachments?.map(({ name }) => name)).toEqual(['fees.csv', expect.not.stringContaining('/')]);
  expect(Buffer.from(document.attachments?.[0]?.bytes ?? []).toString()).toBe('boat,fee\nsmall,10\n');
});

test('reads an HTML body as text, and does not treat inline images as attachments', async () => {
  const { text, attachments } = await readFile(
    await makeMail({
      subject: 'News',
      html: '<style>p{}</style><h2>Fees</h2><p>They <b>rise</b>.<img src="cid:x"></p><ul><li>small<li>large</ul><script>no()</script>',
      attachments: [{ filename: 'x.png', content: Buffer.from('x'), cid: 'x', contentType: 'image/png' }],
    }),
    'mail.eml',
  );
  expect(text.replace(`${SENT}\n${DATE}\n\n`, '')).toMatch(
    /^# News\n\n## Fees\n\nThey (?:\*\*)?rise(?:\*\*)?\.\n\n- small\n- large$/,
  );
  expect(attachments).toBeUndefined();
});

test('treats an image as part of the text if the text refers to it or it is inline, and as a file otherwise', async () => {
  const image = (name: string, ...headers: string[]): string =>
    ['', `Content-Type: image/png; name="${name}.png"`, ...headers, '', 'eA==', ''].join('\r\n');
  const text = '\r\nContent-Type: text/html\r\n\r\n<p>Fees <img src="cid:logo"></p>\r\n';
  const related = `\r\nContent-Type: multipart/related; boundary=in\r\n\r\n--in${text}--in${image('logo', 'Content-ID: <logo>', 'Content-Disposition: attachment')}--in--\r\n`;
  const images = [
    image('sign', 'Content-Disposition: inline'),
    image('plan'),
    image('map', 'Content-Disposition: attachment'),
  ];
  const parts = [
    related,
    ...images,
    '\r\nContent-Type: text/csv; name="fees.csv"\r\nContent-Disposition: inline\r\n\r\n1\r\n',
  ];
  const mail = `Subject: Fees\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=out\r\n\r\n${parts.map((part) => `--out${part}`).join('')}--out--\r\n`;
  const { attachments, metadata } = await readFile(mail, 'mail.eml');
  expect(attachments?.map(({ name }) => name)).toEqual(['plan.png', 'map.png', 'fees.csv']);
  expect(metadata['not_read']).toEqual({ pictures: 2 });
});

test('prefers the plain body to HTML, and treats an embedded message as an attachment', async () => {
  const inner = await makeMail({ subject: 'Inner', text: 'Inside' });
  const document = await readFile(
    await makeMail({
      subject: 'Outer',
      text: 'Plain body',
      html: '<p>HTML body</p>',
      attachments: [{ content: Buffer.from(inner), contentType: 'message/rfc822', filename: 'inner.eml' }],
    }),
    'mail.eml',
  );
  expect(document.text).toBe(`# Outer\n\n${SENT}\n${DATE}\n\nPlain body`);
  const [attached] = document.attachments ?? [];
  expect((await readFile(attached?.bytes ?? '', 'inner.eml')).text).toBe(`# Inner\n\n${SENT}\n${DATE}\n\nInside`);
});

test('reports empty, broken and encrypted messages, too many attachments, and the format of a wrongly named one', async () => {
  expect(await faultOfFile('', 'a.eml')).toMatch(/^no_text: /);
  expect(await faultOfFile('Subject:\r\nFrom:\r\n\r\n', 'a.eml')).toMatch(/^no_text: /);
  const nested = Array.from(
    { length: 80 },
    (_, nth) => `Content-Type: multipart/mixed; boundary=b${nth}\r\n\r\n--b${nth}\r\n`,
  );
  expect(await faultOfFile(`From: a@b.c\r\n${nested.join('')}x`, 'a.eml')).toMatch(/^broken_content: .*nested/);
  const attachments = Array.from({ length: 3 }, (_, nth) => ({ filename: `${nth}.txt`, content: 'x' }));
  expect(await faultOfFile(await makeMail({ attachments }), 'a.eml', { maxAttachments: 2 })).toMatch(
    /^too_large: .*3 attachments.*MAX_ATTACHMENTS: 2/,
  );
  const asMany = await readFile(await makeMail({ attachments, text: 'Words' }), 'a.eml', { maxAttachments: 3 });
  expect(asMany.attachments).toHaveLength(3);
  const type = 'multipart/encrypted; protocol="application/pgp-encrypted"; boundary=b';
  const locked = `From: a@b.c\r\nContent-Type: ${type}\r\n\r\n--b\r\n\r\nVersion: 1\r\n--b--\r\n`;
  expect(await faultOfFile(locked, 'a.eml')).toMatch(/^encrypted: .*OpenPGP/);
  // The second type is that of AES-GCM: https://www.rfc-editor.org/rfc/rfc8551#section-3.2.2
  for (const kind of ['enveloped-data', 'authEnveloped-data', '"authEnveloped-data"']) {
    const smime = `From: a@b.c\r\nSubject: Fees\r\nContent-Type: application/pkcs7-mime; smime-type=${kind}; name=smime.p7m\r\n`;
    const sealed = `${smime}Content-Transfer-Encoding: base64\r\n\r\nMIIBVQYJKoZIhvcNAQcDoIIBRjCCAUICAQAxggE=\r\n`;
    expect([kind, await faultOfFile(sealed, 'a.eml')]).toEqual([kind, expect.stringMatching(/^encrypted: /)]);
  }
  const wronglyNamed = await readFile(await makeMail({ subject: 'x', text: 'Words' }), 'a.pdf');
  expect([wronglyNamed.format, wronglyNamed.metadata['named_as']]).toEqual(['EML', 'PDF']);
});

test('S/MIME without a stated kind is recognized by its content; a signed message is counted as not read', async () => {
  const smime = (more: string, type: string): string =>
    `From: a@b.c\r\nSubject: Fees\r\nContent-Type: application/pkcs7-mime${more}; name=smime.p7m\r\n` +
    `Content-Transfer-Encoding: base64\r\n\r\n${Buffer.from(`30820155${type}a0820146`, 'hex').toString('base64')}\r\n`;
  const [signed, enveloped] = ['06092a864886f70d010702', '06092a864886f70d010703'];
  expect(await faultOfFile(smime('', enveloped), 'a.eml')).toMatch(/^encrypted: /);
  for (const more of ['', '; smime-type=signed-data']) {
    const { text, metadata, attachments } = await readFile(smime(more, signed), 'a.eml');
    expect([text, metadata['not_read']]).toEqual(['# Fees\n\nFrom: a@b.c', { signed_messages: 1 }]);
    expect(attachments?.map(({ name }) => name)).toEqual(['smime.p7m']);
  }
});

test('reads the people, attachments and date of an Outlook message', async () => {
  const document = await readFile(
    makeMsg({
      subject: 'Fees',
      body: 'Dear Bo,\r\nsee below.',
      from: ['Anna Keller', 'anna@example.org'],
      to: [['Bo', 'bo@example.org']],
      sent: new Date('2024-03-01T12:00:00Z'),
      attachments: [['fees.csv', Buffer.from('boat,fee\nsmall,10\n')]],
    }),
    'mail.msg',
  );
  expect(document.text).toBe(
    `# Fees\n\nFrom: Anna Keller <anna@example.org>\nTo: Bo <bo@example.org>\n${DATE}\n\nDear Bo,\nsee below.`,
  );
  expect(document).toMatchObject({
    format: 'MSG',
    sourceCreatedAt: '2024-03-01T12:00:00.000Z',
    metadata: { title: 'Fees', from: 'Anna Keller <anna@example.org>', to: ['Bo <bo@example.org>'] },
  });
  expect(document.attachments?.map(({ name, bytes }) => [name, Buffer.from(bytes).toString()])).toEqual([
    ['fees.csv', 'boat,fee\nsmall,10\n'],
  ]);
});

test('an Outlook message with more attachments than allowed fails; with as many, all are read', async () => {
  const names = ['0.txt', '1.txt', '2.txt'];
  const message = makeMsg({ body: 'Words', attachments: names.map((name) => [name, Buffer.from(name)]) });
  for (const maxAttachments of [0, 1, 2])
    expect(await faultOfFile(message, 'a.msg', { maxAttachments })).toMatch(
      new RegExp(`^too_large: .*${maxAttachments + 1} attachments.*MAX_ATTACHMENTS: ${maxAttachments}`),
    );
  const { attachments } = await readFile(message, 'a.msg', { maxAttachments: 3 });
  expect(attachments?.map(({ name, bytes }) => [name, Buffer.from(bytes).toString()])).toEqual(
    names.map((name) => [name, name]),
  );
  // Hidden attachments are images in the text: they do not count.
  const file = CFB.read(Buffer.from(message), { type: 'buffer' });
  const properties = Buffer.alloc(24);
  properties.writeUInt32LE(0x7ffe000b, 8);
  properties.writeUInt32LE(6, 12);
  properties.writeUInt32LE(1, 16);
  CFB.utils.cfb_add(file, '/__attach_version1.0_#00000000/__properties_version1.0', properties);
  const hidden = Uint8Array.from(CFB.write(file, { type: 'buffer' }) as Buffer);
  const rest = await readFile(hidden, 'a.msg', { maxAttachments: 2 });
  expect(rest.attachments?.map(({ name }) => name)).toEqual(['1.txt', '2.txt']);
  expect(rest.metadata['not_read']).toMatchObject({ pictures: 1 });
});

test('reads an Outlook message with an HTML body, and one with only a subject', async () => {
  const html = makeMsg({
    subject: 'Fees',
    html: '<p>They <i>rise</i>.</p><table><tr><th>a<th>b<tr><td>1<td>2</table>',
  });
  expect((await readFile(html, 'a.msg')).text).toMatch(/^# Fees\n\nThey \*?rise\*?\.\n\n\| a \| b \|/);
  expect((await readFile(makeMsg({ subject: 'Only this' }), 'a.msg')).text).toBe('# Only this');
});

test('reads an Outlook message without the unused end of its last sector', async () => {
  const message = makeMsg({ subject: 'Berths', body: 'Berth 7 is free.' });
  const used = message.findLastIndex((byte) => byte !== 0) + 1;
  expect(used % 512).not.toBe(0);
  const { text } = await readFile(message.subarray(0, used), 'a.msg');
  expect(text).toBe('# Berths\n\nBerth 7 is free.');
});

test('reports broken and empty Outlook messages, and the format of a wrongly named one', async () => {
  const bytes = makeMsg({ subject: 'Fees', body: 'Words' });
  expect(await faultOfFile(bytes.subarray(0, 700), 'a.msg')).toMatch(/^(?:broken_content|no_text): /);
  const noHeader = Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(4000)]);
  expect(await faultOfFile(Uint8Array.from(noHeader), 'a.msg')).toMatch(/^broken_content: /);
  expect(await faultOfFile(makeMsg({}), 'a.msg')).toMatch(/^no_text: /);
  const wronglyNamed = await readFile(bytes, 'a.docx');
  expect([wronglyNamed.format, wronglyNamed.metadata['named_as']]).toEqual(['MSG', 'DOCX']);
  const other = CFB.utils.cfb_new();
  CFB.utils.cfb_add(other, '/WordDocument', Buffer.alloc(5000));
  expect(await faultOfFile(Uint8Array.from(CFB.write(other, { type: 'buffer' }) as Buffer), 'a.doc')).toMatch(
    /^unsupported_type: .*\.docx/,
  );
});
