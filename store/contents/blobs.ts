import { createReadStream } from 'node:fs';
import { access, mkdir, open, opendir, readdir, readFile, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { type GenerationScope, inScope } from '../generations.js';
import { syncFolder } from './syncFolder.js';

/**
 * Address of an S3-compatible store. A null endpoint means AWS. Null credentials mean that the AWS SDK finds them, for
 * example in the environment.
 */
export interface S3Settings {
  readonly bucket: string;
  readonly endpoint: string | null;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | null;
}

/** A blob as a local file, until it is closed. */
export interface OpenedBlob {
  readonly path: string;
  close(): Promise<void>;
}

/**
 * Large contents, stored outside the databases. Keys are `organization/file/generation.kind`, or keys that the caller
 * chooses and later deletes. The content of a key never changes.
 */
export interface Blobs {
  /** Stores a content. It is durable when the call resolves. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /**
   * Stores a stream of any length, which is read only as fast as the storage accepts it. The content is durable when
   * the call resolves.
   */
  putStream(key: string, parts: AsyncIterable<Uint8Array>): Promise<void>;
  /** Returns the content; null if the key does not exist. */
  stream(key: string): Promise<AsyncIterable<Uint8Array> | null>;
  /** Returns the content as a local file, for readers that need one; null if the key does not exist. */
  open(key: string): Promise<OpenedBlob | null>;
  /** Deletes the content, including parts of an unfinished upload. A missing key is not an error. */
  delete(key: string): Promise<void>;
  /** Returns the content; null if the key does not exist. */
  get(key: string): Promise<Uint8Array | null>;
  deleteGenerations(scope: GenerationScope): Promise<void>;
  /** Returns the keys of one file, of any generation, including those of unfinished uploads. */
  keysOf(file: { organizationId: number; fileId: number }): Promise<string[]>;
  /** Counts the keys of one file, of any generation. */
  countOf(file: { organizationId: number; fileId: number }): Promise<number>;
  /** Streams all keys of one organization, or of all, in no particular order. */
  keys(organizationId: number | null): AsyncIterable<string>;
  /** Returns the size in bytes; null if the key does not exist. */
  size(key: string): Promise<number | null>;
}

export const blobKey = (owner: { organizationId: number; fileId: number; generation: number }): string =>
  `${owner.organizationId}/${owner.fileId}/${owner.generation}.raw`;

/** Returns whether a stored name, `generation.kind`, is in a scope that is deleted. */
export const isDeletable = (name: string, scope: GenerationScope): boolean => inScope(Number.parseInt(name, 10), scope);

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    (error: unknown) => {
      if (isMissing(error)) return false;
      throw error;
    },
  );

/** Yields the names in a folder, without reading all of them into memory; none if the folder does not exist. */
async function* namesIn(folder: string): AsyncIterable<string> {
  try {
    for await (const { name } of await opendir(folder)) yield name;
  } catch (error) {
    if (!isMissing(error) && (error as NodeJS.ErrnoException).code !== 'ENOTDIR') throw error;
  }
}

/** Maximum attempts to write into a new folder, which a concurrent deletion may remove because it is empty. */
const MAX_FOLDER_ATTEMPTS = 10;

/** Creates the folder of a file, then calls `write`. */
async function inFolderOf<T>(file: string, write: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    await mkdir(path.dirname(file), { recursive: true });
    try {
      return await write();
    } catch (error) {
      if (!isMissing(error) || attempt === MAX_FOLDER_ATTEMPTS) throw error;
    }
  }
}

/** Stores contents in a local folder. */
export function createFolderBlobs(root: string): Blobs {
  const top = path.resolve(root);
  const pathOf = (key: string): string => path.join(top, key);
  const namesOf = async (folder: string): Promise<string[]> =>
    readdir(pathOf(folder)).catch((error: unknown) => {
      if (isMissing(error)) return [];
      throw error;
    });
  /**
   * Writes the entries of a new file and of its folders to disk. Includes folders that existed before: a parallel call
   * may have just created them without writing their entries yet.
   */
  const syncFolders = async (file: string): Promise<void> => {
    for (let folder = path.dirname(file); folder.length >= top.length; folder = path.dirname(folder)) {
      // A parallel deletion removes a folder only after all contents in it, so there is nothing to keep.
      await syncFolder(folder).catch((error: unknown) => {
        if (!isMissing(error)) throw error;
      });
      if (folder === top) return;
    }
  };
  return {
    async put(key, bytes) {
      const file = pathOf(key);
      await inFolderOf(file, () => writeFile(file, bytes, { flush: true }));
      await syncFolders(file);
    },
    async putStream(key, parts) {
      const file = pathOf(key);
      const handle = await inFolderOf(file, () => open(file, 'w'));
      try {
        for await (const part of parts) await handle.writeFile(part);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await syncFolders(file);
    },
    async stream(key) {
      return (await exists(pathOf(key))) ? createReadStream(pathOf(key)) : null;
    },
    async open(key) {
      return (await exists(pathOf(key))) ? { path: pathOf(key), close: () => Promise.resolve() } : null;
    },
    delete: (key) => rm(pathOf(key), { force: true }),
    get: (key) =>
      readFile(pathOf(key)).catch((error: unknown) => {
        if (isMissing(error)) return null;
        throw error;
      }),
    async deleteGenerations(scope) {
      const folder = `${scope.organizationId}/${scope.fileId}`;
      const names = await namesOf(folder);
      const deleted = names.filter((name) => isDeletable(name, scope));
      await Promise.all(deleted.map((name) => rm(pathOf(`${folder}/${name}`), { force: true })));
      // Otherwise, every deleted file would leave an empty folder. If it is not empty, it stays.
      if (deleted.length === names.length) await rmdir(pathOf(folder)).catch(() => undefined);
    },
    async keysOf({ organizationId, fileId }) {
      const folder = `${organizationId}/${fileId}`;
      return (await namesOf(folder)).map((name) => `${folder}/${name}`);
    },
    countOf: async ({ organizationId, fileId }) => (await namesOf(`${organizationId}/${fileId}`)).length,
    async *keys(organizationId) {
      const organizations = organizationId === null ? namesIn(root) : [String(organizationId)];
      for await (const organization of organizations)
        for await (const folder of namesIn(pathOf(organization)))
          for await (const name of namesIn(pathOf(`${organization}/${folder}`)))
            yield `${organization}/${folder}/${name}`;
    },
    async size(key) {
      try {
        return (await stat(pathOf(key))).size;
      } catch (error) {
        if (isMissing(error)) return null;
        throw error;
      }
    },
  };
}
