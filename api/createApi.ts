import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

import { httpUrl } from '../config/httpUrl.js';
import { required, storeSettings } from '../config/config.js';
import type { Config } from '../config/types.js';
import { createTemporalLinks } from '../contract/runs/temporalLinks.js';
import { type TemporalNames, temporalNames } from '../contract/runs/temporalNames.js';
import { createConnectors } from '../connectors/registry.js';
import { createWebSource } from '../connectors/web/createWebSource.js';
import { createDispatcher } from '../dispatch/dispatcher.js';
import { createDiagnosis } from '../dispatch/diagnosis.js';
import { watchStalls } from '../dispatch/stallWatch.js';
import { createTemporalClient } from '../dispatch/client.js';
import { createScheduleReader } from '../dispatch/scheduleReader.js';
import { identifyFile } from '../documents/detection/identifyFile.js';
import { createDocumentPool } from '../documents/pool.js';
import { createEgress } from '../egress/createEgress.js';
import { createLocalProvider } from '../providers/embeddings/providers/local.js';
import { createEmbeddings } from '../providers/embeddings/registry.js';
import { findEmbeddedFailure } from '../engines/embeddedFailure.js';
import type { EngineName } from '../engines/engine.js';
import type { EmbeddingProvider } from '../providers/embeddings/types.js';
import { pricesOfSpaces } from '../providers/embeddings/readPrices.js';
import { encodeQuery } from '../providers/embeddings/sparse/sparseEncoder.js';
import { createLookups } from '../providers/lookups/registry.js';
import { diskProblem } from '../observability/diskSpace.js';
import type { Log } from '../observability/log.js';
import { createMetrics } from '../observability/metrics.js';
import { serveMetricsIfConfigured } from '../observability/metricsPage.js';
import type { Tracing } from '../observability/spans.js';
import { NO_TRACING } from '../observability/tracing.js';
import { combineObservers } from '../observability/watch.js';
import { cannotListen } from '../config/process/startChecks.js';
import { createRerankers } from '../providers/rerankers/registry.js';
import { connectStore, type Store } from '../store/connect.js';
import { createSearchMemory } from './chunks/searchMemory.js';
import { createDryRunLimiter } from './dryRuns/deadline.js';
import { createApp } from './app.js';
import { createHttpServer } from './http/server.js';
import { createSignedUrls } from './http/identity/signedUrls.js';
import { createEventStreams } from './http/streams/streams.js';
import { createTokens } from './http/identity/tokens.js';
import { createSampleReader } from './dryRuns/sampleReader.js';
import { createOps } from './ops/create.js';
import { readiness } from './health/readiness.js';
import { createLivePages } from './web/livePages.js';

/** Time limit for open requests after a stop. */
const STOP_MS = 10_000;

export interface ApiOverrides {
  readonly log: Log;
  /** Absent: no traces. */
  readonly tracing?: Tracing;
  /** The local embedding model, which the caller has created and will close. Absent: the API creates its own. */
  readonly localModel?: EmbeddingProvider;
  /** False: no search for stalled runs, which would clear stalls that a test has stored. Absent: true. */
  readonly searchesStalls?: boolean;
}

/** A listening API. */
export interface Api {
  readonly port: number;
  /** Null if METRICS_PORT is not set. */
  readonly metricsPort: number | null;
  readonly store: Store;
  readonly names: TemporalNames;
  /** Waits for open requests, then closes all resources. @param graceMs time limit, after which requests are aborted */
  stop(graceMs?: number): Promise<void>;
}

/**
 * Connects the stores, creates all dependencies of the operations, and listens.
 * @throws an error with a sentence for the operator if a setting is missing, a store is unreachable or the port is not
 * available
 */
