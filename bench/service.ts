/** The service as `npm start` runs it, with a temporary data folder. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { FileRecord } from '../contract/files/records.js';
import { FILE_SYNC_STATUSES, type FileSyncStatus, FINAL_FILE_STATUSES } from '../contract/files/statuses.js';
import { ensureEmbeddingModel } from '../engines/embeddingModel.js';
import { DEFAULT_ENGINES_DIR, ensureVenv } from '../engines/venv.js';
import { superviseChild } from '../scripts/child.js';
import { startService } from '../scripts/service.js';
import { apiClient, type ApiClient, testUser, type TestUser } from '../test/support/client.js';

const POLL_MS = 100;
/** Polling takes a few milliseconds of the API's time; this interval makes that negligible. */
const INGEST_POLL_MS = 250;
const UNFINISHED = FILE_SYNC_STATUSES.filter(
  (status) => !(FINAL_FILE_STATUSES as readonly FileSyncStatus[]).includes(status),
);

export interface BenchService {
  readonly url: string;
  /** Addresses of the embedded engines, from engines.json. */
  readonly mongodbUri: string;
  readonly qdrantUrl: string;
  /** Client with the key of the organization. */
  readonly organization: ApiClient;
  /** Creates an end user without files. */
  user(): Promise<TestUser>;
  /** Starts one more worker, like `npm run worker`, and returns a function that stops it. */
  addWorker(): Promise<() => Promise<void>>;
  stop(): Promise<void>;
}

export interface BenchServiceOptions {
  /** Host of the generated site, which the address guard must allow. */
  readonly siteHost: string;
  /** Folder for V8's CPU profiles; null: no profiling. */
  readonly profileDir: string | null;
  /** Settings that differ from the default. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Data folder to keep, possibly from an earlier run; absent: a new one, deleted with the service. */
  readonly keptDir?: string;
  readonly printLine: (line: string) => void;
}

/** Starts engines, API and one worker with default settings. */
export async function startBenchService({
  siteHost,
  profileDir,
  settings = {},
  keptDir,
  printLine,
}: BenchServiceOptions): Promise<BenchService> {
  const dataDir = keptDir ?? (await mkdtemp(path.join(tmpdir(), 'allotrope-bench-')));
  const cleanUp = async (): Promise<void> => {
    if (keptDir === undefined) await rm(dataDir, { recursive: true, force: true });
  };
  const venv = await ensureVenv({ enginesDir: DEFAULT_ENGINES_DIR, onProgress: printLine });
  const model = await ensureEmbeddingModel(venv);
  const env: NodeJS.ProcessEnv = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    PORT: '0',
    DATA_DIR: dataDir,
    LOG_LEVEL: 'warn',
    ALLOWED_PRIVATE_HOSTS: siteHost,
    EMBEDDING_MODEL_PATH: model.modelPath,
    EMBEDDING_TOKENIZER_PATH: model.tokenizerPath,
    ...settings,
    ...(profileDir === null
      ? {}
      : { BENCH_PROFILE_DIR: profileDir, NODE_OPTIONS: `--import=${import.meta.resolve('./profiler.mjs')}` }),
  };
  const service = await startService({ env, printLine: () => undefined }).catch(async (error: unknown) => {
    await cleanUp();
    throw error;
  });
  const [apiKey, engines] = await Promise.all([
    readFile(path.join(dataDir, 'api-key'), 'utf8'),
    readFile(path.join(dataDir, 'engines.json'), 'utf8'),
  ]);
  const { mongodbUri, qdrantUrl } = JSON.parse(engines) as { mongodbUri: string; qdrantUrl: string };
  let users = 0;
  return {
    url: service.url,
    mongodbUri,
    qdrantUrl,
    organization: apiClient(service.url, { authorization: `Bearer ${apiKey.trim()}` }),
    user: () => testUser(service.url, apiKey.trim(), `bench-${(users += 1)}`),
    async addWorker() {
      const child = await superviseChild({ module: 'worker/main', env });
      return () => child.stop();
    },
    async stop() {
      await service.stop();
      await cleanUp();
    },
  };
}

/** Returns the number of the user's unfinished files, parents included. */
export async function unfinishedFiles(user: TestUser): Promise<number> {
  const { body } = await user.post<{ count: number }>('/user_files_v2', {
    filters: { sync_statuses: UNFINISHED, include_containers: true },
    pagination: { limit: 1 },
  });
  return body.count;
}

/** Returns the number of READY pages of a scrape. */
export async function readyPages(user: TestUser, parentId: number): Promise<number> {
  const { body } = await user.post<{ count: number }>('/user_files_v2', {
    filters: { parent_file_ids: [parentId], sync_statuses: ['READY'] },
    pagination: { limit: 1 },
  });
  return body.count;
}

/** Polls until the condition is true. @throws Error after `timeoutMs` */
export async function until(
  what: string,
  timeoutMs: number,
  condition: () => Promise<boolean>,
  pollMs = POLL_MS,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`${what}: not within ${timeoutMs / 1000} s`);
    await sleep(pollMs);
  }
}

export interface Ingest {
  readonly parent: FileRecord;
  readonly ms: number;
  readonly pagesPerSecond: number;
}

/** Scrapes `pages` pages and waits for the end. @throws unless every page ended READY */
export async function ingest(
  user: TestUser,
  pages: number,
  body: Record<string, unknown>,
  timeoutMs = 300_000,
): Promise<Ingest> {
  const startedAt = performance.now();
  const accepted = await user.scrape(body);
  let parent = accepted;
  const ended = async (): Promise<boolean> => {
    parent = await user.file(accepted.id);
    return (FINAL_FILE_STATUSES as readonly FileSyncStatus[]).includes(parent.sync_status);
  };
  await until('the scrape to end', timeoutMs, ended, INGEST_POLL_MS);
  const ms = performance.now() - startedAt;
  const ready = await readyPages(user, accepted.id);
  if (parent.sync_status !== 'READY' || ready !== pages) {
    const sample = (await user.children(accepted.id)).find(({ sync_status }) => sync_status !== 'READY');
    const why = sample?.sync_error_message ?? parent.sync_error_message ?? 'no message';
    throw new Error(`the scrape ended ${parent.sync_status} with ${ready} of ${pages} pages: ${why}`);
  }
  return { parent, ms, pagesPerSecond: pages / (ms / 1000) };
}
