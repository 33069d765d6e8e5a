/** Every operation while a store is down or frozen: the same answer as usual, or a 503 that names the store. */
import type { ServerResponse } from 'node:http';
import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { AuthScheme, Operation } from '../../../api/http/operation.js';
import { operations } from '../../../api/routes.js';
import { CONNECTED_SOURCES } from '../../../contract/sources/connectedSources.js';
import type { EngineName } from '../../../engines/engine.js';
import { type Site, sitemapOf, startSite } from '../../emulators/site.js';
import { apiClient, jsonOf, type Listed, testUser } from '../../support/client.js';
import { cli } from '../../support/cli.js';
import { bodyOf, ourDocument, sample } from '../../support/contract.js';
import { type OwnService, startOwnService } from '../../support/ownService.js';
import { TIME_LIMIT_MS, waitFor } from '../../support/waitFor.js';
import { thoroughRows } from '../../support/thorough.js';

/** Timeout that only a hanging request exceeds; other requests wait at most STORE_TIMEOUT_S for a store. */
const REQUEST_TIMEOUT_MS = 60_000;
/** Larger than CONTENT_ROW_BYTES below, so that it goes to file storage. */
const TEXT = 'The tide rises twice a day. '.repeat(200);
/** An id that no record has; it replaces ids in sampled bodies and paths. */
const NO_ID = 987_654_321;

let service: OwnService;
let site: Site;
/** A site that answers requests for its sitemap only after all tests. */
let heldSite: Site;
const unanswered: ServerResponse[] = [];
const SITEMAP = sitemapOf('http://127.0.0.1', []);
/** Status of each operation while all stores are up. */
let usualStatuses: ReadonlyMap<string, number>;
let first: Caller;

beforeAll(async () => {
  site = await startSite();
  heldSite = await startSite({
    '/robots.txt': '',
    '/sitemap.xml': (_request, response) => void unanswered.push(response),
  });
  // No request leaves this machine.
  const urls = Object.entries(CONNECTED_SOURCES).flatMap(([source, row]) =>
    Object.keys(row.urls).map((part) => `${source}.${part}=${site.origin}`),
  );
  service = await startOwnService({
    STORE_TIMEOUT_S: '6',
    CONTENT_ROW_BYTES: '1000',
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    SOURCE_URLS: urls.join(','),
    RETRY_DELAYS_S: '0.1',
    SOURCE_PATIENCE_MS: '1',
  });
  // Repeat: on a busy machine a store may answer too late, although it is up. Each attempt needs a new caller, because
  // a caller's scrape can be cancelled only once.
  let attempts = 0;
  const answers = await waitFor(
    async () => {
      first = await newCaller(`usual ${(attempts += 1)}`);
      return callAll(first);
    },
    (all) => all.every(({ status }) => status !== 503),
  );
  usualStatuses = new Map(answers.map(({ operation, status }) => [operation, status]));
});
afterAll(async () => {
  heldSite.pages.set('/sitemap.xml', SITEMAP);
  for (const response of unanswered) response.end(SITEMAP);
  await service.close();
  await Promise.all([site.close(), heldSite.close()]);
});

/** A user with a READY file and a scrape in progress, so that requests reach every store they need. */
interface Caller {
  readonly credentials: Readonly<Record<AuthScheme, Record<string, string>>>;
  readonly fileId: number;
  readonly scrapeId: number;
}

async function newCaller(customerId: string): Promise<Caller> {
  const { url, apiKey } = service;
  const user = await testUser(url, apiKey, customerId, TIME_LIMIT_MS);
  const begun = unanswered.length;
  const scrape = await user.scrape({ url: heldSite.url('/sitemap.xml') });
  const file = await user.send({ name: 'tides.txt', content: TEXT });
  expect(await user.settled(file.id)).toMatchObject({ sync_status: 'READY' });
  await waitFor(
    () => unanswered.length,
    (now) => now > begun,
  );
  const key = { authorization: `Bearer ${apiKey}` };
  // An organization may have three webhooks at most.
  const { body } = await apiClient(url, key).post<Listed<{ id: number }>>('/webhooks', {});
  for (const webhook of body.results) await apiClient(url, key).delete(`/delete_webhook/${webhook.id}`);
  const token = { authorization: `Token ${user.token}` };
  const credentials = {
    ...{ user: token, reader: token, key, operator: key, either: key, open: {} },
    issuing: { ...key, 'customer-id': customerId },
  };
  return { credentials, fileId: file.id, scrapeId: scrape.id };
}

