import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { newApiKey } from '../store/organizations/accept.js';

async function writeNewFile(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, `${text}\n`, { mode: 0o600, flag: 'wx', flush: true }).catch(async (error: unknown) => {
    // On a full disk, an empty file remains, which later starts would read as the key.
    if (!isExisting(error)) await rm(file, { force: true });
    throw error;
  });
}

const isExisting = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EEXIST';

/**
 * Generates keys that are neither set nor stored yet, and stores them in the data folder.
 * @returns the API key if it is new, else null
 */
export async function ensureKeys(env: NodeJS.ProcessEnv, dataDir: string): Promise<string | null> {
  const [secretFile, apiFile] = [path.join(dataDir, 'secret-key'), path.join(dataDir, 'api-key')];
  if (!env['SECRET_KEY'] && !existsSync(secretFile))
    await writeNewFile(secretFile, `k1:${randomBytes(32).toString('base64')}`);
  if (env['API_KEY'] || existsSync(apiFile)) return null;
  const apiKey = newApiKey();
  await writeNewFile(apiFile, apiKey);
  return apiKey;
}
