import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';

import { createActivities } from '../activities/index.js';
import { activityFields } from '../activities/logFields.js';
import { loadConfig, required, storeSettings } from '../config.js';
import { HEARTBEAT_MS } from '../contract/workers.js';
import { createTemporalLinks } from '../contract/temporalLinks.js';
import { temporalNames } from '../contract/temporalNames.js';
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
import { createLocalProvider } from '../embeddings/providers/local.js';
import { createEmbeddings } from '../embeddings/registry.js';
import { pricesOfSpaces } from '../embeddings/readPrices.js';
import { encodeDocument } from '../embeddings/sparse/sparseEncoder.js';
import { createLog } from '../observability/log.js';
import { createMetrics } from '../observability/metrics.js';
import { offerMetrics } from '../observability/metricsPage.js';
import { openTracing } from '../observability/tracing.js';
import { watchAll } from '../observability/watch.js';
import { keepFilesPrivate } from '../process/privateFiles.js';
import { checkFolder } from '../process/startChecks.js';
import { explainFailedStart } from '../process/startFailure.js';
import { onStopSignal } from '../process/stopSignals.js';
import { stepBack } from '../stepBack.js';
import { BrokenPointFile } from '../store/coldStorage/pointFile.js';
import { connectStore } from '../store/connect.js';
import { outdatedMessage } from '../store/migrations/schemaWatch.js';
import { createTranscriptions } from '../transcription/registry.js';
import { countEnds } from './countEnds.js';
import { createWorkers } from './createWorker.js';
import { keepHeartbeat } from './heartbeat.js';
import { createLoadMeter } from './processorShare.js';
import { createSdkLogger } from './sdkLogger.js';
import { installRuntime } from './runtime.js';
import { createSources } from './sources.js';
import { upgradePoints } from './upgradePoints.js';

const started = explainFailedStart();
keepFilesPrivate();
const config = loadConfig();
if (config.files.s3 === null) await checkFolder(config.files.dir, 'FILE_STORAGE_DIR');
// Child processes inherit it.
stepBack(process.pid, config.workerNiceness);
const tracing = await openTracing(config.tracing, 'allotrope-worker');
const log = createLog({
  level: config.logLevel,
  name: 'worker',
  fields: () => ({ ...tracing.logFields(), ...activityFields() }),
});
const isMeasured = config.metrics.workerPort !== null;
const sdkMetrics = await installRuntime(createSdkLogger(log), isMeasured);
const metrics = createMetrics({ ofProcess: isMeasured, prices: pricesOfSpaces(config.embedding.prices) });
const connected = await connectStore({
  ...storeSettings(config),
  watch: watchAll([isMeasured ? metrics.watch : null, tracing.watch]),
  traceparent: () => tracing.carried()?.traceparent ?? null,
});
metrics.reportDisks(config.disks);
const store = countEnds(connected, metrics);
const temporal = { ...config.temporal, address: required(config.temporal.address, 'TEMPORAL_ADDRESS') };
const names = temporalNames(store.deploymentId, temporal.taskQueue);
const client = createTemporalClient(temporal, tracing);
const dispatcher = createDispatcher(client, names, store, log, tracing);
const schedules = createSchedules(client, names, store, log);
const egress = createEgress(config.egress, tracing);
const receivers = createEgress({ ...config.egress, connectionsPerHost: config.webhooks.connectionsPerHost }, tracing);
const transcribers = createEgress(config.transcription.egress, tracing);
const feed = createFeedReader(client, names, store, log, config.reapIntervalMs);
const limiter = createSharedHostLimiter({ perHost: config.web.requestsPerHost, turns: store.hostTurns });
const web = createWebSource({
  egress,
  settings: config.web,
  limiter,
  onNotice: (notice) => log.warn({}, notice),
});
const documents = createDocumentPool(config.documents, (death) =>
  log.warn({ ...death }, 'a reader of documents died; its documents are read once more, each by itself'),
);
/** Its table takes some 40 MB, and pages are counted in threads that have one of their own. */
const loadCounter = async () => (await import('../documents/chunking/countTokens.js')).countTokens;
const upstreams = createEgress(config.embedding.egress, tracing);
const embeddings = createEmbeddings({
  local: createLocalProvider({
    modelPath: required(config.embedding.modelPath, 'EMBEDDING_MODEL_PATH'),
    tokenizerPath: required(config.embedding.tokenizerPath, 'EMBEDDING_TOKENIZER_PATH'),
    threads: config.embedding.threads,
    niceness: config.embedding.niceness,
  }),
  remote: {
    providers: config.embedding.providers,
    egress: upstreams,
    loadCounter,
    onUsage(organizationId, space, usage) {
      store.embeddingUsage.count(organizationId, space, usage);
      metrics.providerTokens(space, usage.tokens);
    },
    onRequest: metrics.providerRequest,
  },
});
const workers = await createWorkers(
  {
    ...temporal,
    taskQueue: names.taskQueue,
    activityConcurrency: config.ingest.activityConcurrency,
    ocrConcurrency: config.ingest.ocrConcurrency,
    transcriptionConcurrency: config.transcription.concurrency,
  },
  createActivities({
    workflowLink: createTemporalLinks(temporal, names).workflowLink,
    names,
    store,
    sources: createSources(web, createFeedSource({ egress, settings: config.web, limiter })),
    connectors: createConnectors({ egress, ...config.connectors, turns: store.hostTurns, counts: metrics }),
    documents,
    identify: identifyFile,
    loadCounter,
    embeddings,
    encodeSparse: encodeDocument,
    transcriptions: createTranscriptions(config.transcription, transcribers),
    receivers,
    schedules,
    isBrokenCopy: (error) => error instanceof BrokenPointFile,
    settings: { ...config.ingest, maxPagesPerScrape: config.web.maxPagesPerScrape, webhooks: config.webhooks },
    log,
    metrics,
  }),
  tracing,
);

