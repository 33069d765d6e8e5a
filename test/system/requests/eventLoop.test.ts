/** No body that is sent to an operation may hold the event loop of the API, whatever becomes of the request. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { MAX_GIVEN_CHUNKS } from '../../../api/http/json/limits.js';
import { operations } from '../../../api/routes.js';
import { findPort } from '../../../engines/ports.js';
import type { SupervisedChild } from '../../../scripts/child.js';
import { bodyOf, ours, sample } from '../../support/contract.js';
import { startProcess } from '../../support/processes.js';
import { startService, type TestService } from '../../support/service.js';
import { isThorough } from '../../support/thorough.js';

/**
 * Processor time of the main thread between two ticks of the probe. Wanted are 100 ms on a quiet machine; other suites on the
 * same cores make it up to twice that.
 */
const LONGEST_TURN_MS = 200;
const FILE = path.join(tmpdir(), `allotrope-turns-${process.pid}`);

let service: TestService;
let api: SupervisedChild;
let url: string;
let credentials: Record<string, Record<string, string>>;

beforeAll(async () => {
  await writeFile(FILE, '');
  service = await startService({}, { worker: false });
  const port = await findPort('free');
  const probe = fileURLToPath(new URL('../../support/turnProbe.mjs', import.meta.url));
  const env = { PORT: String(port), NODE_OPTIONS: `--import=${probe}`, TURN_PROBE_FILE: FILE };
  api = await startProcess('api/server', { ...service.env, ...env });
  url = `http://127.0.0.1:${port}`;
  const key = { authorization: `Bearer ${service.apiKey}` };
  const token = { authorization: `Token ${(await service.user('mallory')).token}` };
  credentials = { user: token, reader: token, either: token, key, issuing: { ...key, 'customer-id': 'mallory' } };
});
afterAll(async () => {
  await api.stop();
  await service.close();
  await rm(FILE, { force: true });
});

const longest = async (): Promise<number> => Math.max(0, ...(await readFile(FILE, 'utf8')).split('\n').map(Number));

