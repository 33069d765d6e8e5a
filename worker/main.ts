import { setPriority } from 'node:os';
import { DefaultLogger, Runtime } from '@temporalio/worker';

import { createActivities } from '../activities/index.js';
import { loadConfig, required } from '../config.js';
import { createWebSource } from '../connectors/web/createWebSource.js';
import { createSharedHostLimiter } from '../connectors/web/sharedPoliteness.js';
import { reap } from '../dispatch/reaper.js';
import { createDispatcher } from '../dispatch/dispatcher.js';
import { createTemporalClient } from '../dispatch/client.js';
import { createFeedReader } from '../dispatch/feedReader.js';
import { createDocumentPool } from '../documents/pool.js';
import { createEgress } from '../egress/createEgress.js';
import { createEmbeddings } from '../embeddings/registry.js';
import { createLog } from '../observability/log.js';
import { connectStore } from '../store/connect.js';
import { createWorkers } from './createWorker.js';
import { createSources } from './sources.js';

const config = loadConfig();
// Children inherit it: requests are answered at once also while a large ingest takes all there is.
setPriority(config.workerNiceness);
const log = createLog({ level: config.logLevel, name: 'worker' });
// The SDK's own lines go where ours go, so that one reader finds both.
Runtime.install({
  logger: new DefaultLogger('INFO', ({ level, message, meta }) => {
    const write = level === 'ERROR' ? 'error' : level === 'WARN' ? 'warn' : 'debug';
    log[write]({ ...meta }, message);
  }),
  shutdownSignals: [],
});
const store = await connectStore({
  mongodbUri: required(config.mongodbUri, 'MONGODB_URI'),
  qdrant: { ...config.qdrant, url: required(config.qdrant.url, 'QDRANT_URL') },
  files: config.files,
  secretKeys: config.secretKeys,
  eventsKeptDays: config.eventsKeptDays,
});
const temporal = { ...config.temporal, address: required(config.temporal.address, 'TEMPORAL_ADDRESS') };
const client = createTemporalClient(temporal);
const dispatcher = createDispatcher(client, temporal.taskQueue, store, log);
const egress = createEgress(config.egress);
const receivers = createEgress({ ...config.egress, connectionsPerHost: config.webhooks.connectionsPerHost });
const feed = createFeedReader(client, temporal.taskQueue, store, log, config.reapIntervalMs);
const web = createWebSource({
  egress,
  settings: config.web,
  limiter: createSharedHostLimiter({ perHost: config.web.requestsPerHost, turns: store.hostTurns }),
  onNotice: (notice) => log.warn({}, notice),
});
const documents = createDocumentPool(config.documents);
const embeddings = createEmbeddings({
  local: {
    modelPath: required(config.embedding.modelPath, 'EMBEDDING_MODEL_PATH'),
    tokenizerPath: required(config.embedding.tokenizerPath, 'EMBEDDING_TOKENIZER_PATH'),
    threads: config.embedding.threads,
  },
});
const workers = await createWorkers(
  { ...temporal, activityConcurrency: config.ingest.activityConcurrency },
  createActivities({
    store,
    sources: createSources(web),
    documents,
    embeddings,
    receivers,
    settings: { ...config.ingest, maxPagesPerScrape: config.web.maxPagesPerScrape, webhooks: config.webhooks },
    log,
  }),
);

const stopping = new AbortController();
const stop = (): void => {
  if (stopping.signal.aborted) return;
  stopping.abort();
  workers.shutdown();
};
process.once('SIGTERM', stop);
process.once('SIGINT', stop);
// A supervisor that was killed can't send a signal: its closed channel says the same.
process.once('disconnect', stop);

log.info({ taskQueue: temporal.taskQueue }, 'worker polling');
process.send?.({ ready: true });
const sweeping = Promise.all([
  dispatcher.sweep(stopping.signal),
  reap(client, store, log, config.reapIntervalMs, stopping.signal),
  feed.read(stopping.signal),
]);
await workers.run();
stopping.abort();
await sweeping;
await dispatcher.close();
// First: it gives its shares of hosts back to the store.
await web.close();
await Promise.all([documents, embeddings, store, egress, receivers, workers].map((one) => one.close()));
process.exit(0);