/**
 * Bodies with which operations reach their stores. Other operations get the smallest body that their schema accepts.
 */
const bodiesOf = ({ fileId, scrapeId }: Caller): Readonly<Record<string, unknown>> => ({
  '/embeddings': { query: 'When does the tide rise?', k: 1 },
  '/upload_text': { contents: TEXT },
  '/list_chunks_and_embeddings': { filters: { ids: [fileId] }, include_vectors: true },
  '/user_files_v2': { filters: { ids: [fileId] }, include_raw_file: true, include_parsed_text_file: true },
  '/create_user_file_tags': { organization_user_file_id: fileId, tags: { a: 'b' } },
  '/delete_user_file_tags': { organization_user_file_id: fileId, tags: ['a'] },
  '/cancel_sync': { file_id: scrapeId },
});

/** Returns the smallest body, with an address of the test's site and ids of no record. */
const minimalBody = (schema: NonNullable<ReturnType<typeof bodyOf>>): unknown =>
  JSON.parse(
    JSON.stringify(sample(ourDocument, schema), (key, value: unknown) =>
      /ids?$/.test(key) && value === 1 ? NO_ID : value,
    ).replaceAll('https://nowhere.invalid', site.origin),
  );

function requestOf({ method, path: address, auth, takesFile }: Operation, caller: Caller): RequestInit {
  const init = { method: method.toUpperCase(), signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) };
  const headers = caller.credentials[auth];
  if (takesFile) {
    const body = new FormData();
    body.set('file', new Blob([TEXT]), 'more tides.txt');
    return { ...init, headers, body };
  }
  const schema = bodyOf(ourDocument, method, address);
  if (!schema) return { ...init, headers };
  const body = JSON.stringify(bodiesOf(caller)[address] ?? minimalBody(schema));
  return { ...init, headers: { ...headers, 'content-type': 'application/json' }, body };
}

interface Answer {
  readonly operation: string;
  readonly status: number;
  readonly retryAfter: string | null;
  readonly detail: string;
}

/** Sends one request of every operation, concurrently. */
function callAll(caller: Caller): Promise<Answer[]> {
  return Promise.all(
    operations.map(async (one) => {
      const isReading = one.method === 'get';
      const address = one.path
        .replace('{file_id}', String(isReading ? caller.fileId : NO_ID))
        .replaceAll(/\{\w+\}/g, String(NO_ID));
      const answer = await fetch(`${service.url}${address}`, requestOf(one, caller));
      const { detail } = (await jsonOf(answer)) as { detail?: unknown };
      return {
        operation: `${one.method.toUpperCase()} ${one.path}`,
        status: answer.status,
        retryAfter: answer.headers.get('retry-after'),
        detail: JSON.stringify(detail ?? ''),
      };
    }),
  );
}

/** Returns the answers that are neither the usual one nor a 503 with Retry-After and the store's name. */
const unexpected = (answers: readonly Answer[], store: string): (Answer & { readonly usual?: number })[] =>
  answers.flatMap((answer) => {
    const { operation, status, retryAfter, detail } = answer;
    const asUsual = usualStatuses.get(operation);
    const isRight = status === asUsual || (status === 503 && Number(retryAfter) > 0 && detail.includes(store));
    return isRight ? [] : [{ ...answer, ...(asUsual === undefined ? {} : { usual: asUsual }) }];
  });
const refused = (answers: readonly Answer[], store: string): string[] =>
  answers.flatMap(({ operation, status, detail }) => (status === 503 && detail.includes(store) ? [operation] : []));

