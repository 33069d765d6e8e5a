import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import mongoose from 'mongoose';

import { type Activities, createActivities } from '../../activities/index.js';
import { activityFields } from '../../activities/logFields.js';
import { createApp } from '../../api/app.js';
import { createHttpServer } from '../../api/http/server.js';
import { createSignedUrls } from '../../api/http/signedUrls.js';
import { createTokens } from '../../api/http/tokens.js';
import { createSampleReader } from '../../api/dryRuns/sampleReader.js';
import { createOps } from '../../api/ops/create.js';
import { createLivePages } from '../../api/web/livePages.js';
import { loadConfig, storeSettings } from '../../config.js';
import { createTemporalLinks } from '../../contract/temporalLinks.js';
import { temporalNames, type TemporalNames } from '../../contract/temporalNames.js';
import { createConnectors } from '../../connectors/registry.js';
import { createFeedSource } from '../../connectors/rssFeed/index.js';
import { createWebSource } from '../../connectors/web/createWebSource.js';
import { createSharedHostLimiter } from '../../connectors/sharedHostLimiter.js';
import { readiness } from '../../api/health/readiness.js';
import { createDiagnosis } from '../../dispatch/diagnosis.js';
import { watchStalls } from '../../dispatch/stallWatch.js';
import { createTemporalClient } from '../../dispatch/client.js';
import { createFeedReader } from '../../dispatch/feedReader.js';
import { createScheduleReader } from '../../dispatch/scheduleReader.js';
import { createSchedules } from '../../dispatch/schedules.js';
import { createDispatcher } from '../../dispatch/dispatcher.js';
import { countTokens } from '../../documents/chunking/countTokens.js';
import { identifyFile } from '../../documents/detection/identifyFile.js';
import { createDocumentPool } from '../../documents/pool.js';
import { createEgress } from '../../egress/createEgress.js';
import { createEmbeddings } from '../../embeddings/registry.js';
import { encodeDocument, encodeQuery } from '../../embeddings/sparse/sparseEncoder.js';
import { createLookups } from '../../lookups/registry.js';
import { diskTrouble } from '../../observability/diskSpace.js';
import { createLog } from '../../observability/log.js';
import { createMetrics } from '../../observability/metrics.js';
import { createRerankers } from '../../rerankers/registry.js';
import { BrokenPointFile } from '../../store/coldStorage/pointFile.js';
import { connectStore, type Store } from '../../store/connect.js';
import { createTranscriptions } from '../../transcription/registry.js';
import { createWorkers } from '../../worker/createWorker.js';
import { keepHeartbeat } from '../../worker/heartbeat.js';
import { createSources } from '../../worker/sources.js';
import { testEngines } from './engines.js';
import { refuseWrong, wrongCounts } from './ledger.js';
import { quietTemporal } from './quietTemporal.js';
import { sharedLocalModel } from './sharedLocalModel.js';
import { testUser, type TestUser } from './client.js';

export interface TestService {
  readonly url: string;
  readonly store: Store;
  readonly apiKey: string;
  /** The settings under which separate processes join this service. */
  readonly env: NodeJS.ProcessEnv;
  /** Its names in the Temporal namespace that all suites share. */
  readonly names: TemporalNames;
  /** An end user of organization 1, or of the organization of another key. */
  user(customerId: string, apiKey?: string): Promise<TestUser>;
  /** @param wrap puts something of the test's around the activities */
  startWorker(wrap?: (activities: Activities) => Activities): Promise<void>;
  stopWorker(): Promise<void>;
  close(): Promise<void>;
}

/** Other suites share this machine: how it schedules this process says nothing about the service. */
const UNMEASURED = { waitShare: null, waited: null, othersShare: null };

/** Each suite counts its ids from a number of its own, so that an id of one suite is unknown in another. */
async function spreadIds(uri: string): Promise<void> {
  const connection = await mongoose.createConnection(uri).asPromise();
  const last = randomInt(1, 100_000) * 10_000;
  const rows = ['file', 'run', 'user', 'dataSource', 'webhook'].map((_id) => ({ _id, last }));
  await connection.collection<{ _id: string; last: number }>('sequences').insertMany(rows);
  await connection.close();
}

