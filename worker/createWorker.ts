import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';

import { type Activities, createActivities } from '../activities/index.js';
import { required, storeSettings } from '../config/config.js';
import type { Config } from '../config/types.js';
import { createTemporalLinks } from '../contract/runs/temporalLinks.js';
import { temporalNames } from '../contract/runs/temporalNames.js';
import { createConnectors } from '../connectors/registry.js';
import { createFeedSource } from '../connectors/rssFeed/index.js';
import { createWebSource } from '../connectors/web/createWebSource.js';
import { createSharedHostLimiter } from '../connectors/sharedHostLimiter.js';
import { coldSweep } from '../dispatch/coldSweep.js';
import { reap } from '../dispatch/reaper.js';
import { quarantineSweep } from '../dispatch/quarantineSweep.js';
import { createDispatcher } from '../dispatch/dispatcher.js';
import { createTemporalClient } from '../dispatch/client.js';
import { createFeedReader } from '../dispatch/feedReader.js';
import { createSchedules } from '../dispatch/schedules.js';
import { identifyFile } from '../documents/detection/identifyFile.js';
import { createDocumentPool } from '../documents/pool.js';
import { createEgress } from '../egress/createEgress.js';
import { createLocalProvider } from '../providers/embeddings/providers/local.js';
import { createEmbeddings } from '../providers/embeddings/registry.js';
import type { EmbeddingProvider } from '../providers/embeddings/types.js';
import { pricesOfSpaces } from '../providers/embeddings/readPrices.js';
import { encodeDocument } from '../providers/embeddings/sparse/sparseEncoder.js';
import { createMetrics } from '../observability/metrics.js';
import { serveMetricsIfConfigured } from '../observability/metricsPage.js';
import type { Log } from '../observability/log.js';
import type { Tracing } from '../observability/spans.js';
import { NO_TRACING } from '../observability/tracing.js';
import { combineObservers } from '../observability/watch.js';
import { BrokenPointFile } from '../store/coldStorage/pointFile.js';
import { connectStore, type Store } from '../store/connect.js';
import { outdatedMessage } from '../store/migrations/schemaWatch.js';
import { createTranscriptions } from '../providers/transcription/registry.js';
import { createTemporalWorkers } from './temporalWorkers.js';
import { ocrEngine } from './ocrEngine.js';
import { sendHeartbeats } from './heartbeat.js';
import { createSources } from './sources.js';
import type { WorkerLoad } from '../contract/runs/workers.js';

export interface WorkerOverrides {
  readonly log: Log;
  /** Absent: no tracing. */
  readonly tracing?: Tracing;
  /** Metrics of the Temporal SDK in this process, added to our own (runtime.ts). */
  readonly sdkMetrics?: () => Promise<string>;
  /** Measures the processor time that this process gets; called once per heartbeat (processorShare.ts). */
  readonly measureLoad: () => Omit<WorkerLoad, 'lagMs'>;
  /** Stores that the caller has opened and will close. Absent: the worker opens its own. */
  readonly store?: Store;
  /** The local embedding model, which the caller has created and will close. Absent: the worker creates its own. */
  readonly localModel?: EmbeddingProvider;
  /** Wraps the activities. */
  readonly wrap?: (activities: Activities) => Activities;
  /**
   * Maximum number of workflows that stay cached between their tasks; 0: each task replays its history. Absent: the
   * SDK's default.
   */
  readonly maxCachedWorkflows?: number;
}

/** A connected worker. It starts to poll when `run` is called. */
export interface AllotropeWorker {
  readonly taskQueue: string;
  /** Null if WORKER_METRICS_PORT is unset. */
  readonly metricsPort: number | null;
  /**
   * Runs until the worker is stopped, then closes everything that it opened.
   * @returns 'outdated' if the worker stopped because the stored data needs a newer version of this program
   */
  run(): Promise<'stopped' | 'outdated'>;
  /** Stops polling; active work may take 5 s more. Later calls do nothing. */
  stop(): void;
}

/**
 * Connects the stores and Temporal, and creates the activities. The caller first installs the SDK's native runtime
 * (runtime.ts), of which each process has one.
 * @throws StartError if OCR_ENGINE is native and no usable Tesseract is installed; Error with a message for the
 * operator when a setting is missing or a store cannot be reached
 */
