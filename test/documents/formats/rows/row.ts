import { readFileSync } from 'node:fs';
import { strToU8, unzipSync, zipSync } from 'fflate';
import { encrypt } from 'officecrypto-tool';

export type Bytes = Uint8Array | string;
export type Made = Bytes | Promise<Bytes>;

/** A valid file, the library or program that wrote it, and its expected content. */
export interface ValidFile {
  /** Library (never the one that reads it) or program that wrote it, then a description. */
  readonly by: string;
  /** Function that writes it in this run, or the name of a stored file. */
  readonly from: (() => Made) | string;
  /** Complete expected text, written by hand. */
  readonly text: string;
  /** Names of its attachments. */
  readonly attachments?: readonly string[];
  /**
   * Beginning and end of each chunk of at most `size` tokens, recorded and reviewed. chunksByHand.test.ts computes
   * chunks by hand.
   */
  readonly chunks?: { readonly size: number; readonly parts: ReadonlyArray<readonly [begins: string, ends: string]> };
}

/** Test files of one format. */
export interface Row {
  /** At least three files written in this run, and the stored ones. */
  readonly good: readonly ValidFile[];
  /** A truncated or damaged file, and its result: a fault, or the text up to the damage. */
  readonly broken: { readonly make: () => Made } & ({ readonly fault: RegExp } | { readonly text: string });
  readonly empty: () => Made;
  /** An encrypted file; null if the format has no encryption. */
  readonly encrypted: (() => Made) | null;
  /** A wrong extension for the first good file, and the detected format if it is not the file's own. */
  readonly wrong: { readonly ending: string; readonly format?: string };
}

const FOLDER = new URL('../../../fixtures/documents/', import.meta.url);

/** Writes the file, or reads the stored one. The README next to the stored files describes how they were made. */
export const bytesOf = ({ from }: Pick<ValidFile, 'from'>): Made =>
  typeof from === 'string' ? Uint8Array.from(readFileSync(new URL(from, FOLDER))) : from();

/** Returns the first half of a file. */
export const firstHalf = async (file: Made): Promise<Uint8Array> => {
  const bytes = await file;
  return Uint8Array.from(Buffer.from(bytes).subarray(0, Math.floor(bytes.length / 2)));
};

/** Encrypts an Office file with a password. */
export const encryptWithPassword = async (file: Promise<Uint8Array>): Promise<Uint8Array> =>
  Uint8Array.from(encrypt(Buffer.from(await file), { password: 'x', type: 'standard' }));

/** Adds macros to a workbook, at the path that Excel uses. */
export const withMacros = async (book: Promise<Uint8Array>): Promise<Uint8Array> =>
  zipSync({ ...unzipSync(await book), 'xl/vbaProject.bin': strToU8('never read') });
