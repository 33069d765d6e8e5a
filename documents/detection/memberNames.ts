/**
 * Names of the members of ZIP archives, without unpacking. The records and their fields:
 * https://libzip.org/specifications/appnote_iz.txt
 */

const LOCAL = Buffer.from('PK\u0003\u0004', 'latin1');
const CENTRAL = Buffer.from('PK\u0001\u0002', 'latin1');
const END = Buffer.from('PK\u0005\u0006', 'latin1');
const LOCAL_BYTES = 30;
const CENTRAL_BYTES = 46;
const END_BYTES = 22;
/** Maximum length of the comment after the end record. */
const MAX_COMMENT_BYTES = 65_535;
/** Flag of a member whose size follows it instead of preceding it. */
const SIZE_FOLLOWS = 8;
/** Value of the size field if the size is in a ZIP64 field instead. */
const IN_ZIP64 = 0xff_ff_ff_ff;
/** Maximum number of names. A directory without ZIP64 cannot have more. */
const MAX_NAMES = 65_535;

/**
 * Returns the names of an archive's own members, in lower case with slashes as openArchive() reads them. Members that
 * are archives themselves contain headers too, also if they are compressed again, because deflate stores what it cannot
 * shorten. Therefore the names are read from the directory at the end. If the bytes do not include the directory, the
 * names are read from the headers of the members. If the size of a member is written after it, the names may then
 * include those of an archive inside it.
 */
export function memberNames(bytes: Buffer): readonly string[] {
  const names = directoryNames(bytes);
  return names.length > 0 ? names : localNames(bytes);
}

function directoryNames(bytes: Buffer): string[] {
  const names: string[] = [];
  const first = Math.max(0, bytes.length - END_BYTES - MAX_COMMENT_BYTES);
  const end = bytes.lastIndexOf(END);
  if (end < first || end + END_BYTES > bytes.length) return names;
  // If this record belongs to an archive in a member, or the archive is ZIP64, no entry is at this offset.
  let at = bytes.readUInt32LE(end + 16);
  while (names.length < MAX_NAMES && at + CENTRAL_BYTES <= end && startsAt(bytes, CENTRAL, at)) {
    const nameBytes = bytes.readUInt16LE(at + 28);
    names.push(nameAt(bytes, at + CENTRAL_BYTES, nameBytes));
    at += CENTRAL_BYTES + nameBytes + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  return names;
}

function localNames(bytes: Buffer): string[] {
  const names: string[] = [];
  for (let at = 0; at !== -1 && at + LOCAL_BYTES <= bytes.length && names.length < MAX_NAMES;) {
    const nameBytes = startsAt(bytes, LOCAL, at) ? bytes.readUInt16LE(at + 26) : 0;
    names.push(nameAt(bytes, at + LOCAL_BYTES, nameBytes));
    const size = bytes.readUInt32LE(at + 18);
    const skipped = size === IN_ZIP64 || (bytes.readUInt16LE(at + 6) & SIZE_FOLLOWS) !== 0 ? 0 : size;
    at = bytes.indexOf(LOCAL, at + LOCAL_BYTES + nameBytes + bytes.readUInt16LE(at + 28) + skipped);
  }
  return names;
}

const startsAt = (bytes: Buffer, signature: Buffer, at: number): boolean =>
  bytes.compare(signature, 0, signature.length, at, at + signature.length) === 0;

const nameAt = (bytes: Buffer, start: number, length: number): string =>
  bytes
    .toString('latin1', start, start + length)
    .replaceAll('\\', '/')
    .replace(/^\//, '')
    .toLowerCase();
