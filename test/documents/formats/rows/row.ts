import { readFileSync } from 'node:fs';
import { encrypt } from 'officecrypto-tool';

export type Bytes = Uint8Array | string;
export type Made = Bytes | Promise<Bytes>;

/** A file, by whom it was made, and what is read in it. */
export interface Good {
  readonly by: string;
  readonly make: () => Made;
  /** All of its text, written by hand. */
  readonly text: string;
  /** Names of the files in it. */
  readonly attachments?: readonly string[];
  /** Chunks of at most so many tokens: how each begins and ends. */
  readonly chunks?: { readonly size: number; readonly parts: ReadonlyArray<readonly [begins: string, ends: string]> };
}

/** What the table of formats has of one format. */
export interface Row {
  /** At least three files. */
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

/** A file that another program wrote; see the README beside it. */
export const kept = (name: string) => (): Uint8Array => Uint8Array.from(readFileSync(new URL(name, FOLDER)));

export const half = async (file: Made): Promise<Uint8Array> => {
  const bytes = await file;
  return Uint8Array.from(Buffer.from(bytes).subarray(0, Math.floor(bytes.length / 2)));
};

/** An Office file with a password. */
export const locked = async (file: Promise<Uint8Array>): Promise<Uint8Array> =>
  Uint8Array.from(encrypt(Buffer.from(await file), { password: 'x', type: 'standard' }));
