import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';

/** Texts longer than this go from the process that reads to the one that asked by way of a file. */
const LONG_CHARACTERS = 4_000_000;
const WRITTEN_AT_ONCE = 4_000_000;

/** A long text in a file. */
export interface TextFile {
  readonly file: string;
  readonly characters: number;
  /** One byte a character, where all are below 256, or two: so that any part is found by its offsets. */
  readonly encoding: 'latin1' | 'utf16le';
}

export const isLong = (text: string): boolean => text.length > LONG_CHARACTERS;

const partsOf = (text: string): string[] =>
  Array.from({ length: Math.ceil(text.length / WRITTEN_AT_ONCE) }, (_, nth) =>
    text.slice(nth * WRITTEN_AT_ONCE, (nth + 1) * WRITTEN_AT_ONCE),
  );

/** Writes a text down for whoever opens it with `LongText`. */
export function writeText(text: string, file: string): TextFile {
  const encoding = partsOf(text).some((part) => /[\u0100-\uffff]/.test(part)) ? 'utf16le' : 'latin1';
  const descriptor = openSync(file, 'wx', 0o600);
  try {
    for (const part of partsOf(text)) {
      const bytes = Buffer.from(part, encoding);
      for (let written = 0; written < bytes.length;) written += writeSync(descriptor, bytes, written);
    }
  } finally {
    closeSync(descriptor);
  }
  return { file, characters: text.length, encoding };
}

/** Of texts that nobody closed, because whoever had asked for them was gone. */
const forgotten = new FinalizationRegistry<{ descriptor: number }>(({ descriptor }) => closeSync(descriptor));

/** A long text of which only those parts are in memory that are asked for. To be closed when it is no longer needed. */
export class LongText {
  readonly length: number;
  readonly #encoding: TextFile['encoding'];
  readonly #open: { descriptor: number };

  /** Takes the file's name away: its room is given back when the text is closed, or its process ends, however that comes. */
  constructor({ file, characters, encoding }: TextFile) {
    this.length = characters;
    this.#encoding = encoding;
    this.#open = { descriptor: openSync(file, 'r') };
    rmSync(file);
    forgotten.register(this, this.#open, this.#open);
  }

  /** The part between two offsets, both inside the text. */
  slice(start: number, end: number): string {
    const unit = this.#encoding === 'latin1' ? 1 : 2;
    const bytes = Buffer.allocUnsafe(Math.max(0, end - start) * unit);
    for (let at = 0; at < bytes.length;) {
      const got = readSync(this.#open.descriptor, bytes, at, bytes.length - at, start * unit + at);
      if (got === 0) throw new Error('A parsed text ends before its end');
      at += got;
    }
    return bytes.toString(this.#encoding);
  }

  close(): void {
    if (forgotten.unregister(this.#open)) closeSync(this.#open.descriptor);
  }
}
