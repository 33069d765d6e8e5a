/** What the doctor looks at on this machine. */
import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';

import type { Config } from '../../config/types.js';
import { findChromium } from '../../connectors/web/findChromium.js';
import { megabytes, readDisks } from '../../observability/diskSpace.js';
import { openBlobs } from '../../store/contents/openBlobs.js';
import { bad, type Check, messageOf, ok, skipped, warn } from './check.js';

const MEGABYTE = 1_000_000;
const LEAST_FREE_SHARE = 0.05;

async function fileStorage({ files }: Config): Promise<Check> {
  const name = 'file storage';
  const where = files.s3 === null ? files.dir : `bucket ${files.s3.bucket}`;
  try {
    const blobs = await openBlobs(files);
    const key = `doctor-${randomUUID()}`;
    await blobs.put(key, Buffer.from('written by doctor'));
    const isThere = (await blobs.get(key)) !== null;
    await blobs.delete(key);
    return isThere
      ? ok(name, `${where} takes what is written`)
      : bad(name, `${where} lost what was written`, 'Look at that storage.');
  } catch (error) {
    return bad(
      name,
      `${where} can't be written: ${messageOf(error)}`,
      files.s3 === null
        ? 'Give the user of the service the right to write there, or set FILE_STORAGE_DIR.'
        : 'See S3_BUCKET, S3_ENDPOINT, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY.',
    );
  }
}

/** Engines stop writing, some for good, when a disk is full. */
async function disks({ disks: { folders, minFreeBytes } }: Config): Promise<Check[]> {
  return (await readDisks(folders)).map(({ name: setting, path: folder, freeBytes, totalBytes }) => {
    const name = `disk of ${setting}`;
    const found = `${megabytes(freeBytes)} free of ${megabytes(totalBytes)} (${folder})`;
    if (freeBytes >= minFreeBytes && freeBytes >= LEAST_FREE_SHARE * totalBytes) return ok(name, found);
    const fix = 'Make room, or delete files that are not needed: POST /delete_files_v2.';
    return freeBytes < minFreeBytes / 4 ? bad(name, found, fix) : warn(name, found, fix);
  });
}

function browser({ web }: Config): Check {
  const name = 'Chromium';
  const found = findChromium(web.chromiumPath);
  if (found !== null) return ok(name, found);
  const without = 'pages that scripts fill are fetched by plain HTTP until then';
  if (web.chromiumPath !== null)
    return bad(name, `CHROMIUM_PATH ${web.chromiumPath} is not there; ${without}`, 'Correct or unset CHROMIUM_PATH.');
  return web.installChromium
    ? warn(
        name,
        `not installed; ${without}`,
        'The first worker that needs it installs it (INSTALL_CHROMIUM). Or: npx playwright-core install chromium-headless-shell',
      )
    : bad(
        name,
        `not installed; ${without}`,
        'npx playwright-core install chromium-headless-shell, or set INSTALL_CHROMIUM=true.',
      );
}

async function embeddingModel({ embedding }: Config): Promise<Check> {
  const name = 'embedding model';
  const { modelPath, tokenizerPath } = embedding;
  if (modelPath === null || tokenizerPath === null)
    return skipped(
      name,
      'its path is known beside a running npm start, or by EMBEDDING_MODEL_PATH and EMBEDDING_TOKENIZER_PATH',
    );
  try {
    const [model] = await Promise.all([stat(modelPath), stat(tokenizerPath)]);
    return ok(name, `${modelPath} (${Math.round(model.size / MEGABYTE)} MB)`);
  } catch (error) {
    return bad(
      name,
      messageOf(error),
      'npm start makes it anew; with your own, correct EMBEDDING_MODEL_PATH and EMBEDDING_TOKENIZER_PATH.',
    );
  }
}

/** How PUBLIC_URL is set, as far as that can be seen without asking it. */
function publicUrl({ publicUrl: url, host, connectors }: Config): Check[] {
  const name = 'PUBLIC_URL';
  if (url === null)
    return [warn(name, 'not known: PORT is 0', 'Set PORT, and PUBLIC_URL where clients reach it otherwise.')];
  const { protocol, hostname, pathname } = new URL(url);
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  if (hostname === '0.0.0.0')
    return [
      bad(
        name,
        `${url} is no address that anybody can call`,
        'Set PUBLIC_URL to the address under which clients reach this service.',
      ),
    ];
  if (isLocal && host !== '127.0.0.1' && host !== 'localhost')
    return [
      warn(
        name,
        `${url}, while HOST is ${host}`,
        'Links to files lead callers to their own machine: set PUBLIC_URL to the address that they use.',
      ),
    ];
  if (isLocal && Object.keys(connectors.clients).length > 0)
    return [
      warn(
        name,
        `${url}, while OAUTH_CLIENTS are set`,
        'People are sent back to it by providers: set PUBLIC_URL to an address that their browsers reach.',
      ),
    ];
  if (!isLocal && protocol === 'http:')
    return [
      warn(
        name,
        `${url} is not encrypted`,
        'Keys and tokens can be read on the way: put TLS before it, and https:// into PUBLIC_URL.',
      ),
    ];
  return [ok(name, pathname === '/' ? url : `${url} (the proxy before it must take ${pathname} away)`)];
}

export const machineChecks = async (config: Config): Promise<Check[]> => [
  ...(await disks(config)),
  await fileStorage(config),
  browser(config),
  await embeddingModel(config),
  ...publicUrl(config),
];