/** Calls every operation while an engine is killed or frozen, then restores the engine. */
async function callWithout(engine: EngineName, how: 'killed' | 'frozen'): Promise<Answer[]> {
  const caller = await newCaller(`${engine} ${how}`);
  const runningEngine = service.engines[engine];
  if (how === 'killed') await runningEngine.kill();
  else process.kill(runningEngine.pid, 'SIGSTOP');
  try {
    return await callAll(caller);
  } finally {
    if (how === 'killed') await runningEngine.restart();
    else process.kill(runningEngine.pid, 'SIGCONT');
  }
}

const NEED_QDRANT = ['POST /embeddings', 'POST /list_chunks_and_embeddings'];
/** Operations that answer without MongoDB: they read no record. */
const NEED_NO_MONGODB = ['GET /health', 'GET /content/{organization}/{file}/{content}'];

/** Returns the vector files of the embedded engine's segments. */
async function vectorFiles(): Promise<string[]> {
  const folder = path.join(service.env['DATA_DIR'] ?? '', 'qdrant');
  const names = await readdir(folder, { recursive: true });
  return names
    .filter((name) => /vector_storage-dense.vectors.chunk_\d+\.mmap$/.test(name))
    .map((name) => path.join(folder, name));
}

test('answers searches with 503, reports /ready as degraded and fails doctor when a segment of Qdrant is damaged', async () => {
  const api = apiClient(service.url, first.credentials.user);
  const moving = { filters: { sync_statuses: ['QUEUED_FOR_SYNC', 'SYNCING'] } };
  await waitFor(
    async () => (await api.post<Listed<unknown>>('/user_files_v2', moving)).body.count,
    (count) => count === 0,
  );
  const { qdrant } = service.engines;
  await qdrant.stop();
  const files = await vectorFiles();
  expect(files.length).toBeGreaterThan(0);
  await Promise.all(files.map((name) => rename(name, `${name}.away`)));
  await qdrant.restart();
  // /ready caches the result of its test search for some seconds.
  const ready = await waitFor(
    () => api.get<{ status: string; reasons: string[] }>('/ready'),
    ({ body }) => body.reasons.join().includes('Qdrant fails searches in'),
  );
  const doctor = await cli(service.env, 'doctor');
  // Nothing is written meanwhile: a write would make the engine fill the missing file with zeros, and searches would
  // work again.
  const search = await api.post('/embeddings', { query: 'tide', k: 1 });
  await qdrant.stop();
  await Promise.all(files.map((name) => rename(`${name}.away`, name)));
  await qdrant.restart();
  expect(search).toMatchObject({
    status: 503,
    body: { detail: expect.stringMatching(/^Qdrant reports an internal error/) },
  });
  expect(ready).toMatchObject({ status: 200, body: { status: 'degraded' } });
  expect(doctor.lines.join('\n')).toContain('searches fail');
});

describe.each<'killed' | 'frozen'>(['killed', ...thoroughRows(['frozen'] as const)])(
  'all operations with a store %s',
  (how) => {
    test('answer 503 without Qdrant to searches and lists of vectors, and work otherwise', async () => {
      const answers = await callWithout('qdrant', how);
      expect(unexpected(answers, 'Qdrant')).toEqual([]);
      expect(refused(answers, 'Qdrant').toSorted()).toEqual(NEED_QDRANT);
    });

    test('answer 503 without Temporal to a cancel, and work otherwise', async () => {
      const answers = await callWithout('temporal', how);
      expect(unexpected(answers, 'Temporal')).toEqual([]);
      expect(refused(answers, 'Temporal')).toEqual(['POST /cancel_sync']);
    });

    test('answer 503 without MongoDB, except /health and content links', async () => {
      const answers = await callWithout('mongodb', how);
      expect(unexpected(answers, 'MongoDB')).toEqual([]);
      const served = answers.filter(({ status }) => status !== 503).map(({ operation }) => operation);
      expect(served.toSorted()).toEqual(NEED_NO_MONGODB.toSorted());
    });
  },
);

