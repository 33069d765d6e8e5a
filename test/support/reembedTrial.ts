/** Re-embedding runs during which processes are killed, compared with uninterrupted ones. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@jest/globals';

import type { EmbeddingModelId } from '../../contract/vectors/embeddingModels.js';
import type { ReembedDoc } from '../../store/models/reembeds.js';
import { type EmbeddingEmulator, startEmbeddingEmulator } from '../emulators/embeddingProviders/start.js';
import { type Site, sitemapOf, startSite } from '../emulators/site.js';
import { type StoredState, clearVectorCache, readStoredState } from './storedState.js';
import type { TestUser } from './client.js';
import { findDifferences } from './differences.js';
import { CONTENT_ROW_BYTES } from './killTrial.js';
import { type OwnService, startOwnService, type KillTarget } from './ownService.js';
import type { SeededRandom } from './seed.js';
import { waitFor } from './waitFor.js';
import { connectMongo } from './mongo.js';

/** Two models of the embedded provider, which share a vector space, then two remote models with spaces of their own. */
const MODELS = [
  'COHERE_MULTILINGUAL_V3',
  'SOLAR_1_MINI',
  'OPENAI_ADA_SMALL_512',
  'OPENAI_ADA_LARGE_256',
] as const satisfies EmbeddingModelId[];
const BASELINE = 'uninterrupted';
const KILLED = 'killed';
/** Delay of the provider's answers, so that kills happen during requests. */
const ANSWER_MS = 200;

/**
 * Points of progress of a run, in order: it is requested; the first file has a new generation; the first texts are
 * embedded; the first file is published with its new vectors.
 */
const MARKS = ['requested', 'begun', 'embedded', 'published'] as const;

export interface Kill {
  readonly target: KillTarget;
  /** The progress mark after which the delay before the kill begins. */
  readonly since: (typeof MARKS)[number];
  readonly delayMs: number;
}

export interface ReembedTrials {
  /** Returns the shortest duration so far of an uninterrupted run, or of a run that ended before its kills. */
  uninterruptedMs(): number;
  /** Runs re-embedding to the next model, with kills; returns the number of kills during the run. */
  runTrial(kills: readonly Kill[]): Promise<number>;
  close(): Promise<void>;
}

/** Returns a random kill. After the last two marks the delays are short, so that kills fall between single writes. */
export function randomKill(chance: SeededRandom, target: KillTarget, uninterruptedMs: number): Kill {
  // The API only accepts the request, at the start of the run, so it is killed in the first 100 ms.
  if (target === 'api') return { target, since: 'requested', delayMs: chance.below(100) };
  const since = chance.pick(MARKS);
  const isLate = since === 'embedded' || since === 'published';
  return { target, since, delayMs: chance.below(isLate ? Math.min(150, uninterruptedMs) : uninterruptedMs) };
}

interface Run {
  readonly id: number;
  readonly status: string;
}

/** The result of an uninterrupted re-embedding run to one model. */
interface Stage {
  readonly model: EmbeddingModelId;
  readonly content: ReturnType<StoredState['content']>;
  readonly outcome: Record<string, unknown>;
  /** Texts that the provider received. */
  readonly texts: readonly string[];
}

const pageOf = (number: number): string => {
  const words = Array.from({ length: number % 10 === 0 ? 60 : 8 }, (_, word) => `Page ${number} says word${word * 7}.`);
  return `<html><head><title>${number}</title></head><body><main><p>${words.join(' ')}</p></main></body></html>`;
};

async function startPages(count: number): Promise<Site> {
  const site = await startSite();
  const paths = Array.from({ length: count }, (_, number) => `/pages/${number}.html`);
  paths.forEach((path, number) => site.pages.set(path, pageOf(number)));
  site.pages.set('/sitemap.xml', sitemapOf(site.origin, paths));
  return site;
}

async function scrape(service: OwnService, site: Site, customerId: string, count: number): Promise<TestUser> {
  const user = await service.user(customerId);
  const options = {
    embedding_model: MODELS[0],
    generate_sparse_vectors: true,
    chunk_size: 24,
    chunk_overlap: 4,
  };
  const { id } = await user.scrape({ url: site.url('/sitemap.xml'), ...options });
  expect(await user.settled(id)).toMatchObject({ sync_status: 'READY', file_metadata: { pages_ready: count } });
  return user;
}

/**
 * Re-embeds all files of a user and waits for the end of the run. The request is repeated until the API accepts it; the
 * idempotency key ensures that only one run starts.
 */
async function reembed(user: TestUser, model: EmbeddingModelId, key: string): Promise<Run> {
  const accepted = await waitFor(
    // The transaction of a killed API can stay open for some seconds; meanwhile, the idempotency key is in use (409).
    () => user.post<Run>('/files/reembed', { embedding_model: model }, { 'idempotency-key': key }),
    ({ status }) => status !== 409,
  );
  expect(accepted).toMatchObject({ status: 200 });
  const ended = await waitFor(
    () => user.get<Run>(`/files/reembed/${accepted.body.id}`),
    ({ body }) => !['QUEUED', 'RUNNING'].includes(body.status),
  );
  return ended.body;
}

/** Returns a run without its ids and times. */
const outcomeOf = ({ id: _id, ...run }: Run): Record<string, unknown> =>
  Object.fromEntries(Object.entries(run).filter(([name]) => !name.endsWith('_at')));

const receivedTexts = (emulator: EmbeddingEmulator): string[] => emulator.requests.flatMap(({ texts }) => texts);

const timesOf = (texts: readonly string[]): Map<string, number> => {
  const times = new Map<string, number>();
  for (const text of texts) times.set(text, (times.get(text) ?? 0) + 1);
  return times;
};

