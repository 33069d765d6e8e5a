import PostalMime, { type Address, type Attachment as Part, type Header } from 'postal-mime';
import { Fault } from '../../contract/failures.js';
import { FILE_FORMATS, formatOfType } from '../../contract/files/fileFormats.js';
import { attachmentName, composeMessage, encryptedMessage, isoDate, nameAndAddress } from '../mail/composeMessage.js';
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
    if (isEncrypted(mail.headers)) throw encryptedMessage();
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
        attachments: mail.attachments.filter((part) => !isShown(part)).map(attachmentOf),
        pictures: mail.attachments.filter(isShown).length,
      },
      'EML',
      limits,
    );
  },
};

/** Whether the message is encrypted; a message that is only signed can be read. */
function isEncrypted(headers: readonly Header[]): boolean {
  const type = headers.find(({ key }) => key === 'content-type')?.value ?? '';
  return (
    /^\s*multipart\/encrypted\b/i.test(type) ||
    /^\s*application\/(?:x-)?pkcs7-mime\b.*smime-type="?(?:auth)?enveloped-data/is.test(type)
  );
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