const stopping = new AbortController();
const stop = (): void => {
  if (stopping.signal.aborted) return;
  stopping.abort();
  workers.shutdown();
};
onStopSignal(stop);
// A supervisor that was killed can't send a signal: its closed channel says the same.
process.once('disconnect', stop);
store.schema.onNewer((version) => {
  log.error({ version }, `${outdatedMessage(version)}. This worker shuts down`);
  // The supervisor's restart fails until it starts the newer version.
  process.exitCode = 1;
  stop();
});

// A supervisor started the engines and the API too: its other children are no strangers.
const measureLoad = createLoadMeter(process.send ? process.ppid : process.pid);
const identity = { id: randomUUID(), host: hostname(), pid: process.pid };
const heartbeats = keepHeartbeat(store.workers, identity, measureLoad, log, stopping.signal);

const place = { ...config.metrics, port: config.metrics.workerPort, setting: 'WORKER_METRICS_PORT' };
const served = await offerMetrics(metrics, place, log, sdkMetrics);
started();
log.info({ taskQueue: names.taskQueue }, 'worker polling');
process.send?.({ ready: true, ...(served && { metricsPort: served.port }) });
// A supervisor kills a worker whose signs of life end.
const aliveTimer = setInterval(() => process.send?.({ alive: true }), HEARTBEAT_MS);
const sweeping = Promise.all([
  dispatcher.sweep(stopping.signal),
  reap({ client, names }, store, log, config.reapIntervalMs, stopping.signal),
  coldSweep(store, dispatcher, log, config.coldSweepIntervalMs, stopping.signal),
  quarantineSweep(store, dispatcher, log, config.quarantineSweepIntervalMs, stopping.signal),
  feed.read(stopping.signal),
  schedules.sweep(stopping.signal, config.scheduleCompareIntervalMs),
  upgradePoints(store, log, stopping.signal),
]);
await workers.run();
clearInterval(aliveTimer);
stopping.abort();
await Promise.all([sweeping, heartbeats]);
await Promise.all([dispatcher.close(), served?.close()]);
// First: it gives its shares of hosts back to the store.
await web.close();
await Promise.all(
  [documents, embeddings, store, egress, receivers, transcribers, upstreams, workers].map((one) => one.close()),
);
await tracing.close();
process.exit();
