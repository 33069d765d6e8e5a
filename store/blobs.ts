import { createReadStream } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';

import { type GenerationScope, inScope } from './generations.js';

/** Where an S3-compatible store is; null endpoint: AWS; null credentials: those of the machine. */
export interface S3Settings {
  readonly bucket: string;
  readonly endpoint: string | null;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | null;
}

/** Raw and parsed contents, kept outside the databases. Keys are `organization/file/generation.kind`; contents never change. */
export interface Blobs {
  put(key: string, bytes: Uint8Array | string): Promise<void>;
  get(key: string): Promise<Uint8Array>;
  stream(key: string): Promise<Readable>;
  deleteGenerations(scope: GenerationScope): Promise<void>;
}

export type BlobKind = 'raw' | 'txt';

export const blobKey = (organizationId: number, fileId: number, generation: number, kind: BlobKind): string =>
  `${organizationId}/${fileId}/${generation}.${kind}`;

/** Whether a stored name, `generation.kind`, is to go. */
export const doomed = (name: string, scope: GenerationScope): boolean => inScope(Number.parseInt(name, 10), scope);

/** Contents in a local folder. */
export function createFolderBlobs(root: string): Blobs {
  const at = (key: string): string => path.join(root, key);
  return {
    async put(key, bytes) {
      const file = at(key);
      try {
        await writeFile(file, bytes);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
        await mkdir(path.dirname(file), { recursive: true });
        await writeFile(file, bytes);
      }
    },
    get: (key) => readFile(at(key)),
    // oxlint-disable-next-line require-await
    stream: async (key) => createReadStream(at(key)),
    async deleteGenerations(scope) {
      const folder = `${scope.organizationId}/${scope.fileId}`;
      const names = await readdir(at(folder)).catch(() => []);
      await Promise.all(
        names.filter((name) => doomed(name, scope)).map((name) => rm(at(`${folder}/${name}`), { force: true })),
      );
    },
  };
}
