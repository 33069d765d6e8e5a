import { inflateRawSync } from 'node:zlib';
import { type Entry, fromBufferPromise, getFileNameLowLevel, validateFileName, type ZipFile } from 'yauzl';
import { Fault } from '../../contract/failures.js';
import type { DocumentLimits } from '../types.js';

/** The members of a ZIP archive, unpacked one at a time and within the limits. */
export interface Archive {
  has(name: string): boolean;
  /** Names in the order of the archive. */
  readonly names: readonly string[];
  /**
   * Unpacks a member.
   * @throws Fault if the member is absent (broken_content), encrypted or too large
   */
  read(name: string): Promise<Buffer>;
}

type ArchiveLimits = Pick<DocumentLimits, 'maxArchiveEntries' | 'maxUnpackedBytes' | 'maxUnpackRatio'>;

/** The two compression methods of Office files. */
const STORED = 0;
const DEFLATED = 8;

/**
 * Smaller members are exempt from the ratio: a bomb of this size is harmless, and repeated text may compress better
 * than the allowed ratio.
 */
const SMALL_MEMBER_BYTES = 1_000_000;

/**
 * Reads the archive's directory.
 * @throws Fault broken_content, or too_large if it exceeds the limits
 */
export async function openArchive(bytes: Uint8Array, limits: ArchiveLimits): Promise<Archive> {
  const buffer = withoutTrailingBytes(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  // yauzl refuses absolute names if it decodes them. They are harmless here: no member is written to a disk.
  const zip = await fromBufferPromise(buffer, { lazyEntries: true, decodeStrings: false }).catch((error: unknown) => {
    throw broken(error);
  });
  if (zip.entryCount > limits.maxArchiveEntries) {
    throw tooLarge(`it has ${zip.entryCount} members (setting MAX_ARCHIVE_ENTRIES: ${limits.maxArchiveEntries})`);
  }
  const entries = await listEntries(zip).catch((error: unknown) => {
    throw broken(error);
  });
  refuseOverlaps(entries, buffer.length);
  const members = membersOf(entries);
  let remaining = limits.maxUnpackedBytes;
  return {
    names: [...members.keys()],
    has: (name) => members.has(nameOf(name)),
    async read(name) {
      const entry = members.get(nameOf(name));
      if (entry === undefined) throw broken(new Error(`no member ${name}`));
      if (entry.isEncrypted()) throw encryptedFile();
      const { compressedSize, uncompressedSize } = entry;
      if (uncompressedSize > SMALL_MEMBER_BYTES && uncompressedSize > compressedSize * limits.maxUnpackRatio)
        throw tooLarge(
          `a member of ${compressedSize} bytes unpacks to ${uncompressedSize} (setting MAX_UNPACK_RATIO: ${limits.maxUnpackRatio})`,
        );
      remaining -= uncompressedSize;
      if (remaining < 0)
        throw tooLarge(`it unpacks to more than ${limits.maxUnpackedBytes} bytes (setting MAX_UNPACKED_BYTES)`);
      return unpack(buffer, zip, entry);
    },
  };
}

const END_RECORD = Buffer.from('PK\u0005\u0006', 'latin1');
const END_RECORD_BYTES = 22;
const MAX_COMMENT_BYTES = 65_535;

/**
 * Removes bytes after the end of the archive, as other programs do: some servers and mail programs append a line end,
 * and yauzl refuses it. The end record states the length of the comment that follows it.
 */
function withoutTrailingBytes(buffer: Buffer): Buffer {
  const first = Math.max(0, buffer.length - END_RECORD_BYTES - MAX_COMMENT_BYTES);
  for (let at = buffer.lastIndexOf(END_RECORD); at >= first; at = buffer.lastIndexOf(END_RECORD, at - 1)) {
    if (at + END_RECORD_BYTES <= buffer.length) {
      const end = at + END_RECORD_BYTES + buffer.readUInt16LE(at + 20);
      if (end <= buffer.length) return buffer.subarray(0, end);
    }
    if (at === 0) break;
  }
  return buffer;
}

/** Creates the fault of a file with a password. */
export function encryptedFile(): Fault {
  return new Fault(
    'encrypted',
    'The file is protected by a password. Save it without one (in its program: Protect, remove the password) and send it again.',
  );
}

/** Normalises a member's name: Office writes slashes and one case; some programs write backslashes or other cases. */
const nameOf = (name: string): string => name.replaceAll('\\', '/').replace(/^\//, '').toLowerCase();

/**
 * Returns the entries by name. An entry with an absolute name is used only if no other has the same name without the
 * slash.
 * @throws Fault broken_content for a name outside of the archive's folder: no program writes it
 */
function membersOf(entries: readonly Entry[]): ReadonlyMap<string, Entry> {
  const members = new Map<string, Entry>();
  for (const entry of entries) {
    const stated = statedName(entry);
    const name = nameOf(stated);
    const problem = validateFileName(name);
    if (problem !== null) throw broken(new Error(problem));
    if (!members.has(name) || !/^[\\/]/.test(stated)) members.set(name, entry);
  }
  return members;
}

const statedName = ({ generalPurposeBitFlag, fileNameRaw, extraFields }: Entry): string =>
  getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, false);

async function listEntries(zip: ZipFile): Promise<Entry[]> {
  return new Promise((resolve, reject) => {
    const entries: Entry[] = [];
    zip.on('entry', (entry: Entry) => {
      entries.push(entry);
      zip.readEntry();
    });
    zip.on('end', () => resolve(entries));
    zip.on('error', reject);
    zip.readEntry();
  });
}

/** Refuses members that share bytes: they let a small file unpack to any size, and no program writes them. */
function refuseOverlaps(entries: readonly Entry[], fileSize: number): void {
  const localHeader = 30;
  let end = 0;
  for (const entry of entries.toSorted((a, b) => a.relativeOffsetOfLocalHeader - b.relativeOffsetOfLocalHeader)) {
    const start = entry.relativeOffsetOfLocalHeader;
    if (start < end) throw broken(new Error(`member ${statedName(entry)} overlaps another`));
    end = start + localHeader + entry.compressedSize;
    if (end > fileSize) throw broken(new Error(`member ${statedName(entry)} ends after the end of the file`));
  }
}

async function unpack(buffer: Buffer, zip: ZipFile, entry: Entry): Promise<Buffer> {
  try {
    const { fileDataStart } = await zip.readLocalFileHeaderPromise(entry, { minimal: true });
    const packed = buffer.subarray(fileDataStart, fileDataStart + entry.compressedSize);
    if (entry.compressionMethod === STORED) return packed;
    if (entry.compressionMethod !== DEFLATED) throw new Error(`compression method ${entry.compressionMethod}`);
    // Allow one byte more than declared, to detect a false size.
    const unpacked = inflateRawSync(packed, { maxOutputLength: entry.uncompressedSize + 1 });
    if (unpacked.length !== entry.uncompressedSize) throw new Error('another size than declared');
    return unpacked;
  } catch (error) {
    throw broken(error);
  }
}

function broken(cause: unknown): Fault {
  return new Fault(
    'broken_content',
    'The file is broken: it is an Office file or archive whose parts cannot be unpacked. Open it in its program, save it again and send that.',
    { cause },
  );
}

function tooLarge(what: string): Fault {
  return new Fault('too_large', `The file is too large when unpacked: ${what}. Split it, or raise the setting.`);
}
