import { activityFields } from '../activities/logFields.js';
import { loadConfig } from '../config/config.js';
import { HEARTBEAT_MS } from '../contract/runs/workers.js';
import { createLog } from '../observability/log.js';
import { openTracing } from '../observability/tracing.js';
import { setPrivateUmask } from '../config/process/privateFiles.js';
import { checkFolder } from '../config/process/startChecks.js';
import { explainFailedStart } from '../config/process/startFailure.js';
import { onStopSignal } from '../config/process/stopSignals.js';
import { lowerPriority } from '../config/process/lowerPriority.js';
import { createWorker } from './createWorker.js';
import { reportAlive } from './heartbeat.js';
import { createLoadMeter } from './processorShare.js';
import { installRuntime } from './runtime.js';
import { createSdkLogger } from './sdkLogger.js';

const started = explainFailedStart();
setPrivateUmask();
const config = loadConfig();
if (config.files.s3 === null) await checkFolder(config.files.dir, 'FILE_STORAGE_DIR');
// Child processes inherit the priority.
lowerPriority(process.pid, config.workerNiceness);
const tracing = await openTracing(config.tracing, 'allotrope-worker');
const log = createLog({
  level: config.logLevel,
  name: 'worker',
  fields: () => ({ ...tracing.logFields(), ...activityFields() }),
});
const sdkMetrics = await installRuntime(createSdkLogger(log), config.metrics.workerPort !== null);
// A supervisor also starts the engines and the API, so its other child processes belong to this service.
const measureLoad = createLoadMeter(process.send ? process.ppid : process.pid);
const worker = await createWorker(config, { log, tracing, sdkMetrics, measureLoad });
onStopSignal(worker.stop);
// A supervisor that was killed cannot send a signal, but its channel closes.
process.once('disconnect', worker.stop);
started();
log.info({ taskQueue: worker.taskQueue }, 'worker polling');
process.send?.({ ready: true, ...(worker.metricsPort !== null && { metricsPort: worker.metricsPort }) });
// A supervisor kills a worker that stops sending these messages.
const aliveTimer = setInterval(() => reportAlive(process), HEARTBEAT_MS);
const end = await worker.run();
clearInterval(aliveTimer);
await tracing.close();
// A supervisor restarts the worker. After 'outdated', that start fails until the newer version is installed.
process.exit(end === 'outdated' ? 1 : 0);
