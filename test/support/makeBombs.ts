/** Small or harmless-looking files that would crash a parser without limits. They are generated in each run. */
import { deflateRawSync, deflateSync } from 'node:zlib';
import { strToU8 } from 'fflate';

import { officeFile } from '../documents/formats/officeFile.js';

export interface Member {
  readonly name: string;
  readonly packed: Buffer;
  readonly size: number;
  /** Offset of its local header. Unset: directly after the previous member. */
  readonly at?: number;
}

const LOCAL_BYTES = 30;
const ENTRY_BYTES = 46;
/** From this number of members on, an archive needs a ZIP64 end record. */
const COUNT_64 = 0xffff;

/**
 * Returns an archive of the given members, without validating them.
 * @param count number of members that the end record states
 */
export function zipOf(members: readonly Member[], count = members.length): Uint8Array {
  const ownBytes = members.map(({ name, packed, at }) =>
    at === undefined ? LOCAL_BYTES + name.length + packed.length : 0,
  );
  const listAt = ownBytes.reduce((sum, bytes) => sum + bytes, 0);
  const listBytes = members.reduce((sum, { name }) => sum + ENTRY_BYTES + name.length, 0);
  const file = Buffer.alloc(listAt + listBytes);
  let local = 0;
  let entry = listAt;
  for (const { name, packed, size, at } of members) {
    file.writeUInt32LE(0x02014b50, entry);
    file.writeUInt16LE(20, entry + 4);
    file.writeUInt16LE(20, entry + 6);
    file.writeUInt16LE(8, entry + 10);
    file.writeUInt32LE(packed.length, entry + 20);
    file.writeUInt32LE(size, entry + 24);
    file.writeUInt16LE(name.length, entry + 28);
    file.writeUInt32LE(at ?? local, entry + 42);
    file.write(name, entry + ENTRY_BYTES, 'latin1');
    entry += ENTRY_BYTES + name.length;
    if (at !== undefined) continue;
    file.writeUInt32LE(0x04034b50, local);
    file.writeUInt16LE(20, local + 4);
    file.writeUInt16LE(8, local + 8);
    file.writeUInt32LE(packed.length, local + 18);
    file.writeUInt32LE(size, local + 22);
    file.writeUInt16LE(name.length, local + 26);
    file.write(name, local + LOCAL_BYTES, 'latin1');
    packed.copy(file, local + LOCAL_BYTES + name.length);
    local += LOCAL_BYTES + name.length + packed.length;
  }
  return Buffer.concat([
    file,
    ...(count < COUNT_64 ? [] : [end64(count, listBytes, listAt)]),
    end(count, listBytes, listAt),
  ]);
}

function end(count: number, listBytes: number, listAt: number): Buffer {
  const record = Buffer.alloc(22);
  record.writeUInt32LE(0x06054b50, 0);
  record.writeUInt16LE(Math.min(count, COUNT_64), 8);
  record.writeUInt16LE(Math.min(count, COUNT_64), 10);
  record.writeUInt32LE(listBytes, 12);
  record.writeUInt32LE(listAt, 16);
  return record;
}

/** Returns the ZIP64 end record and its locator. */
function end64(count: number, listBytes: number, listAt: number): Buffer {
  const record = Buffer.alloc(56 + 20);
  record.writeUInt32LE(0x06064b50, 0);
  record.writeBigUInt64LE(44n, 4);
  record.writeUInt16LE(45, 12);
  record.writeUInt16LE(45, 14);
  for (const at of [24, 32]) record.writeBigUInt64LE(BigInt(count), at);
  record.writeBigUInt64LE(BigInt(listBytes), 40);
  record.writeBigUInt64LE(BigInt(listAt), 48);
  record.writeUInt32LE(0x07064b50, 56);
  record.writeBigUInt64LE(BigInt(listAt + listBytes), 64);
  record.writeUInt32LE(1, 72);
  return record;
}

const zeros = new Map<number, Buffer>();

/** Returns `size` zero bytes, compressed. The result is cached, because compressing gigabytes takes many seconds. */
export function packedZeros(size: number): Buffer {
  const packed = zeros.get(size) ?? deflateRawSync(Buffer.alloc(size), { level: 9 });
  zeros.set(size, packed);
  return packed;
}

/**
 * Returns a Word file whose text is `size` zero bytes, compressed about a thousandfold.
 * @param statedSize uncompressed size that the central directory states
 */
export function flatBomb(size: number, statedSize = size): Uint8Array {
  const relations = strToU8(
    '<Relationships><Relationship Id="r" Type="x/officeDocument" Target="word/document.xml"/></Relationships>',
  );
  return zipOf([
    { name: '_rels/.rels', packed: deflateRawSync(relations), size: relations.length },
    { name: 'word/document.xml', packed: packedZeros(size), size: statedSize },
  ]);
}

