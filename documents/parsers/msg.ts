import { decompressRTF } from '@kenjiuno/decompressrtf';
import iconv from 'iconv-lite';
import msgreader, { type FieldsData } from '@kenjiuno/msgreader';
import { deEncapsulateSync } from 'rtf-stream-parser';
import { Fault } from '../../contract/failures.js';
import {
  attachmentName,
  composeMessage,
  encryptedMessage,
  isoDate,
  isSignedData,
  nameAndAddress,
} from '../mail/composeMessage.js';
import { decodeText } from '../decodeText.js';
import { htmlType, messageCharset } from '../mail/messageCharset.js';
import type { Attachment, Parser } from '../types.js';

// The package is CommonJS: its default export is a member of the imported object.
const MsgReader = msgreader.default;

/** Parses a message in Outlook's format. */
export const msgParser: Parser = {
  parse({ bytes }, limits) {
    const { fields, attachments } = readMessage(bytes, limits.maxAttachments);
    const sealed = /^IPM\.Note\.SMIME$/i.test(fields.messageClass ?? '') ? attachments[0] : undefined;
    if (sealed && !isSignedData(sealed.bytes)) throw encryptedMessage();
    const people = (type: 'to' | 'cc' | 'bcc'): string[] =>
      (fields.recipients ?? [])
        .filter(({ recipType }) => recipType === type)
        .map(({ name, smtpAddress, email }) => nameAndAddress(name, smtpAddress ?? mailAddress(email)))
        .filter((address) => address !== null);
    return composeMessage(
      {
        subject: fields.subject ?? null,
        from: nameAndAddress(fields.senderName, fields.senderSmtpAddress ?? mailAddress(fields.senderEmail)),
        to: people('to'),
        cc: people('cc'),
        bcc: people('bcc'),
        date: isoDate(fields.clientSubmitTime ?? fields.messageDeliveryTime ?? fields.creationTime),
        messageId: fields.messageId ?? null,
        inReplyTo: null,
        text: fields.body ?? null,
        html: htmlOf(fields),
        attachments,
        notRead: {
          pictures: (fields.attachments ?? []).filter(({ attachmentHidden }) => attachmentHidden === true).length,
          signed_messages: sealed ? 1 : 0,
        },
      },
      'MSG',
      limits,
    );
  },
};

/** Returns an email address; Exchange uses paths instead for internal users. */
const mailAddress = (address: string | undefined): string | null => (address?.includes('@') === true ? address : null);

/** Fields that show whether a message has non-ASCII letters. */
const TEXT_FIELDS = ['subject', 'body', 'bodyHtml', 'senderName'] as const;

function readMessage(bytes: Uint8Array, maxAttachments: number): { fields: FieldsData; attachments: Attachment[] } {
  try {
    const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    checkHeader(file);
    const view = wholeSectors(file);
    let reader = new MsgReader(view);
    let fields = reader.getFileData();
    // The code page of the texts is itself a field of the message, so a second reading decodes the texts with it.
    if (TEXT_FIELDS.some((key) => /[\u0080-\u00ff]/.test(fields[key] ?? ''))) {
      const ansiEncoding = messageCharset(fields);
      reader = new MsgReader(view);
      reader.parserConfig = { ansiEncoding };
      fields = reader.getFileData();
    }
    if (fields.error !== undefined) throw new Error(fields.error);
    const attachments = (fields.attachments ?? [])
      .filter((part) => part.attachmentHidden !== true)
      // One attachment more than allowed is sufficient to detect the excess.
      .slice(0, maxAttachments + 1)
      .map((part, nth) => {
        const { fileName, content } = reader.getAttachment(part);
        const ending = part.innerMsgContent === true ? '.msg' : (part.extension ?? '');
        return {
          name: attachmentName(fileName, nth, ending),
          contentType: part.attachMimeTag ?? null,
          bytes: Uint8Array.from(content),
        };
      });
    return { fields, attachments };
  } catch (cause) {
    throw new Fault(
      'broken_content',
      "The file is broken: it can't be read as an Outlook message. Save it again in Outlook and send that.",
      { cause },
    );
  }
}

/** Checks the header, because the reader follows a container's sector lists endlessly if the header is invalid. */
function checkHeader(file: Buffer): void {
  const headerBytes = 512;
  if (file.length < headerBytes) throw new Error('shorter than its header');
  const [sector, miniSector] = [file.readUInt16LE(30), file.readUInt16LE(32)];
  if (file.readUInt16LE(28) !== 0xfffe || (sector !== 9 && sector !== 12) || miniSector !== 6)
    throw new Error('not the header of a container');
  const tables = file.readUInt32LE(44);
  if (tables === 0 || tables > file.length >> sector) throw new Error('more tables than sectors');
}

/** Fills the last sector of a file with zeros: some programs omit its unused end, which the reader needs. */
function wholeSectors(file: Buffer): DataView {
  const sectorBytes = 2 ** file.readUInt16LE(30);
  const missing = (sectorBytes - (file.length % sectorBytes)) % sectorBytes;
  const { buffer, byteOffset, length } = missing === 0 ? file : Buffer.concat([file, Buffer.alloc(missing)]);
  return new DataView(buffer, byteOffset, length);
}

/** Returns the HTML body, stored as HTML or inside compressed RTF; null if there is only plain text. */
function htmlOf({ bodyHtml, html, compressedRtf, internetCodepage }: FieldsData): string | null {
  if (bodyHtml !== undefined && bodyHtml !== '') return bodyHtml;
  if (html !== undefined && html.length > 0)
    return decodeText({ bytes: html, contentType: htmlType(internetCodepage) }, { html: true });
  if (compressedRtf === undefined) return null;
  try {
    const rtf = Buffer.from(decompressRTF([...compressedRtf]));
    const { mode, text } = deEncapsulateSync(rtf, { decode: iconv.decode, warn: () => undefined, mode: 'either' });
    const shown = typeof text === 'string' ? text : text.toString('utf8');
    return mode === 'html' ? shown : `<pre>${shown.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</pre>`;
  } catch {
    // RTF that contains neither HTML nor text: use the message's plain text.
    return null;
  }
}
