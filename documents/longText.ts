import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';

/** Length in characters above which a text is passed from the reader process to the caller through a file. */
const LONG_CHARACTERS = 4_000_000;
const WRITTEN_AT_ONCE = 4_000_000;

/** A long text in a file. */
export interface TextFile {
  readonly file: string;
  readonly characters: number;
  /** One byte per character if all are below 256, else two, so that any part can be found by its offsets. */
  readonly encoding: 'latin1' | 'utf16le';
}

export const isLong = (text: string): boolean => text.length > LONG_CHARACTERS;

const partsOf = (text: string): string[] =>
  Array.from({ length: Math.ceil(text.length / WRITTEN_AT_ONCE) }, (_, nth) =>
    text.slice(nth * WRITTEN_AT_ONCE, (nth + 1) * WRITTEN_AT_ONCE),
  );

/** Writes a text to a file that `LongText` reads. */
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

/** Closes the descriptors of texts that were garbage-collected without being closed. */
const unclosed = new FinalizationRegistry<{ descriptor: number }>(({ descriptor }) => closeSync(descriptor));

/** A long text that keeps only the requested parts in memory. The caller closes it. */
export class LongText {
  readonly length: number;
  readonly #encoding: TextFile['encoding'];
  readonly #open: { descriptor: number };

  /** Opens and unlinks the file: its space is released when the text is closed or the process ends in any way. */
  constructor({ file, characters, encoding }: TextFile) {
    this.length = characters;
    this.#encoding = encoding;
    this.#open = { descriptor: openSync(file, 'r') };
    rmSync(file);
    unclosed.register(this, this.#open, this.#open);
  }

  /** Returns the part between two offsets, which must be inside the text. */
  slice(start: number, end: number): string {
    const unit = this.#encoding === 'latin1' ? 1 : 2;
    const bytes = Buffer.allocUnsafe(Math.max(0, end - start) * unit);
    for (let at = 0; at < bytes.length;) {
      const got = readSync(this.#open.descriptor, bytes, at, bytes.length - at, start * unit + at);
      if (got === 0) throw new Error('The file of a parsed text is shorter than the text');
      at += got;
    }
    return bytes.toString(this.#encoding);
  }

  close(): void {
    if (unclosed.unregister(this.#open)) closeSync(this.#open.descriptor);
  }
}