/** Each suite's collections and indexes are some 150 open files of the MongoDB that all suites share, which may have 20,000. */
async function dropDatabase(uri: string): Promise<void> {
  const connection = await mongoose.createConnection(uri).asPromise();
  await connection.dropDatabase();
  await connection.close();
}

/**
 * A service of its own on the run's shared engines: own database, collections, task queue and folder. API and worker
 * run in this process; tests that kill them start processes with `env` instead.
 */
export async function startService(
  settings: Record<string, string> = {},
  { worker: withWorker = true, logTo }: { worker?: boolean; logTo?: { write(line: string): void } } = {},
): Promise<TestService> {
  const engines = testEngines();
  const name = `t${randomUUID().slice(0, 8)}`;
  const dataDir = await mkdtemp(path.join(tmpdir(), `allotrope-${name}-`));
  const mongodbUri = new URL(engines.mongodbUri);
  mongodbUri.pathname = `/${name}`;
  const env: NodeJS.ProcessEnv = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    // Other suites keep the cores busy: processes of lower priority would hardly get a turn.
    COMPUTE_NICENESS: '0',
    PORT: '0',
    DATA_DIR: dataDir,
    LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'error',
    API_KEY: `test-key-${name}-${randomBytes(8).toString('hex')}`,
    SECRET_KEY: `k1:${randomBytes(32).toString('base64')}`,
    TEMPORAL_ADDRESS: engines.temporalAddress,
    MONGODB_URI: mongodbUri.href,
    QDRANT_URL: engines.qdrantUrl,
    QDRANT_COLLECTION_PREFIX: `${name}-`,
    EMBEDDING_MODEL_PATH: engines.modelPath,
    EMBEDDING_TOKENIZER_PATH: engines.tokenizerPath,
    EMBEDDING_THREADS: '1',
    RETRY_DELAYS_S: '0.2,0.4,0.8',
    SCHEMA_CHECK_INTERVAL_S: '1',
    ...settings,
  };
  const config = loadConfig(env);
  const log = createLog({ level: config.logLevel, name: 'test', fields: activityFields }, logTo);
  await spreadIds(mongodbUri.href);
  const metrics = createMetrics({ ofProcess: false });
  const store = await connectStore(storeSettings(config));
  const apiKey = config.apiKey ?? '';
  await store.organizations.ensureFirst(apiKey);
  const temporal = { ...config.temporal, address: config.temporal.address ?? engines.temporalAddress };
  const names = temporalNames(store.deploymentId, temporal.taskQueue);
  const links = createTemporalLinks(temporal, names);
  const client = createTemporalClient(temporal);
  const dispatcher = createDispatcher(client, names, store, log);
  const schedules = createSchedules(client, names, store, log);
  const feed = createFeedReader(client, names, store, log, config.reapIntervalMs);
  const upstreams = createEgress(config.embedding.egress);
  const embeddings = createEmbeddings({
    local: sharedLocalModel(engines),
    remote: {
      providers: config.embedding.providers,
      egress: upstreams,
      loadCounter: async () => countTokens,
      onUsage: store.embeddingUsage.count,
    },
  });
  const egress = createEgress(config.egress);
  const receivers = createEgress({ ...config.egress, connectionsPerHost: config.webhooks.connectionsPerHost });
  const transcribers = createEgress(config.transcription.egress);
  const limiter = createSharedHostLimiter({ perHost: config.web.requestsPerHost, turns: store.hostTurns });
  const web = createWebSource({
    egress,
    settings: config.web,
    limiter,
    onNotice: () => undefined,
  });
  const liveWeb = createWebSource({ egress, settings: config.web, renders: false });
  const liveDocuments = createDocumentPool({ ...config.documents, threads: 1 });
  const lowDisks = () => diskTrouble(config.disks);
  const ops = createOps(
    { store, dispatcher, diskTrouble: lowDisks, log },
    { ...config.ops, secretKeys: config.secretKeys },
  );
  const watching = new AbortController();
  const stores = async () => {
    const { qdrant, temporal: engine } = await readiness({ store, dispatcher, diskTrouble: lowDisks });
    return { qdrant: qdrant.hint ?? null, temporal: engine.hint ?? null };
  };
  const diagnosis = createDiagnosis({ client, names }, store, stores, config.stallAfterMs);
  const stallsWatched = watchStalls(diagnosis, store.stalls, log, config.stallAfterMs, watching.signal);
  const app = createApp({
    ...ops,
    diskTrouble: lowDisks,
    store,
    dispatcher,
    schedules: createScheduleReader(client, names),
    embedder: embeddings,
    encodeQuery,
    rerankers: createRerankers(config.rerank, upstreams),
    lookups: createLookups(config.lookups, upstreams),
    tokens: createTokens(config.secretKeys),
    signedUrls: createSignedUrls(config.secretKeys),
    publicUrl: () => url,
    connectors: createConnectors({ egress, ...config.connectors, turns: store.hostTurns }),
    addresses: egress,
    identify: identifyFile,
    sitemaps: liveWeb,
    livePages: createLivePages(liveWeb, liveDocuments),
    samples: createSampleReader(liveWeb, liveDocuments),
    temporalLinks: links,
    workflowLink: links.workflowLink,
    settings: {
      ...config.http,
      maxPagesPerScrape: config.web.maxPagesPerScrape,
      embeddingPrices: config.embedding.prices,
      dryRun: config.dryRun,
    },
    log,
    metrics,
  });
  const server = createHttpServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  let stopWorker: (() => Promise<void>) | null = null;
  const service: TestService = {
    url,
    store,
    apiKey,
    env,
    names,
    user: (customerId, key = apiKey) => testUser(url, key, customerId),
    async startWorker(wrap = (activities) => activities) {
      quietTemporal();
      const documents = createDocumentPool(config.documents);
      const workers = await createWorkers(
        {
          ...temporal,
          taskQueue: names.taskQueue,
          activityConcurrency: config.ingest.activityConcurrency,
          ocrConcurrency: config.ingest.ocrConcurrency,
          transcriptionConcurrency: config.transcription.concurrency,
        },
        wrap(
          createActivities({
            store,
            sources: createSources(web, createFeedSource({ egress, settings: config.web, limiter })),
            connectors: createConnectors({ egress, ...config.connectors, turns: store.hostTurns }),
            documents,
            identify: identifyFile,
            loadCounter: async () => countTokens,
            embeddings,
            encodeSparse: encodeDocument,
            transcriptions: createTranscriptions(config.transcription, transcribers),
            receivers,
            schedules,
            isBrokenCopy: (error) => error instanceof BrokenPointFile,
            workflowLink: links.workflowLink,
            names,
            settings: {
              ...config.ingest,
              maxPagesPerScrape: config.web.maxPagesPerScrape,
              webhooks: config.webhooks,
            },
            log,
            metrics,
          }),
        ),
      );
      const sweeping = new AbortController();
      const identity = { id: randomUUID(), host: hostname(), pid: process.pid };
      const ended = Promise.all([
        workers.run(),
        dispatcher.sweep(sweeping.signal),
        feed.read(sweeping.signal),
        schedules.sweep(sweeping.signal, config.scheduleCompareIntervalMs),
        keepHeartbeat(store.workers, identity, () => UNMEASURED, log, sweeping.signal),
      ]);
      stopWorker = async () => {
        stopWorker = null;
        sweeping.abort();
        workers.shutdown();
        await ended;
        await Promise.all([documents.close(), workers.close()]);
      };
    },
    stopWorker: async () => stopWorker?.(),
    async close() {
      await stopWorker?.();
      await ops.live.close();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      watching.abort();
      await stallsWatched;
      await dispatcher.close();
      const wrong = await wrongCounts(mongodbUri.href);
      await Promise.all([web.close(), liveWeb.close(), liveDocuments.close()]);
      await Promise.all([egress, receivers, transcribers, upstreams, embeddings, store].map((one) => one.close()));
      await rm(dataDir, { recursive: true, force: true });
      await dropDatabase(mongodbUri.href);
      refuseWrong(wrong);
    },
  };
  if (withWorker) await service.startWorker();
  return service;
}