test('answers 503 without file storage to contents larger than a row, and works otherwise', async () => {
  const caller = await newCaller('file storage');
  const folder = path.join(service.env['DATA_DIR'] ?? '', 'files');
  // A file replaces the folder: a service that runs as root could write to a folder without write permission.
  await rename(folder, `${folder}.away`);
  await writeFile(folder, 'not a folder');
  const answers = await callAll(caller);
  await rm(folder);
  await rename(`${folder}.away`, folder);
  expect(unexpected(answers, 'File storage')).toEqual([]);
  expect(refused(answers, 'File storage')).toEqual(['POST /uploadfile', 'POST /upload_text']);
});

test('answers 503 and does not hang: a search while Qdrant is frozen, whoami and an upload while MongoDB is', async () => {
  const caller = await newCaller('frozen');
  const api = apiClient(service.url, caller.credentials.user);
  const { qdrant, mongodb } = service.engines;
  process.kill(qdrant.pid, 'SIGSTOP');
  const search = await api.post('/embeddings', { query: 'tide', k: 1 });
  process.kill(qdrant.pid, 'SIGCONT');
  process.kill(mongodb.pid, 'SIGSTOP');
  const [whoami, text] = await Promise.all([api.get('/whoami'), api.post('/upload_text', { contents: TEXT })]);
  process.kill(mongodb.pid, 'SIGCONT');
  expect(search).toMatchObject({ status: 503, body: { detail: expect.stringMatching(/^Qdrant does not answer/) } });
  for (const answer of [whoami, text])
    expect(answer).toMatchObject({ status: 503, body: { detail: expect.stringMatching(/^MongoDB does not answer/) } });
});

/** Number of concurrent loops, each of which sends requests one after another while an engine is killed. */
const BUSY_LOOPS = 20;

test.each<'mongodb' | 'qdrant'>(['mongodb', ...thoroughRows(['qdrant'] as const)])(
  'answers no request with 500 when %s is killed in the middle of requests',
  async (engine) => {
    const caller = await newCaller(`during ${engine}`);
    const headers = { ...caller.credentials.user, 'content-type': 'application/json' };
    const send = async (address: string, body: unknown): Promise<Answer> => {
      const init = {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      };
      const {
        status,
        headers: answered,
        ...rest
      } = await fetch(`${service.url}${address}`, init).then(async (answer) => ({
        status: answer.status,
        headers: answer.headers,
        body: (await answer.json()) as { detail?: unknown },
      }));
      return {
        operation: `POST ${address}`,
        status,
        retryAfter: answered.get('retry-after'),
        detail: JSON.stringify(rest.body.detail ?? ''),
      };
    };
    let isOver = false;
    const answers: Answer[] = [];
    const busy = Array.from({ length: BUSY_LOOPS }, async (_, nth) => {
      while (!isOver)
        answers.push(
          nth % 2 === 0
            ? await send('/upload_text', {
                contents: `Tide ${nth} of ${answers.length}`,
                skip_embedding_generation: true,
              })
            : await send('/embeddings', { query: `tide ${nth}`, k: 1 }),
        );
    });
    await waitFor(
      () => answers.length,
      (number) => number > 2 * BUSY_LOOPS,
    );
    await service.engines[engine].kill();
    await waitFor(
      () => answers,
      (all) => all.filter(({ status }) => status === 503).length > BUSY_LOOPS,
    );
    isOver = true;
    await Promise.all(busy);
    await service.engines[engine].restart();
    const store = engine === 'mongodb' ? 'MongoDB' : 'Qdrant';
    expect(
      answers.filter(({ status, detail }) => status !== 200 && !(status === 503 && detail.includes(store))),
    ).toEqual([]);
  },
);

test('restores the usual answer of every operation when all stores are back', async () => {
  const answers = await callAll(await newCaller('afterwards'));
  expect(new Map(answers.map(({ operation, status }) => [operation, status]))).toEqual(usualStatuses);
  expect([...usualStatuses].filter(([, status]) => status >= 500)).toEqual([]);
});
