import { Fault } from '../../contract/failures.js';
import { type FileFormat, mimeTypeOf } from '../../contract/files/fileFormats.js';
import { cleanText } from '../cleanText.js';
import { wholeText } from '../html/wholeText.js';
import { oneLine } from '../textBuilder.js';
import type { Attachment, DocumentLimits, NotRead, ParsedDocument } from '../types.js';
import { splitQuoted } from './splitQuoted.js';

/** A parsed message. */
export interface Message {
  readonly subject: string | null;
  readonly from: string | null;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
  /** Date as ISO 8601. */
  readonly date: string | null;
  readonly messageId: string | null;
  readonly inReplyTo: string | null;
  readonly text: string | null;
  readonly html: string | null;
  readonly attachments: readonly Attachment[];
  /** Numbers of omitted parts: pictures inside the text, and messages that are wrapped in their S/MIME signature. */
  readonly notRead: Readonly<Record<'pictures' | 'signed_messages', number>>;
}

const MAX_VALUE_LENGTH = 1000;
/** Maximum number of recipients of each kind, and of names of attachments, in the metadata. */
const MAX_PEOPLE = 100;
/** Maximum number of recipients of each kind that the text names; up to MAX_PEOPLE are in the metadata. */
const MAX_NAMED = 20;

/**
 * Composes a document: the subject as a heading, the sender, recipients and date, the body, and under a separate
 * heading the earlier messages that it quotes. The headers are metadata too, attachments are separate files.
 */
export function composeMessage(
  message: Message,
  format: Extract<FileFormat, 'EML' | 'MSG'>,
  limits: DocumentLimits,
): ParsedDocument {
  const { attachments } = message;
  if (attachments.length > limits.maxAttachments) {
    throw new Fault(
      'too_large',
      `The message has ${attachments.length} attachments, more than the limit (setting MAX_ATTACHMENTS: ${limits.maxAttachments}). Raise the setting, or send the attachments separately.`,
    );
  }
  const subject = oneLine(message.subject ?? '').slice(0, MAX_VALUE_LENGTH);
  const plain = cleanText(message.text ?? '', limits);
  const body = plain === '' && message.html !== null ? wholeText(message.html, limits) : plain;
  if (subject === '' && body === '' && attachments.length === 0)
    throw new Fault('no_text', 'There is no text in the message: it has neither a subject nor a body.');
  const { ownText, quoted } = splitQuoted(body);
  const text = [
    subject === '' ? '' : `# ${subject}`,
    headerLines(message),
    ownText,
    // A message may consist only of attachments.
    subject === '' && body === '' ? `Attachments: ${attachments.map(({ name }) => name).join(', ')}` : '',
    quoted === null ? '' : `## Quoted message\n\n${quoted}`,
  ]
    .filter((part) => part !== '')
    .join('\n\n');
  const headers: Readonly<Record<string, string | readonly string[] | null>> = {
    title: subject,
    from: message.from,
    to: message.to,
    cc: message.cc,
    bcc: message.bcc,
    date: message.date,
    message_id: message.messageId,
    in_reply_to: message.inReplyTo,
    attachments: attachments.map(({ name }) => name),
  };
  const metadata: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(headers)) {
    if (value === null || value.length === 0) continue;
    metadata[key] = typeof value === 'string' ? shortened(value) : value.slice(0, MAX_PEOPLE).map(shortened);
  }
  const notRead: NotRead = Object.fromEntries(Object.entries(message.notRead).filter(([, count]) => count > 0));
  return {
    text,
    format,
    mimeType: mimeTypeOf(format),
    metadata,
    ...(message.date === null ? {} : { sourceCreatedAt: message.date }),
    ...(attachments.length > 0 ? { attachments } : {}),
    ...(Object.keys(notRead).length > 0 ? { notRead } : {}),
  };
}

/** Returns the lines of the text that name sender, recipients and date; '' if the message states none. */
function headerLines({ from, to, cc, date }: Message): string {
  const lines: string[] = [];
  if (from !== null) lines.push(`From: ${shortened(from)}`);
  if (to.length > 0) lines.push(`To: ${namesOf(to)}`);
  if (cc.length > 0) lines.push(`Cc: ${namesOf(cc)}`);
  if (date !== null) lines.push(`Date: ${date.slice(0, 10)} ${date.slice(11, 16)} UTC`);
  return lines.join('\n');
}

const namesOf = (people: readonly string[]): string =>
  people.slice(0, MAX_NAMED).map(shortened).join(', ') +
  (people.length > MAX_NAMED ? ` and ${people.length - MAX_NAMED} more` : '');

/** The PKCS #7 type of content that is signed but not encrypted, as bytes (DER). */
const SIGNED_DATA = Buffer.from('06092a864886f70d010702', 'hex');

/**
 * Returns whether the attachment of an S/MIME message has the PKCS #7 type of signed data, in its first 64 bytes. Such
 * a message has one attachment, which contains the whole message, either signed or encrypted.
 */
export const isSignedData = (bytes: Uint8Array): boolean => Buffer.from(bytes.subarray(0, 64)).includes(SIGNED_DATA);

/** Creates the fault of an encrypted message, which cannot be read without the recipient's key. */
export const encryptedMessage = (): Fault =>
  new Fault(
    'encrypted',
    'The message is encrypted, with S/MIME or OpenPGP. Decrypt it in a mail program, save it there without a password or key, and send that.',
  );

const shortened = (value: string): string => oneLine(value).slice(0, MAX_VALUE_LENGTH);

/** Formats `Anna <anna@example.org>`, or only the existing part; null if both are missing. */
export function nameAndAddress(name: string | null | undefined, address: string | null | undefined): string | null {
  const shown = oneLine(name ?? '').replaceAll(/[<>]/g, '');
  const mail = oneLine(address ?? '');
  if (mail === '') return shown || null;
  return shown === '' || shown === mail ? mail : `${shown} <${mail}>`;
}

/** Converts a date to ISO 8601; null if it is invalid. */
export function isoDate(value: string | null | undefined): string | null {
  const date = new Date(value ?? '');
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

/** Returns the name of an attachment; one without a name gets one by its type: `attachment-2.pdf`. */
export const attachmentName = (name: string | null | undefined, nth: number, ending: string): string =>
  oneLine(name ?? '')
    .replaceAll(/[/\\]/g, '_')
    .slice(0, 255) || `attachment-${nth + 1}${ending}`;