/** Sends a body. @returns the status, and the longest turn of the event loop */
async function send(where: string, body: string, headers: Record<string, string> = {}) {
  const operation = operations.find((one) => one.path === where && one.method === 'post');
  await writeFile(FILE, '');
  const answer = await fetch(`${url}${where}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...credentials[operation?.auth ?? 'user'], ...headers },
    body,
  });
  await answer.arrayBuffer();
  // The probe's next tick.
  await sleep(50);
  return { status: answer.status, ms: await longest() };
}

const many = (count: number, of: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => of(index)).join();

/** Above the limits: refused before it is parsed. As long as MAX_JSON_BYTES allows. */
const REFUSED: Readonly<Record<string, string>> = {
  '300,000 unknown keys': `{${many(300_000, (index) => `"k${index}":1`)}}`,
  '1,600,000 empty lists': `{"x":[${many(1_600_000, () => '[]')}]}`,
  '600,000 objects of one key': `{"x":[${many(600_000, () => '{"":1}')}]}`,
  '2,400,000 numbers': `{"x":[${many(2_400_000, () => '1')}]}`,
  '1,600,000 empty texts': `{"x":[${many(1_600_000, () => '""')}]}`,
  '2,400,000 levels': `${'['.repeat(2_400_000)}${']'.repeat(2_400_000)}`,
};

/** At the limits: parsed and validated. Unknown fields, so that every operation takes them. */
const ADMITTED: Readonly<Record<string, string>> = {
  '24,000 unknown keys': `"x":1,${many(24, (index) => `"y${index}":{${many(999, (key) => `"k${key}":1`)}}`)}`,
  '20,000 objects': `"x":[${many(20_000, () => '{"a":1}')}]`,
  '59,000 texts': `"x":[${many(59_000, (index) => `"text ${index}"`)}]`,
  'a text of 4,800,000 characters': `"x":"${'y'.repeat(4_800_000)}"`,
  'a text of 2,400,000 characters of two bytes': `"x":"${'é'.repeat(2_400_000)}"`,
};

const posts = operations.filter(({ method, body, takesForm }) => method === 'post' && body && !takesForm);
/** In npm test each operation meets two rows; test:long has all. */
const rowsFor = <T>(rows: readonly T[], index: number): T[] =>
  isThorough() ? [...rows] : rows.filter((_row, at) => at === index % rows.length);

test.each(posts.map(({ path: where }, index) => [where, index] as const))(
  'POST %s holds the event loop for no body',
  async (where, index) => {
    const least = JSON.stringify(sample(ours, bodyOf(ours, 'post', where) ?? {})).slice(1, -1);
    const admitted = rowsFor(Object.entries(ADMITTED), index).map(
      ([what, fields]) => [what, `{${[least, fields].filter(Boolean).join()}}`] as const,
    );
    for (const [what, body] of [...rowsFor(Object.entries(REFUSED), index), ...admitted]) {
      const { status, ms } = await send(where, body);
      expect({ what, isSlow: ms > LONGEST_TURN_MS ? ms : false }).toEqual({ what, isSlow: false });
      if (what in REFUSED) expect(status).toBe(422);
    }
  },
  120_000,
);

const ids = (count: number): string => `[${many(count, String)}]`;
const urls = (count: number): string => `[${many(count, (index) => `"https://x.example/page/${index}"`)}]`;
const number = (index: number): string => String(Math.sin(index));
const chunks = (count: number, numbers: number): string =>
  `{"embedding_model":"OPENAI","chunks_and_embeddings":[{"file_id":1,"chunks_and_embeddings":[${many(
    count,
    (at) =>
      `{"chunk_number":${at},"chunk":"a text"${numbers > 0 ? `,"embedding":[${many(numbers, (index) => number(at + index))}]` : ''}}`,
  )}]}]}`;

describe('as much as an operation takes', () => {
  test.each<[string, string, string]>([
    [
      '10,000 ids, three times',
      '/embeddings',
      `{"query":"x","k":1,"file_ids":${ids(10_000)},"parent_file_ids":${ids(10_000)}}`,
    ],
    [
      '10,000 ids and addresses',
      '/user_files_v2',
      `{"filters":{"ids":${ids(10_000)},"external_urls":${urls(10_000)}}}`,
    ],
    ['1,000 tags', '/embeddings', `{"query":"x","k":1,"tags":{${many(1_000, (index) => `"k${index}":1`)}}}`],
    [
      '10,000 conditions on tags',
      '/embeddings',
      `{"query":"x","k":1,"tags_v2":{"AND":[${many(10_000, (index) => `{"key":"a","value":${index}}`)}]}}`,
    ],
    ['50,000 addresses', '/scrape_sitemap', `{"url":"https://nowhere.invalid/s.xml","urls_to_scrape":${urls(50_000)}}`],
    [
      '10,000 items',
      '/integrations/files/sync',
      `{"data_source_id":1,"ids":[${many(10_000, (index) => `{"id":"${index}","root_id":"r"}`)}]}`,
    ],
    ['20,000 chunks', '/upload_chunks_and_embeddings', chunks(MAX_GIVEN_CHUNKS, 0)],
    ['19 MB of vectors', '/upload_chunks_and_embeddings', chunks(620, 1_536)],
    ['a text of 19 MB', '/upload_text', JSON.stringify({ contents: 'word '.repeat(3_800_000) })],
    [
      'a text of 19 MB with characters of two bytes',
      '/upload_text',
      JSON.stringify({ contents: 'é '.repeat(6_300_000) }),
    ],
    [
      'a query of 32,000 characters',
      '/embeddings',
      JSON.stringify({ query: `${'x'.repeat(99)}.`.repeat(320), k: 1, hybrid_search: true }),
    ],
    [
      'a Thai query of 32,000 characters',
      '/embeddings',
      JSON.stringify({ query: 'ภาษาไทย'.repeat(4_571), k: 1, hybrid_search: true }),
    ],
  ])(
    '%s: POST %s',
    async (_what, where, body) => {
      const isKeyed = operations.some((one) => one.path === where && one.createsWork);
      for (const headers of isKeyed ? [{}, { 'idempotency-key': `key ${body.length}` }] : [{}]) {
        const { status, ms } = await send(where, body, headers);
        expect({ status: status < 500, isSlow: ms > LONGEST_TURN_MS ? ms : false }).toEqual({
          status: true,
          isSlow: false,
        });
      }
    },
    120_000,
  );
});
