import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { type GenerationScope, inScope } from '../generations.js';

/** Where an S3-compatible store is; null endpoint: AWS; null credentials: those of the machine. */
export interface S3Settings {
  readonly bucket: string;
  readonly endpoint: string | null;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | null;
}

/** Large contents, kept outside the databases. Keys are `organization/file/generation.raw`; contents never change. */
export interface Blobs {
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** Null when there is none. */
  get(key: string): Promise<Uint8Array | null>;
  deleteGenerations(scope: GenerationScope): Promise<void>;
  /** How many there are of one file, of any generation. */
  countOf(file: { organizationId: number; fileId: number }): Promise<number>;
}

export const blobKey = (owner: { organizationId: number; fileId: number; generation: number }): string =>
  `${owner.organizationId}/${owner.fileId}/${owner.generation}.raw`;

/** Whether a stored name, `generation.raw`, is to go. */
export const doomed = (name: string, scope: GenerationScope): boolean => inScope(Number.parseInt(name, 10), scope);

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** Contents in a local folder. */
export function createFolderBlobs(root: string): Blobs {
  const at = (key: string): string => path.join(root, key);
  const namesIn = async (folder: string): Promise<string[]> =>
    readdir(at(folder)).catch((error: unknown) => {
      if (isMissing(error)) return [];
      throw error;
    });
  return {
    async put(key, bytes) {
      const file = at(key);
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, bytes);
    },
    get: (key) =>
      readFile(at(key)).catch((error: unknown) => {
        if (isMissing(error)) return null;
        throw error;
      }),
    async deleteGenerations(scope) {
      const folder = `${scope.organizationId}/${scope.fileId}`;
      const names = await namesIn(folder);
      await Promise.all(
        names.filter((name) => doomed(name, scope)).map((name) => rm(at(`${folder}/${name}`), { force: true })),
      );
    },
    countOf: async ({ organizationId, fileId }) => (await namesIn(`${organizationId}/${fileId}`)).length,
  };
}
