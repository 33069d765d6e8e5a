import { Fault } from '../../contract/failures.js';

/** A file in the container of Office before 2007, of Outlook messages, and of encrypted newer files. */
export interface CompoundFile {
  /** Returns the content of a stream of the root folder; null if it has no such stream. */
  stream(name: string): Buffer | null;
}

const SIGNATURE = 'd0cf11e0a1b11ae1';
const HEADER_BYTES = 512;
const ENTRY_BYTES = 128;
/** Larger sector numbers mark free sectors, the end of a chain and the tables themselves. */
const LAST_SECTOR = 0xfffffffa;
/** Number of entries of the DIFAT (the list of the sectors that contain the FAT) in the header. */
const HEADER_TABLES = 109;

/** A stream, by its entry in the directory. */
interface Entry {
  readonly start: number;
  readonly size: number;
}

export const isCompound = (bytes: Uint8Array): boolean =>
  Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(8, bytes.byteLength)).toString('hex') === SIGNATURE;

/**
 * Opens a container (MS-CFB, https://learn.microsoft.com/openspecs/windows_protocols/ms-cfb). Follows no chain for more
 * sectors than the file has, so that a cyclic chain ends.
 * @throws Fault broken_content
 */
export function openCompound(bytes: Uint8Array): CompoundFile {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!isCompound(file) || file.length < HEADER_BYTES) throw broken('it has no header');
  const shift = file.readUInt16LE(30);
  const miniShift = file.readUInt16LE(32);
  if ((shift !== 9 && shift !== 12) || miniShift !== 6) throw broken('its sectors have an unknown size');
  const sectors = new Sectors(file, shift);
  const directory = sectors.chain(file.readUInt32LE(48), file.length);
  const entries = new Map<string, Entry>();
  let root: Entry = { start: LAST_SECTOR, size: 0 };
  for (const [number, inRoot] of rootMembers(directory)) {
    const at = number * ENTRY_BYTES;
    const type = directory[at + 66];
    const entry = { start: directory.readUInt32LE(at + 116), size: directory.readUInt32LE(at + 120) };
    if (type === 5) root = entry;
    else if (type === 2 && inRoot) entries.set(nameAt(directory, at), entry);
  }
  const shortest = file.readUInt32LE(56);
  let mini: { readonly content: Buffer; readonly table: Buffer } | null = null;
  return {
    stream(name) {
      const entry = entries.get(name);
      if (!entry) return null;
      if (entry.size >= shortest) return sectors.chain(entry.start, entry.size);
      mini ??= {
        content: sectors.chain(root.start, root.size),
        table: sectors.chain(file.readUInt32LE(60), file.length),
      };
      return miniChain(mini.content, mini.table, entry);
    },
  };
}

class Sectors {
  readonly #file: Buffer;
  readonly #shift: number;
  /** The number of the next sector, for each sector. */
  readonly #next: Uint32Array;

  constructor(file: Buffer, shift: number) {
    this.#file = file;
    this.#shift = shift;
    const perTable = 2 ** (shift - 2);
    const maxSectors = Math.ceil(file.length / 2 ** shift);
    const tables: number[] = [];
    for (let nth = 0; nth < HEADER_TABLES; nth++) tables.push(file.readUInt32LE(76 + 4 * nth));
    let more = file.readUInt32LE(68);
    for (let steps = 0; more < LAST_SECTOR && steps < maxSectors; steps++) {
      const sector = this.#sector(more);
      if (sector.length < 2 ** shift) break;
      for (let nth = 0; nth < perTable - 1; nth++) tables.push(sector.readUInt32LE(4 * nth));
      more = sector.readUInt32LE(4 * (perTable - 1));
    }
    this.#next = new Uint32Array(maxSectors).fill(LAST_SECTOR);
    tables
      .filter((table) => table < LAST_SECTOR)
      .slice(0, Math.ceil(maxSectors / perTable))
      .forEach((table, nth) => {
        const sector = this.#sector(table);
        for (let at = 0; at + 4 <= sector.length && nth * perTable + at / 4 < maxSectors; at += 4)
          this.#next[nth * perTable + at / 4] = sector.readUInt32LE(at);
      });
  }

  /** Returns the content of a chain of sectors, at most `size` bytes; less if the file is truncated. */
  chain(start: number, size: number): Buffer {
    const parts: Buffer[] = [];
    let remaining = Math.min(size, this.#file.length);
    for (let sector = start; sector < this.#next.length && remaining > 0; sector = this.#next[sector] ?? LAST_SECTOR) {
      const part = this.#sector(sector).subarray(0, remaining);
      if (part.length === 0) break;
      parts.push(part);
      remaining -= part.length;
    }
    return Buffer.concat(parts);
  }

  #sector(number: number): Buffer {
    const start = (number + 1) * 2 ** this.#shift;
    return this.#file.subarray(start, start + 2 ** this.#shift);
  }
}

const MINI_BYTES = 64;

function miniChain(content: Buffer, table: Buffer, { start, size }: Entry): Buffer {
  const parts: Buffer[] = [];
  let remaining = Math.min(size, content.length);
  for (let sector = start; remaining > 0 && sector * MINI_BYTES < content.length;) {
    const part = content.subarray(sector * MINI_BYTES, (sector + 1) * MINI_BYTES).subarray(0, remaining);
    parts.push(part);
    remaining -= part.length;
    if (4 * sector + 4 > table.length) break;
    sector = table.readUInt32LE(4 * sector);
  }
  return Buffer.concat(parts);
}

/** Returns the numbers of the root entry (false) and of the members of the root folder (true). */
function rootMembers(directory: Buffer): ReadonlyMap<number, boolean> {
  const count = Math.floor(directory.length / ENTRY_BYTES);
  const members = new Map<number, boolean>(count > 0 ? [[0, false]] : []);
  // Siblings form a binary tree below the root's child.
  const open = count > 0 ? [directory.readUInt32LE(76)] : [];
  while (open.length > 0) {
    const number = open.pop() ?? count;
    if (number >= count || members.has(number)) continue;
    members.set(number, true);
    open.push(directory.readUInt32LE(number * ENTRY_BYTES + 68), directory.readUInt32LE(number * ENTRY_BYTES + 72));
  }
  return members;
}

function nameAt(directory: Buffer, at: number): string {
  const bytes = Math.min(64, directory.readUInt16LE(at + 64));
  return directory.toString('utf16le', at, at + Math.max(0, bytes - 2));
}

const broken = (what: string): Fault =>
  new Fault('broken_content', `The file is broken: ${what}. Open it in its program, save it again and send that.`);