export async function createWorker(config: Config, overrides: WorkerOverrides): Promise<AllotropeWorker> {
  const { log, tracing = NO_TRACING, store: sharedStore, localModel, maxCachedWorkflows } = overrides;
  const { wrap = (activities) => activities } = overrides;
  const ocr = await ocrEngine(config.documents.ocr, log);
  const isMeasured = config.metrics.workerPort !== null;
  const metrics = createMetrics({ ofProcess: isMeasured, prices: pricesOfSpaces(config.embedding.prices) });
  const store =
    sharedStore ??
    (await connectStore({
      ...storeSettings(config),
      watch: combineObservers([isMeasured ? metrics.watch : null, tracing.watch]),
      traceparent: () => tracing.traceContext()?.traceparent ?? null,
      onFilesEnded: metrics.filesEnded,
    }));
  metrics.reportDisks(config.disks);
  const temporal = { ...config.temporal, address: required(config.temporal.address, 'TEMPORAL_ADDRESS') };
  const names = temporalNames(store.deploymentId, temporal.taskQueue);
  const client = createTemporalClient(temporal, tracing);
  const dispatcher = createDispatcher(client, names, store, log, tracing);
  const schedules = createSchedules(client, names, store, log);
  const egress = createEgress(config.egress, tracing);
  const webhookEgress = createEgress(
    { ...config.egress, connectionsPerHost: config.webhooks.connectionsPerHost },
    tracing,
  );
  const transcriptionEgress = createEgress(config.transcription.egress, tracing);
  const eventFeed = createFeedReader(client, names, store, log, config.reapIntervalMs);
  const limiter = createSharedHostLimiter({
    perHost: config.web.requestsPerHost,
    hostRateLimits: store.hostRateLimits,
  });
  const web = createWebSource({
    egress,
    settings: config.web,
    limiter,
    onNotice: (notice) => log.warn({}, notice),
  });
  const documents = createDocumentPool({ ...config.documents, ocr }, (crash) =>
    log.warn({ ...crash }, 'a document reader process died; each of its documents is read once more, separately'),
  );
  /** Loaded on demand, because the token table needs about 40 MB. The document reader processes load their own. */
  const loadCounter = async () => (await import('../documents/chunking/countTokens.js')).countTokens;
  const embeddingEgress = createEgress(config.embedding.egress, tracing);
  const embeddings = createEmbeddings({
    local:
      localModel ??
      createLocalProvider({
        modelPath: required(config.embedding.modelPath, 'EMBEDDING_MODEL_PATH'),
        tokenizerPath: required(config.embedding.tokenizerPath, 'EMBEDDING_TOKENIZER_PATH'),
        threads: config.embedding.threads,
        niceness: config.embedding.niceness,
      }),
    remote: {
      providers: config.embedding.providers,
      egress: embeddingEgress,
      loadCounter,
      onUsage(organizationId, space, usage) {
        store.embeddingUsage.count(organizationId, space, usage);
        metrics.providerTokens(space, usage.tokens);
      },
      onRequest: metrics.providerRequest,
    },
  });
  const activities = createActivities({
    workflowLink: createTemporalLinks(temporal, names).workflowLink,
    names,
    store,
    sources: createSources(web, createFeedSource({ egress, settings: config.web, limiter })),
    connectors: createConnectors({
      egress,
      ...config.connectors,
      hostRateLimits: store.hostRateLimits,
      counts: metrics,
    }),
    documents,
    identify: identifyFile,
    loadCounter,
    embeddings,
    encodeSparse: encodeDocument,
    transcriptions: createTranscriptions(config.transcription, transcriptionEgress),
    webhookEgress,
    schedules,
    isBrokenCopy: (error) => error instanceof BrokenPointFile,
    settings: {
      ...config.ingest,
      maxPagesPerScrape: config.web.maxPagesPerScrape,
      siteSamplePages: config.web.siteSamplePages,
      webhooks: config.webhooks,
    },
    log,
    metrics,
  });
  const workers = await createTemporalWorkers(
    {
      ...temporal,
      taskQueue: names.taskQueue,
      activityConcurrency: config.ingest.activityConcurrency,
      ocrConcurrency: config.ingest.ocrConcurrency,
      transcriptionConcurrency: config.transcription.concurrency,
      ...(maxCachedWorkflows === undefined ? {} : { maxCachedWorkflows }),
    },
    wrap(activities),
    { lastErrors: store.lastErrors, log },
    tracing,
  );

  const stopping = new AbortController();
  const stop = (): void => {
    if (stopping.signal.aborted) return;
    stopping.abort();
    workers.shutdown();
  };
  let end: 'stopped' | 'outdated' = 'stopped';
  store.schema.onNewer((version) => {
    log.error({ version }, `${outdatedMessage(version)}. This worker shuts down`);
    end = 'outdated';
    stop();
  });
  const identity = { id: randomUUID(), host: hostname(), pid: process.pid };
  const heartbeats = sendHeartbeats(store.workers, identity, overrides.measureLoad, log, stopping.signal);
  const metricsAddress = { ...config.metrics, port: config.metrics.workerPort, setting: 'WORKER_METRICS_PORT' };
  const metricsServer = await serveMetricsIfConfigured(metrics, metricsAddress, log, overrides.sdkMetrics);

  return {
    taskQueue: names.taskQueue,
    metricsPort: metricsServer?.port ?? null,
    stop,
    async run() {
      const sweeping = Promise.all([
        dispatcher.sweep(stopping.signal),
        reap({ client, names }, store, log, config.reapIntervalMs, stopping.signal),
        coldSweep(store, dispatcher, log, config.coldSweepIntervalMs, stopping.signal),
        quarantineSweep(store, dispatcher, log, config.quarantineSweepIntervalMs, stopping.signal),
        eventFeed.read(stopping.signal),
        schedules.sweep(stopping.signal, config.scheduleCompareIntervalMs),
      ]);
      try {
        await workers.run();
      } finally {
        stopping.abort();
        await Promise.all([sweeping, heartbeats]);
        await Promise.all([dispatcher.close(), metricsServer?.close()]);
        // Close it before the store: it returns its share of the host rate limits to the store.
        await web.close();
        await Promise.all(
          [documents, embeddings, egress, webhookEgress, transcriptionEgress, embeddingEgress, workers].map(
            (resource) => resource.close(),
          ),
        );
        if (!sharedStore) await store.close();
      }
      return end;
    },
  };
}
