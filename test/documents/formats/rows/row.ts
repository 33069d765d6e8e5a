import { readFileSync } from 'node:fs';
import { strToU8, unzipSync, zipSync } from 'fflate';
import { encrypt } from 'officecrypto-tool';

export type Bytes = Uint8Array | string;
export type Made = Bytes | Promise<Bytes>;

/** A file, by whom it was made, and what is read in it. */
export interface Good {
  /** Another library than its reader, or a program, and what it is. */
  readonly by: string;
  /** How this run makes it; or the name of a file that a program has made before. */
  readonly from: (() => Made) | string;
  /** All of its text, written by hand. */
  readonly text: string;
  /** Names of the files in it. */
  readonly attachments?: readonly string[];
  /** Chunks of at most so many tokens: how each begins and ends. Looked at, not worked out: chunksByHand.test.ts has those. */
  readonly chunks?: { readonly size: number; readonly parts: ReadonlyArray<readonly [begins: string, ends: string]> };
}

/** What the table of formats has of one format. */
export interface Row {
  /** At least three files of this run, and those kept of programs. */
  readonly good: readonly Good[];
  /** A file that breaks off or is damaged, and how it ends: with a sentence, or read as far as it can be. */
  readonly broken: { readonly make: () => Made } & ({ readonly fault: RegExp } | { readonly text: string });
  readonly empty: () => Made;
  /** Null where the format knows no password. */
  readonly encrypted: (() => Made) | null;
  /** An ending that lies of the first good file, and what its content is found to be where that is another format. */
  readonly wrong: { readonly ending: string; readonly format?: string };
}

const FOLDER = new URL('../../../fixtures/documents/', import.meta.url);

/** Made in this run, or read where it is kept; the README beside those says how they were made. */
export const bytesOf = ({ from }: Pick<Good, 'from'>): Made =>
  typeof from === 'string' ? Uint8Array.from(readFileSync(new URL(from, FOLDER))) : from();

export const half = async (file: Made): Promise<Uint8Array> => {
  const bytes = await file;
  return Uint8Array.from(Buffer.from(bytes).subarray(0, Math.floor(bytes.length / 2)));
};

/** An Office file with a password. */
export const locked = async (file: Promise<Uint8Array>): Promise<Uint8Array> =>
  Uint8Array.from(encrypt(Buffer.from(await file), { password: 'x', type: 'standard' }));

/** A workbook with macros beside its sheets, as Excel puts them there. */
export const withMacros = async (book: Promise<Uint8Array>): Promise<Uint8Array> =>
  zipSync({ ...unzipSync(await book), 'xl/vbaProject.bin': strToU8('never read') });
