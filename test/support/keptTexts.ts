/** Reads the documents, workflow histories and files of a service as text, to search them for secrets. */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import pLimit from 'p-limit';

import { loadConfig } from '../../config/config.js';
import { createTemporalClient } from '../../dispatch/client.js';
import { withDatabase } from './mongo.js';
import { testEngines } from './engines.js';
import type { TestService } from './service.js';

/** Maximum number of workflow histories that are fetched concurrently. */
const AT_ONCE = 8;

/** Converts a nested value to text; bytes are decoded as UTF-8. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (_name, part: unknown) => {
    if (typeof part === 'bigint') return String(part);
    return part instanceof Uint8Array ? Buffer.from(part).toString() : part;
  });

/** Returns a secret in plain text, URL-encoded, and as base64 at each of the three byte alignments. */
export const shapesOf = (secret: string): string[] => [
  secret,
  encodeURIComponent(secret),
  ...[0, 1, 2].map((before) =>
    Buffer.from('x'.repeat(before) + secret)
      .toString('base64')
      // Remove the characters that neighbouring bytes influence.
      .slice(before === 0 ? 0 : before + 1, -4),
  ),
];

/** Returns every document in the database. */
export async function rowsOf(service: TestService): Promise<string[]> {
  const rows: string[] = [];
  await withDatabase(service, async (connection) => {
    for (const { name } of await connection.listCollections())
      for await (const { bytes, ...row } of connection.collection(name).find()) {
        rows.push(JSON.stringify(row));
        if (bytes) rows.push(textOf((bytes as { buffer?: Uint8Array }).buffer ?? bytes));
      }
  });
  return rows;
}

/**
 * Searches every document of the database for secrets, in each shape of `shapesOf`. No collection is named, so that a
 * wrong name cannot make the search empty.
 *
 * @returns the beginnings of the documents that contain a secret
 * @throws if the database contains no documents
 */
export async function rowsContaining(service: TestService, secrets: readonly string[]): Promise<string[]> {
  const rows = await rowsOf(service);
  if (rows.length === 0) throw new Error('The database contains no documents.');
  const shapes = secrets.flatMap(shapesOf);
  return rows.filter((row) => shapes.some((shape) => row.includes(shape))).map((row) => row.slice(0, 500));
}

/** Returns the history of every workflow execution. */
export async function historiesOf(service: TestService): Promise<string[]> {
  const { temporal } = loadConfig(service.env);
  const client = createTemporalClient({ ...temporal, address: temporal.address ?? testEngines().temporalAddress });
  const limit = pLimit(AT_ONCE);
  const fetched: Promise<string>[] = [];
  const { workflow, connection } = client;
  for await (const { workflowId, runId } of workflow.list({ query: `TaskQueue = "${service.names.taskQueue}"` }))
    fetched.push(limit(async () => textOf(await workflow.getHandle(workflowId, runId).fetchHistory())));
  const histories = await Promise.all(fetched);
  await connection.close();
  return histories;
}

/** Returns every file in file storage. */
export async function filesOf(service: TestService): Promise<string[]> {
  const root = path.join(service.env['DATA_DIR'] ?? '', 'files');
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return Promise.all(files.map(({ parentPath, name }) => readFile(path.join(parentPath, name), 'latin1')));
}