/** Re-embeds with each further model in turn and then with the first again, without kills. */
async function runBaseline(
  user: TestUser,
  service: OwnService,
  emulator: EmbeddingEmulator,
  files: number,
): Promise<{ stages: Stage[]; uninterruptedMs: number }> {
  const stages: Stage[] = [];
  let uninterruptedMs = Infinity;
  for (const model of [...MODELS.slice(1), MODELS[0]]) {
    await clearVectorCache(service.env);
    emulator.requests.length = 0;
    const startedAt = Date.now();
    const outcome = outcomeOf(await reembed(user, model, `uninterrupted ${model}`));
    uninterruptedMs = Math.min(uninterruptedMs, Date.now() - startedAt);
    expect(outcome).toMatchObject({ status: 'FINISHED', reembedded: files, failed: 0, skipped: { container: 1 } });
    const storedState = await readStoredState(service.env);
    expect(storedState.findInconsistencies()).toEqual([]);
    const content = storedState.content(BASELINE);
    expect(content.points.length).toBeGreaterThan(2 * files);
    const texts = receivedTexts(emulator);
    expect(Math.max(0, ...timesOf(texts).values())).toBe(model.startsWith('OPENAI') ? 1 : 0);
    stages.push({ model, content, outcome, texts });
  }
  return { stages, uninterruptedMs };
}

/** Starts a service with the same files for two users. Processes are killed only during the runs of the second user. */
export async function startReembedTrials(files: number): Promise<ReembedTrials> {
  const emulator = await startEmbeddingEmulator();
  const site = await startPages(files);
  const service = await startOwnService({
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    CONTENT_ROW_BYTES,
    ...emulator.settings('openai'),
  });
  const [uninterruptedUser, killed] = await Promise.all([
    scrape(service, site, BASELINE, files),
    scrape(service, site, KILLED, files),
  ]);
  emulator.setDelay(ANSWER_MS);
  const uninterrupted = await runBaseline(uninterruptedUser, service, emulator, files);
  const { stages } = uninterrupted;
  let { uninterruptedMs } = uninterrupted;
  const connection = await connectMongo(service.env['MONGODB_URI'] ?? '');
  const reembeds = connection.collection<ReembedDoc>('reembeds');
  const countReembedded = () => reembeds.countDocuments({ generation: { $ne: null } });
  let trial = 0;

  /** Returns whether a run to a model has reached a mark; false while MongoDB is down. */
  const hasReached = async (since: Kill['since'], model: EmbeddingModelId, countBefore: number): Promise<boolean> => {
    const checks = {
      requested: async () => true,
      begun: async () => (await countReembedded()) > countBefore,
      embedded: async () => (await connection.collection('vector_cache').countDocuments({}, { limit: 1 })) > 0,
      published: async () => {
        const query = { customerId: KILLED, isContainer: false, 'options.embeddingModel': model };
        return (await connection.collection('files').countDocuments(query, { limit: 1 })) > 0;
      },
    };
    return checks[since]().catch(() => false);
  };

  /**
   * Expects a run with kills to have the same outcome and data as the uninterrupted run to the same model, and the data
   * of the other user to be unchanged.
   */
  const compare = async (run: Run, stage: Stage, kills: number): Promise<void> => {
    const storedState = await readStoredState(service.env);
    expect(storedState.findInconsistencies()).toEqual([]);
    expect(await findDifferences(service.env)).toEqual([]);
    expect(storedState.content(KILLED)).toEqual(stage.content);
    expect(storedState.content(BASELINE)).toEqual(stages.at(-1)?.content);
    expect(outcomeOf(run)).toEqual(stage.outcome);
    const rows = await reembeds.find({ runId: run.id }).toArray();
    expect(new Set(rows.map(({ outcome, reason }) => reason ?? outcome))).toEqual(new Set(['reembedded', 'container']));
    expect(rows).toHaveLength(files + 1);
    const runs = await connection.collection('runs').countDocuments({ kind: 'reembedFiles' });
    expect(runs).toBe(stages.length + trial);
    const times = timesOf(receivedTexts(emulator));
    expect(new Set(times.keys())).toEqual(new Set(stage.texts));
    // Each kill can interrupt a request, whose texts are then sent once more.
    expect([...times].filter(([, count]) => count > 1 + kills)).toEqual([]);
  };

  return {
    uninterruptedMs: () => uninterruptedMs,
    async runTrial(kills) {
      const stage = stages[trial % stages.length];
      if (!stage) throw new Error('no uninterrupted run');
      trial += 1;
      await clearVectorCache(service.env);
      emulator.requests.length = 0;
      const reembeddedBefore = await countReembedded();
      const started = Date.now();
      let ended = false;
      const killing = Promise.all(
        kills.map(async ({ target, since, delayMs }) => {
          while (!ended && !(await hasReached(since, stage.model, reembeddedBefore))) await sleep(5);
          await sleep(delayMs);
          const isDuringRun = !ended;
          await service.kill(target);
          return isDuringRun;
        }),
      );
      const run = await reembed(killed, stage.model, `trial ${trial}`);
      ended = true;
      const tookMs = Date.now() - started;
      const hits = (await killing).filter((hit) => hit).length;
      process.stdout.write(`${JSON.stringify(kills)}: ${hits} hit, ${tookMs} ms\n`);
      if (hits === 0) uninterruptedMs = Math.min(uninterruptedMs, tookMs);
      await compare(run, stage, kills.length);
      return hits;
    },
    async close() {
      await connection.close();
      await service.close();
      await Promise.all([emulator.close(), site.close()]);
    },
  };
}