/**
 * Archives of ten archives each, nested `levels` deep around `size` zero bytes: each level unpacks to ten times as
 * much.
 */
export function nestedArchives(levels: number, size: number): Uint8Array {
  let inner: Uint8Array = zipOf([{ name: '0.bin', packed: packedZeros(size), size }]);
  for (let level = 0; level < levels; level += 1) {
    const packed = deflateRawSync(inner, { level: 9 });
    const innerSize = inner.length;
    inner = zipOf(Array.from({ length: 10 }, (_, nth) => ({ name: `${nth}.zip`, packed, size: innerSize })));
  }
  return inner;
}

const WORDS = 'Words of the letter.';

/** A Word file that embeds nested archives, in the place where it could embed a workbook. */
export const embeddedArchives = (levels: number, size: number): Uint8Array =>
  officeFile('word/document.xml', `<document><body><p><r><t>${WORDS}</t></r></p></body></document>`, {
    'word/embeddings/1.zip': nestedArchives(levels, size),
  });

/** A Word file with nested archives in place of its text. */
export const archivesForText = (levels: number, size: number): Uint8Array =>
  officeFile('word/document.xml', '', { 'word/document.xml': nestedArchives(levels, size) });

/** A Word file with a thousand members that share the same bytes. */
export function overlappingMembers(): Uint8Array {
  const first = { name: 'word/document.xml', packed: packedZeros(500_000), size: 500_000 };
  const sharingMembers = Array.from({ length: 1000 }, (_, nth) => ({ ...first, name: `word/${nth}.xml`, at: 0 }));
  return zipOf([first, ...sharingMembers]);
}

/** A file with `count` empty members. @param folder folder of the members, from which the format is detected */
export function manyMembers(count: number, folder = 'word'): Uint8Array {
  const packed = Buffer.from([3, 0]);
  return zipOf(Array.from({ length: count }, (_, nth) => ({ name: `${folder}/${nth}`, packed, size: 0 })));
}

/** Ten entities, each ten times the one before: `&l10;` is a text of 30 GB. */
export const LAUGHS = `<!DOCTYPE x [<!ENTITY l0 "lol">${Array.from({ length: 10 }, (_, nth) => `<!ENTITY l${nth + 1} "${`&l${nth};`.repeat(10)}">`).join('')}]>`;

export const laughingDocx = (): Uint8Array =>
  officeFile('word/document.xml', `${LAUGHS}<document><body><p><r><t>&l10;</t></r></p></body></document>`);

export const laughingFeed = (): string =>
  `<?xml version="1.0"?>${LAUGHS}<rss version="2.0"><channel><title>&l10;</title><item><guid>ha</guid><title>&l9;</title><description>&l10;</description></item></channel></rss>`;

export const attributesOf = (count: number): string =>
  Array.from({ length: count }, (_, nth) => `a${nth}="v"`).join(' ');

/** A Word file with `count` attributes on one paragraph. */
export const attributesDocx = (count: number): Uint8Array =>
  officeFile('word/document.xml', `<document><p ${attributesOf(count)}/></document>`);

/** A Word file of nested elements. */
export const nestedDocx = (depth: number): Uint8Array =>
  officeFile('word/document.xml', `<document>${'<p>'.repeat(depth)}${'</p>'.repeat(depth)}</document>`, {}, 0);

/** A PDF of these objects without a cross-reference table, which readers must rebuild. */
export const pdfOf = (...objects: readonly (string | Buffer)[]): Uint8Array =>
  Uint8Array.from(
    Buffer.concat([
      Buffer.from('%PDF-1.7\n'),
      ...objects.flatMap((object, nth) => [
        Buffer.from(`${nth + 1} 0 obj\n`),
        Buffer.from(object),
        Buffer.from('\nendobj\n'),
      ]),
      Buffer.from('trailer\n<< /Root 1 0 R >>\n%%EOF\n'),
    ]),
  );

/**
 * A PDF whose page content is `size` spaces, compressed twice: a kilobyte decompresses to a megabyte, which decompresses
 * to nearly a gigabyte.
 */
export function deflatedPdf(size: number): Uint8Array {
  const twice = deflateSync(deflateSync(Buffer.alloc(size, ' '), { level: 1 }));
  return pdfOf(
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R >>',
    Buffer.concat([
      Buffer.from(`<< /Length ${twice.length} /Filter [/FlateDecode /FlateDecode] >>\nstream\n`),
      twice,
      Buffer.from('\nendstream'),
    ]),
  );
}

/** A PDF whose page tree contains a cycle. */
export const loopingPdf = (): Uint8Array =>
  pdfOf(
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R 3 0 R] /Count 2 >>',
    '<< /Type /Pages /Parent 2 0 R /Kids [2 0 R 2 0 R] /Count 2 >>',
  );
