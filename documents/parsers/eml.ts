import PostalMime, { type Address, type Attachment as Part, type Header } from 'postal-mime';
import { Fault } from '../../contract/failures.js';
import { FILE_FORMATS, formatOfType } from '../../contract/files/fileFormats.js';
import {
  attachmentName,
  composeMessage,
  encryptedMessage,
  isoDate,
  isSignedData,
  nameAndAddress,
} from '../mail/composeMessage.js';
import type { Attachment, Parser } from '../types.js';

/** Maximum nesting of parts; mail programs use up to about ten. */
const MAX_NESTED = 50;

/** Parses a message in the format of mail programs. Images inside its text are not attachments. */
export const emlParser: Parser = {
  async parse({ bytes }, limits) {
    const mail = await PostalMime.parse(bytes, {
      attachmentEncoding: 'arraybuffer',
      forceRfc822Attachments: true,
      maxNestingDepth: MAX_NESTED,
    }).catch((cause: unknown) => {
      throw new Fault(
        'broken_content',
        'The message is broken: its parts are nested too deeply or its headers are too long. Save it again in a mail program and send that.',
        { cause },
      );
    });
    if (mail.headers.length === 0)
      throw new Fault('broken_content', 'The file is not a message: it has no headers. Send it as a text file.');
    const attachments = mail.attachments.filter((part) => !isShown(part)).map(attachmentOf);
    const sealed = sealedBy(mail.headers, attachments);
    if (sealed === 'encryption') throw encryptedMessage();
    return composeMessage(
      {
        subject: mail.subject ?? null,
        from: peopleOf([mail.from ?? mail.sender])[0] ?? null,
        to: peopleOf(mail.to),
        cc: peopleOf(mail.cc),
        bcc: peopleOf(mail.bcc),
        date: isoDate(mail.date),
        messageId: mail.messageId ?? null,
        inReplyTo: mail.inReplyTo ?? null,
        text: mail.text ?? null,
        html: mail.html ?? null,
        attachments,
        notRead: { pictures: mail.attachments.filter(isShown).length, signed_messages: sealed === null ? 0 : 1 },
      },
      'EML',
      limits,
    );
  },
};

/**
 * Returns why the message has no readable body: it is encrypted, or its text is inside of its signature. Null for other
 * messages: a separate signature (multipart/signed) does not hide the text.
 */
function sealedBy(headers: readonly Header[], [only]: readonly Attachment[]): 'encryption' | 'signature' | null {
  const type = headers.find(({ key }) => key === 'content-type')?.value ?? '';
  if (/^\s*multipart\/encrypted\b/i.test(type)) return 'encryption';
  if (!/^\s*application\/(?:x-)?pkcs7-mime\b/i.test(type)) return null;
  const kind = /;\s*smime-type\s*=\s*"?([\w-]+)/i.exec(type)?.[1]?.toLowerCase();
  const isEncrypted =
    kind === undefined ? only !== undefined && !isSignedData(only.bytes) : /^(?:auth)?enveloped-data$/.test(kind);
  return isEncrypted ? 'encryption' : 'signature';
}

function peopleOf(addresses: ReadonlyArray<Address | undefined> = []): string[] {
  return addresses
    .flatMap((address) => address?.group ?? (address === undefined ? [] : [address]))
    .map(({ name, address }) => nameAndAddress(name, address))
    .filter((text) => text !== null);
}

const isShown = ({ related, mimeType, disposition }: Part): boolean =>
  mimeType.startsWith('image/') && (related === true || disposition === 'inline');

function attachmentOf({ filename, mimeType, content }: Part, nth: number): Attachment {
  const format = formatOfType(mimeType);
  const [ending = ''] = format === null ? [] : Object.keys(FILE_FORMATS[format].extensions);
  return {
    name: attachmentName(filename, nth, ending === '' ? '' : `.${ending}`),
    contentType: mimeType,
    bytes: typeof content === 'string' ? new TextEncoder().encode(content) : new Uint8Array(content),
  };
}
