import { inflateRawSync } from 'node:zlib';
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';
import { Fault } from '../../contract/failures.js';
import type { DocumentLimits } from '../types.js';

/** The members of a ZIP archive, unpacked one at a time and never past the limits. */
export interface Archive {
  has(name: string): boolean;
  /** Names in the order of the archive. */
  readonly names: readonly string[];
  /** Throws a Fault where the member is absent (broken_content), encrypted or too large. */
  read(name: string): Promise<Buffer>;
}

type ArchiveLimits = Pick<DocumentLimits, 'maxArchiveEntries' | 'maxUnpackedBytes' | 'maxUnpackRatio'>;

/** The two packing methods that Office files use. */
const STORED = 0;
const DEFLATED = 8;

/** Below this a bomb does no harm, and small members of repeated text pack better than any ratio allows. */
const SMALL_MEMBER_BYTES = 1_000_000;

/** Reads the archive's list of members. Throws a Fault: broken_content, or too_large past what the limits allow. */
export async function openArchive(bytes: Uint8Array, limits: ArchiveLimits): Promise<Archive> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const zip = await fromBufferPromise(buffer, { lazyEntries: true }).catch((error: unknown) => {
    throw broken(error);
  });
  if (zip.entryCount > limits.maxArchiveEntries) {
    throw tooLarge(`it has ${zip.entryCount} members (setting MAX_ARCHIVE_ENTRIES: ${limits.maxArchiveEntries})`);
  }
  const entries = await listEntries(zip).catch((error: unknown) => {
    throw broken(error);
  });
  refuseOverlaps(entries, bytes.byteLength);
  const members = new Map(entries.map((entry) => [nameOf(entry.fileName), entry]));
  let left = limits.maxUnpackedBytes;
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
      left -= uncompressedSize;
      if (left < 0)
        throw tooLarge(`it unpacks to more than ${limits.maxUnpackedBytes} bytes (setting MAX_UNPACKED_BYTES)`);
      return unpack(buffer, zip, entry);
    },
  };
}

/** What a file that asks for a password ends with. */
export function encryptedFile(): Fault {
  return new Fault(
    'encrypted',
    'The file is protected by a password. Save it without one (in its program: Protect, remove the password) and send it again.',
  );
}

/** Office writes names with slashes and in one case; some programs write backslashes or other cases. */
const nameOf = (name: string): string => name.replaceAll('\\', '/').replace(/^\//, '').toLowerCase();

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

/** Members that share their bytes make a small file of any unpacked size; no program writes them. */
function refuseOverlaps(entries: readonly Entry[], fileSize: number): void {
  const localHeader = 30;
  let end = 0;
  for (const entry of entries.toSorted((a, b) => a.relativeOffsetOfLocalHeader - b.relativeOffsetOfLocalHeader)) {
    const start = entry.relativeOffsetOfLocalHeader;
    if (start < end) throw broken(new Error(`member ${entry.fileName} overlaps another`));
    end = start + localHeader + entry.compressedSize;
    if (end > fileSize) throw broken(new Error(`member ${entry.fileName} ends behind the file`));
  }
}

async function unpack(buffer: Buffer, zip: ZipFile, entry: Entry): Promise<Buffer> {
  try {
    const { fileDataStart } = await zip.readLocalFileHeaderPromise(entry, { minimal: true });
    const packed = buffer.subarray(fileDataStart, fileDataStart + entry.compressedSize);
    if (entry.compressionMethod === STORED) return packed;
    if (entry.compressionMethod !== DEFLATED) throw new Error(`packing method ${entry.compressionMethod}`);
    // One byte more than declared is allowed to come, so that a false size is told from a true one.
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
    'The file is broken: it is an Office file or archive whose parts cannot be unpacked. Open it in its program, save it anew and send that.',
    { cause },
  );
}

function tooLarge(what: string): Fault {
  return new Fault('too_large', `The file is too large when unpacked: ${what}. Split it, or raise the setting.`);
}
