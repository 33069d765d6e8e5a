import CFB from 'cfb';

interface MsgParts {
  readonly subject?: string;
  readonly body?: string;
  readonly html?: string;
  readonly rtf?: string;
  /** Message class. Default: a note. */
  readonly type?: string;
  readonly from?: readonly [name: string, address: string];
  readonly to?: ReadonlyArray<readonly [name: string, address: string]>;
  readonly sent?: Date;
  readonly attachments?: ReadonlyArray<readonly [name: string, content: Buffer]>;
}

const unicode = (text: string): Buffer => Buffer.from(text, 'utf16le');

/** Builds an Outlook message by hand (MS-OXMSG), in a container written by SheetJS' CFB. */
export function makeMsg({
  subject,
  body,
  html,
  rtf,
  type,
  from,
  to = [],
  sent,
  attachments = [],
}: MsgParts): Uint8Array {
  const file = CFB.utils.cfb_new();
  const add = (path: string, content: Buffer): void => void CFB.utils.cfb_add(file, path, content);
  const text = (folder: string, tag: string, value: string | undefined): void => {
    if (value !== undefined) add(`${folder}/__substg1.0_${tag}001F`, unicode(value));
  };
  /** Adds fixed-length properties after a header of 32, 24 or 8 bytes. */
  const properties = (folder: string, header: number, ...fixed: readonly Buffer[]): void =>
    add(`${folder}/__properties_version1.0`, Buffer.concat([Buffer.alloc(header), ...fixed]));
  const property = (tag: number, value: bigint): Buffer => {
    const entry = Buffer.alloc(16);
    entry.writeUInt32LE(tag, 0);
    entry.writeUInt32LE(6, 4);
    entry.writeBigUInt64LE(value, 8);
    return entry;
  };
  properties(
    '',
    32,
    ...(sent ? [property(0x00390040, BigInt(sent.getTime()) * 10_000n + 116_444_736_000_000_000n)] : []),
  );
  add('/__nameid_version1.0/__substg1.0_00020102', Buffer.alloc(0));
  text('', '001A', type);
  text('', '0037', subject);
  text('', '1000', body);
  if (html !== undefined) add('/__substg1.0_10130102', Buffer.from(html));
  if (rtf !== undefined) add('/__substg1.0_10090102', unpackedRtf(rtf));
  text('', '0C1A', from?.[0]);
  text('', '5D01', from?.[1]);
  to.forEach(([name, address], nth) => {
    const folder = `/__recip_version1.0_#${String(nth).padStart(8, '0')}`;
    properties(folder, 8, property(0x0c150003, 1n));
    text(folder, '3001', name);
    text(folder, '39FE', address);
  });
  attachments.forEach(([name, content], nth) => {
    const folder = `/__attach_version1.0_#${String(nth).padStart(8, '0')}`;
    properties(folder, 8, property(0x37050003, 1n));
    text(folder, '3707', name);
    add(`${folder}/__substg1.0_37010102`, content);
  });
  return Uint8Array.from(CFB.write(file, { type: 'buffer' }) as Buffer);
}

/** Returns RTF in its uncompressed form in a message (MS-OXRTFCP). */
function unpackedRtf(rtf: string): Buffer {
  const header = Buffer.alloc(16);
  header.writeUInt32LE(rtf.length + 12, 0);
  header.writeUInt32LE(rtf.length, 4);
  header.write('MELA', 8, 'latin1');
  return Buffer.concat([header, Buffer.from(rtf, 'latin1')]);
}
