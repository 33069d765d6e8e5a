/** Checks of `doctor` for this machine. */
import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';

import type { Config } from '../../config/types.js';
import { findChromium } from '../../connectors/web/findChromium.js';
import { megabytes, readDisks } from '../../observability/diskSpace.js';
import { openBlobs } from '../../store/contents/openBlobs.js';
import { bad, type Check, messageOf, ok, skipped, warn } from './check.js';

const MEGABYTE = 1_000_000;

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
      ? ok(name, `${where} stores and returns data`)
      : bad(name, `${where} lost the data of a test write`, 'Check that storage.');
  } catch (error) {
    return bad(
      name,
      `${where} can't be written: ${messageOf(error)}`,
      files.s3 === null
        ? 'Give the user of the service write permission, or set FILE_STORAGE_DIR.'
        : 'Check S3_BUCKET, S3_ENDPOINT, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY.',
    );
  }
}

/** Checks the free space of each disk. On a full disk, Temporal refuses to write, and MongoDB and Qdrant end. */
export async function diskChecks(
  { disks: { folders, minFreeBytes } }: Pick<Config, 'disks'>,
  read: typeof readDisks = readDisks,
): Promise<Check[]> {
  return (await read(folders)).map(({ name: setting, path: folder, freeBytes, totalBytes }) => {
    const name = `disk of ${setting}`;
    const found = `${megabytes(freeBytes)} free of ${megabytes(totalBytes)} (${folder})`;
    if (freeBytes >= minFreeBytes) return ok(name, found);
    const fix = 'Free space, or delete files: POST /delete_files_v2.';
    return freeBytes < minFreeBytes / 4 ? bad(name, found, fix) : warn(name, found, fix);
  });
}

function browser({ web }: Config): Check {
  const name = 'Chromium';
  const found = findChromium(web.chromiumPath);
  if (found !== null) return ok(name, found);
  const without = 'until it is found, pages are fetched without rendering';
  if (web.chromiumPath !== null)
    return bad(name, `CHROMIUM_PATH ${web.chromiumPath} does not exist; ${without}`, 'Correct or unset CHROMIUM_PATH.');
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
      'its path is unknown: run npm start first, or set EMBEDDING_MODEL_PATH and EMBEDDING_TOKENIZER_PATH',
    );
  try {
    const [model] = await Promise.all([stat(modelPath), stat(tokenizerPath)]);
    return ok(name, `${modelPath} (${Math.round(model.size / MEGABYTE)} MB)`);
  } catch (error) {
    return bad(
      name,
      messageOf(error),
      'npm start builds it again. For your own model, correct EMBEDDING_MODEL_PATH and EMBEDDING_TOKENIZER_PATH.',
    );
  }
}

/** Checks PUBLIC_URL without a request to it. */
function publicUrl({ publicUrl: url, host, connectors }: Config): Check[] {
  const name = 'PUBLIC_URL';
  if (url === null)
    return [warn(name, 'unknown, because PORT is 0', 'Set PORT, and PUBLIC_URL if clients use another URL.')];
  const { protocol, hostname, pathname } = new URL(url);
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  if (hostname === '0.0.0.0' || hostname === '[::]')
    return [
      bad(
        name,
        `${url} is not a URL that clients can call`,
        'Set PUBLIC_URL to the URL at which clients reach this service.',
      ),
    ];
  if (isLocal && !['127.0.0.1', 'localhost', '::1'].includes(host))
    return [
      warn(
        name,
        `${url}, while HOST is ${host}`,
        'Links to files point to the machine of the caller. Set PUBLIC_URL to the URL that clients use.',
      ),
    ];
  if (isLocal && Object.keys(connectors.clients).length > 0)
    return [
      warn(
        name,
        `${url}, while OAUTH_CLIENTS are set`,
        'Providers redirect users to it after consent. Set PUBLIC_URL to a URL that browsers reach.',
      ),
    ];
  if (!isLocal && protocol === 'http:')
    return [
      warn(
        name,
        `${url} is not encrypted`,
        'Keys and tokens can be intercepted. Put a TLS proxy in front, and use https:// in PUBLIC_URL.',
      ),
    ];
  return [ok(name, pathname === '/' ? url : `${url} (the reverse proxy must strip ${pathname})`)];
}

/** Checks disks, file storage, Chromium, the embedding model and PUBLIC_URL. */
export const machineChecks = async (config: Config): Promise<Check[]> => [
  ...(await diskChecks(config)),
  await fileStorage(config),
  browser(config),
  await embeddingModel(config),
  ...publicUrl(config),
];
