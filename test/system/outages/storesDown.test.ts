/**
 * Every operation while a store is down or frozen: the same answer as usual, or a 503 that names the store. Ingests
 * during these outages lose and duplicate nothing.
 */
import type { ServerResponse } from 'node:http';
import { rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import mongoose from 'mongoose';

import type { AuthScheme, Operation } from '../../../api/http/operation.js';
import { operations } from '../../../api/routes.js';
import type { FileRecord } from '../../../contract/files/records.js';
import { CONNECTED_SOURCES } from '../../../contract/sources/connectedSources.js';
import type { EngineName } from '../../../engines/engine.js';
import { type Site, sitemapOf, startSampleSite, startSite } from '../../emulators/site.js';
import { apiClient, jsonOf, type Listed, type TestUser, testUser } from '../../support/client.js';
import { bodyOf, ourDocument, sample } from '../../support/contract.js';
import { type OwnService, startOwnService } from '../../support/ownService.js';
import { readStoredState } from '../../support/storedState.js';
import { TIME_LIMIT_MS, waitFor } from '../../support/waitFor.js';
import { thoroughly } from '../../support/thorough.js';

/** Timeout that only a hanging request exceeds; other requests wait at most STORE_TIMEOUT_S for a store. */
const REQUEST_TIMEOUT_MS = 60_000;
/** Larger than CONTENT_ROW_BYTES below, so that it goes to file storage. */
const TEXT = 'The tide rises twice a day. '.repeat(200);
/** An id that no record has; it replaces ids in sampled bodies and paths. */
const NO_ID = 987_654_321;

let service: OwnService;
let site: Site;
/** The sites of the ingests. */
const sites: Site[] = [];
/** A site that does not answer requests for its sitemap from the creation of a caller to the end of its outage. */
let heldSite: Site;
let isHolding = false;
const unanswered: ServerResponse[] = [];
const SITEMAP = sitemapOf('http://127.0.0.1', []);
/** Status of each operation while all stores are up. */
let usualStatuses: ReadonlyMap<string, number>;
let first: Caller;

beforeAll(async () => {
  site = await startSite();
  heldSite = await startSite({
    '/robots.txt': '',
    '/sitemap.xml': (_request, response) => void (isHolding ? unanswered.push(response) : response.end(SITEMAP)),
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
  endHeldScrapes();
  await service.close();
  await Promise.all([site, heldSite, ...sites].map((one) => one.close()));
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
  isHolding = true;
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

/** Returns the answers that are neither the usual one nor a 503 with Retry-After and the name of one of the stores. */
const unexpected = (answers: readonly Answer[], stores: readonly string[]): (Answer & { readonly usual?: number })[] =>
  answers.flatMap((answer) => {
    const { operation, status, retryAfter, detail } = answer;
    const asUsual = usualStatuses.get(operation);
    const isRight =
      status === asUsual ||
      (status === 503 && Number(retryAfter) > 0 && stores.some((store) => detail.includes(store)));
    return isRight ? [] : [{ ...answer, ...(asUsual === undefined ? {} : { usual: asUsual }) }];
  });
const refused = (answers: readonly Answer[], store: string): string[] =>
  answers.flatMap(({ operation, status, detail }) => (status === 503 && detail.includes(store) ? [operation] : []));

/** Lets the scrapes of the callers end. Otherwise their requests are repeated for minutes, until they have failed. */
function endHeldScrapes(): void {
  isHolding = false;
  for (const response of unanswered.splice(0)) response.end(SITEMAP);
}

/** Kills an engine, and restarts it when `work` has ended. */
async function whileKilled<T>(engine: EngineName, work: () => Promise<T>): Promise<T> {
  await service.engines[engine].kill();
  try {
    return await work();
  } finally {
    await service.engines[engine].restart();
    endHeldScrapes();
  }
}

/** Calls every operation while an engine is frozen. */
async function callWhileFrozen(engine: EngineName): Promise<Answer[]> {
  const caller = await newCaller(`${engine} frozen`);
  const { pid } = service.engines[engine];
  process.kill(pid, 'SIGSTOP');
  try {
    return await callAll(caller);
  } finally {
    process.kill(pid, 'SIGCONT');
    endHeldScrapes();
  }
}

interface Ingest {
  readonly user: TestUser;
  /** The file of the scrape when it was accepted. */
  readonly accepted: FileRecord;
  /** Paths of the pages requested so far. */
  pages(): string[];
  /** Waits for the end of the ingest, and asserts that every page is READY, once. */
  expectComplete(): Promise<void>;
}

const PAGES = 30;

/** Starts a scrape of a new user, who repeats failing calls. */
async function startIngest(customerId: string): Promise<Ingest> {
  const { url, apiKey, env } = service;
  const user = await testUser(url, apiKey, customerId, TIME_LIMIT_MS);
  const pagesSite = await startSampleSite(PAGES, 2);
  sites.push(pagesSite);
  const accepted = await user.scrape({ url: pagesSite.url('/sitemap.xml') });
  const { id } = accepted;
  return {
    ...{ user, accepted },
    pages: () => pagesSite.requests.filter((one) => one.startsWith('/pages/')),
    async expectComplete() {
      expect(await user.settled(id)).toMatchObject({
        sync_status: 'READY',
        file_metadata: { pages_total: PAGES, pages_ready: PAGES, pages_failed: 0, pages_aborted: 0 },
      });
      const children = await user.children(id);
      expect(new Set(children.map((page) => page.external_url)).size).toBe(PAGES);
      expect((await readStoredState(env)).findInconsistencies(customerId)).toEqual([]);
    },
  };
}

const untilFirstPage = ({ pages }: Ingest): Promise<number> =>
  waitFor(
    () => pages().length,
    (count) => count > 0,
  );

const NEED_QDRANT = ['POST /embeddings', 'POST /list_chunks_and_embeddings'];
/** Operations that answer without MongoDB: they read no record. */
const NEED_NO_MONGODB = ['GET /health', 'GET /content/{organization}/{file}/{content}'];

function expectRefusals(answers: readonly Answer[], refusals: Readonly<Record<string, readonly string[]>>): void {
  expect(unexpected(answers, Object.keys(refusals))).toEqual([]);
  expect(Object.fromEntries(Object.keys(refusals).map((store) => [store, refused(answers, store).toSorted()]))).toEqual(
    refusals,
  );
}

function expectOnlyServedWithoutMongodb(answers: readonly Answer[]): void {
  expect(unexpected(answers, ['MongoDB'])).toEqual([]);
  const served = answers.filter(({ status }) => status !== 503).map(({ operation }) => operation);
  expect(served.toSorted()).toEqual(NEED_NO_MONGODB.toSorted());
}

test('answers 503 and does not hang: a search while Qdrant is frozen, whoami and an upload while MongoDB is', async () => {
  const api = apiClient(service.url, first.credentials.user);
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

describe('while Qdrant is killed during an ingest', () => {
  /** Long enough for several attempts of a batch: after 1, 2 and 4 seconds. */
  const OUTAGE_MS = 9_000;
  let answers: Answer[];
  let ingest: Ingest;

  beforeAll(async () => {
    const caller = await newCaller('qdrant killed');
    ingest = await startIngest('lena');
    await untilFirstPage(ingest);
    [answers] = await whileKilled('qdrant', () => Promise.all([callAll(caller), sleep(OUTAGE_MS)]));
  });

  test('without Qdrant, only searches and lists of vectors answer 503', () =>
    expectRefusals(answers, { Qdrant: NEED_QDRANT }));

  test('the ingest fetches each page at most twice, and finishes when Qdrant is available again', async () => {
    await ingest.expectComplete();
    const requestsByPage = new Map<string, number>();
    for (const page of ingest.pages()) requestsByPage.set(page, (requestsByPage.get(page) ?? 0) + 1);
    expect([...requestsByPage].filter(([, count]) => count > 2)).toEqual([]);
  });
});

/** Makes file storage fail. Returns a function that restores it. */
async function breakFileStorage(): Promise<() => Promise<void>> {
  const folder = path.join(service.env['DATA_DIR'] ?? '', 'files');
  // A file replaces the folder: a service that runs as root could write to a folder without write permission.
  await rename(folder, `${folder}.away`);
  await writeFile(folder, 'not a folder');
  return async () => {
    await rm(folder);
    await rename(`${folder}.away`, folder);
  };
}

describe('while Temporal is killed and file storage fails', () => {
  let answers: Answer[];
  let ingest: Ingest;
  let seen: { readonly pages: string[]; readonly health: unknown; readonly ready: unknown };

  beforeAll(async () => {
    const caller = await newCaller('temporal killed');
    await whileKilled('temporal', async () => {
      const restore = await breakFileStorage();
      answers = await callAll(caller);
      await restore();
      ingest = await startIngest('dora');
      const api = apiClient(service.url, caller.credentials.user);
      seen = { health: await api.get('/health'), ready: await api.get('/ready'), pages: ingest.pages() };
    });
  });

  test('without Temporal and file storage, only a cancel and contents above CONTENT_ROW_BYTES answer 503', () =>
    expectRefusals(answers, {
      Temporal: ['POST /cancel_sync'],
      'File storage': ['POST /upload_text', 'POST /uploadfile'],
    }));

  test('a scrape is accepted, and runs when Temporal is available again', async () => {
    expect(ingest.accepted.sync_status).toBe('QUEUED_FOR_SYNC');
    // The request handler itself fetches no page.
    expect(seen).toMatchObject({
      pages: [],
      health: { status: 200 },
      ready: {
        status: 200,
        body: { status: 'degraded', checks: { mongodb: { ok: true }, temporal: { ok: false } } },
      },
    });
    await ingest.expectComplete();
    expect(ingest.pages()).toHaveLength(PAGES);
  });
});

/** Number of concurrent loops, each of which sends requests one after another while an engine is killed. */
const BUSY_LOOPS = 20;
/** Number of failed requests after which a loop ends. */
const FAILURES_PER_LOOP = 2;

/**
 * Sends uploads and searches in loops. Resolves `begun` after some answers, and `ended` when every loop that can fail
 * has failed twice.
 * @param needing the requests that need the killed engine
 */
function sendInLoops(
  { credentials }: Caller,
  needing: 'every request' | 'searches',
): { readonly begun: Promise<unknown>; readonly ended: Promise<Answer[]> } {
  const headers = { ...credentials.user, 'content-type': 'application/json' };
  const send = async (address: string, body: unknown): Promise<Answer> => {
    const answer = await fetch(`${service.url}${address}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    const { detail } = (await answer.json()) as { detail?: unknown };
    return {
      operation: `POST ${address}`,
      status: answer.status,
      retryAfter: answer.headers.get('retry-after'),
      detail: JSON.stringify(detail ?? ''),
    };
  };
  const answers: Answer[] = [];
  let failingLoops = needing === 'every request' ? BUSY_LOOPS : BUSY_LOOPS / 2;
  const loops = Array.from({ length: BUSY_LOOPS }, async (_, nth) => {
    let failures = 0;
    while (failingLoops > 0 && failures < FAILURES_PER_LOOP) {
      const answer =
        nth % 2 === 0
          ? await send('/upload_text', {
              contents: `Tide ${nth} of ${answers.length}`,
              skip_embedding_generation: true,
            })
          : await send('/embeddings', { query: `tide ${nth}`, k: 1 });
      answers.push(answer);
      if (answer.status !== 200) failures += 1;
    }
    failingLoops -= 1;
  });
  return {
    begun: waitFor(
      () => answers.length,
      (number) => number > 2 * BUSY_LOOPS,
    ),
    ended: Promise.all(loops).then(() => answers),
  };
}

const wrong = (answers: readonly Answer[], store: string): Answer[] =>
  answers.filter(({ status, detail }) => status !== 200 && !(status === 503 && detail.includes(store)));

describe('while MongoDB is killed in the middle of requests', () => {
  let answers: Answer[];
  let inLoops: Answer[];

  beforeAll(async () => {
    const caller = await newCaller('mongodb killed');
    const loops = sendInLoops(caller, 'every request');
    await loops.begun;
    [answers, inLoops] = await whileKilled('mongodb', () => Promise.all([callAll(caller), loops.ended]));
  });

  test('all operations answer 503, except /health and content links', () => expectOnlyServedWithoutMongodb(answers));

  test('no request is answered with 500', () => {
    expect(inLoops.filter(({ status }) => status === 503).length).toBeGreaterThanOrEqual(BUSY_LOOPS);
    expect(wrong(inLoops, 'MongoDB')).toEqual([]);
  });
});

describe('when the primary of MongoDB steps down repeatedly', () => {
  /** Seconds without a primary. */
  const STEP_DOWN_S = 2;
  let admin: mongoose.mongo.MongoClient;
  beforeAll(() => {
    admin = new mongoose.mongo.MongoClient(service.env['MONGODB_URI'] ?? '');
  });
  afterAll(() => admin.close());

  /**
   * Makes the primary step down. A set of one member needs `force`, and elects that member again afterwards.
   * https://www.mongodb.com/docs/manual/reference/command/replSetStepDown/
   */
  const stepDown = () =>
    admin.db('admin').command({ replSetStepDown: STEP_DOWN_S, secondaryCatchUpPeriodSecs: 0, force: true });

  test('an ingest loses and duplicates nothing', async () => {
    const ingest = await startIngest('stella');
    await untilFirstPage(ingest);
    let steppedDownAt = Infinity;
    for (let nth = 0; nth < 3; nth += 1) {
      await stepDown();
      if (nth === 0) steppedDownAt = Date.now();
      await sleep(STEP_DOWN_S * 1_000);
    }
    await ingest.expectComplete();
    // The run ends after its file is READY, in a step of its own that a missing primary may delay.
    const { accepted, user } = ingest;
    type Runs = Listed<{ finished_at: string | null }>;
    const finishedAt = await waitFor(
      async () => (await user.get<Runs>(`/sync_runs?file_id=${accepted.id}`)).body.results[0]?.finished_at,
      (time) => typeof time === 'string',
    );
    expect(Date.parse(finishedAt ?? '')).toBeGreaterThan(steppedDownAt);
  });
});

describe('only in npm run test:long', () => {
  thoroughly('only searches and lists of vectors answer 503 while Qdrant is frozen', async () =>
    expectRefusals(await callWhileFrozen('qdrant'), { Qdrant: NEED_QDRANT }),
  );

  thoroughly('only a cancel answers 503 while Temporal is frozen', async () =>
    expectRefusals(await callWhileFrozen('temporal'), { Temporal: ['POST /cancel_sync'] }),
  );

  thoroughly('all operations answer 503 while MongoDB is frozen, except /health and content links', async () =>
    expectOnlyServedWithoutMongodb(await callWhileFrozen('mongodb')),
  );

  thoroughly('no request is answered with 500 when Qdrant is killed in the middle of requests', async () => {
    // Uploads without embeddings do not need Qdrant: only searches fail.
    const loops = sendInLoops(await newCaller('during qdrant'), 'searches');
    await loops.begun;
    const answers = await whileKilled('qdrant', () => loops.ended);
    expect(wrong(answers, 'Qdrant')).toEqual([]);
  });
});

test('restores the usual answer of every operation when all stores are back', async () => {
  const answers = await callAll(await newCaller('afterwards'));
  expect(new Map(answers.map(({ operation, status }) => [operation, status]))).toEqual(usualStatuses);
  expect([...usualStatuses].filter(([, status]) => status >= 500)).toEqual([]);
});