export async function createApi(
  config: Config,
  { log, tracing = NO_TRACING, localModel, searchesStalls = true }: ApiOverrides,
): Promise<Api> {
  const isMeasured = config.metrics.port !== null;
  const metrics = createMetrics({ ofProcess: isMeasured, prices: pricesOfSpaces(config.embedding.prices) });
  const store = await connectStore({
    ...storeSettings(config),
    watch: combineObservers([isMeasured ? metrics.watch : null, tracing.watch]),
    traceparent: () => tracing.traceContext()?.traceparent ?? null,
    onFilesEnded: metrics.filesEnded,
    timeLimitMs: config.http.storeTimeoutMs,
  });
  // The API reports backlog and disks, since they concern the whole service and not one worker.
  metrics.reportBacklog(store.backlog);
  metrics.reportDisks(config.disks);
  await store.organizations.ensureFirst(required(config.apiKey, 'API_KEY'));
  const temporal = { ...config.temporal, address: required(config.temporal.address, 'TEMPORAL_ADDRESS') };
  const names = temporalNames(store.deploymentId, temporal.taskQueue);
  const links = createTemporalLinks(temporal, names);
  const temporalClient = createTemporalClient(temporal, tracing);
  const dispatcher = createDispatcher(temporalClient, names, store, log, tracing);
  const upstreams = createEgress(config.embedding.egress, tracing);
  const embeddings = createEmbeddings({
    local:
      localModel ??
      createLocalProvider({
        modelPath: required(config.embedding.modelPath, 'EMBEDDING_MODEL_PATH'),
        tokenizerPath: required(config.embedding.tokenizerPath, 'EMBEDDING_TOKENIZER_PATH'),
        // Queries are short: one thread answers in about a millisecond and leaves the other cores to the workers.
        threads: 1,
      }),
    remote: {
      providers: config.embedding.providers,
      egress: upstreams,
      // Loaded lazily, because its table is large.
      loadCounter: async () => (await import('../documents/chunking/countTokens.js')).countTokens,
      onUsage(organizationId, space, usage) {
        store.embeddingUsage.count(organizationId, space, usage);
        metrics.providerTokens(space, usage.tokens);
      },
      onRequest: metrics.providerRequest,
    },
  });
  const egress = createEgress(config.egress, tracing);
  // Only the workers have a browser to render pages.
  const web = createWebSource({ egress, settings: config.web, renders: false });
  // The pool starts its reader at the first page.
  const documents = createDocumentPool({ ...config.documents, threads: 1 }, (crash) =>
    log.warn({ ...crash }, 'a document reader process died; each of its documents is read once more, separately'),
  );
  const lowDisks = () => diskProblem(config.disks);
  const engineProblem = async (name: EngineName): Promise<string | null> => {
    const failure = await findEmbeddedFailure(config.dataDir, name);
    return failure && `${failure.found}. ${failure.fix}`;
  };
  const readinessDeps = { store, dispatcher, diskProblem: lowDisks, engineProblem };
  const ops = createOps(
    { ...readinessDeps, log },
    { ...config.ops, secretKeys: config.secretKeys, keyLifetimeMs: config.eventStreams.lifetimeMs },
  );
  const eventStreams = createEventStreams(config.eventStreams, log);
  const watching = new AbortController();
  const diagnosis = createDiagnosis(
    { client: temporalClient, names },
    store,
    async () => {
      const { qdrant, temporal: engine } = await readiness(readinessDeps);
      return { qdrant: qdrant.hint ?? null, temporal: engine.hint ?? null };
    },
    config.stallAfterMs,
  );
  const stallsWatched = searchesStalls
    ? watchStalls(diagnosis, store.stalls, log, config.stallAfterMs, watching.signal)
    : Promise.resolve();
  const app = createApp({
    ...ops,
    ...readinessDeps,
    eventStreams,
    temporalLinks: links,
    workflowLink: links.workflowLink,
    schedules: createScheduleReader(temporalClient, names),
    embedder: embeddings,
    encodeQuery,
    searchMemory: createSearchMemory(),
    rerankers: createRerankers(config.rerank, upstreams),
    lookups: createLookups(config.lookups, upstreams),
    tokens: createTokens(config.secretKeys),
    signedUrls: createSignedUrls(config.secretKeys),
    publicUrl: () => config.publicUrl ?? httpUrl(config.host, (server.address() as AddressInfo).port),
    sitemaps: web,
    connectors: createConnectors({
      egress,
      ...config.connectors,
      hostRateLimits: store.hostRateLimits,
      counts: metrics,
    }),
    addresses: egress,
    identify: identifyFile,
    livePages: createLivePages(web, documents),
    samples: createSampleReader(web, documents),
    dryRuns: createDryRunLimiter(),
    settings: {
      ...config.http,
      maxPagesPerScrape: config.web.maxPagesPerScrape,
      embeddingPrices: config.embedding.prices,
      dryRun: config.dryRun,
    },
    log,
    metrics,
    ...(tracing !== NO_TRACING && { tracing }),
  });
  // The timeout allows for large uploads; receiveFile() aborts idle ones.
  const server = createHttpServer(app, { requestTimeout: config.http.requestTimeoutMs });
  server.listen(config.port, config.host);
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    throw cannotListen(error, config.host, config.port);
  });
  const { port } = server.address() as AddressInfo;
  log.info({ url: config.publicUrl ?? httpUrl(config.host, port) }, 'API listening');
  const metricsServer = await serveMetricsIfConfigured(metrics, { ...config.metrics, setting: 'METRICS_PORT' }, log);
  return {
    port,
    metricsPort: metricsServer?.port ?? null,
    store,
    names,
    async stop(graceMs = STOP_MS) {
      const closing = setTimeout(() => server.closeAllConnections(), graceMs).unref();
      await Promise.all([ops.live.close(), eventStreams.close()]);
      server.closeIdleConnections();
      await Promise.all([new Promise((resolve) => server.close(resolve)), metricsServer?.close()]);
      clearTimeout(closing);
      watching.abort();
      await stallsWatched;
      await dispatcher.close();
      await Promise.all([web, documents, egress, upstreams, embeddings, store].map((resource) => resource.close()));
    },
  };
}
