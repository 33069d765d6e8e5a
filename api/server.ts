import { loadConfig } from '../config/config.js';
import { createLog } from '../observability/log.js';
import { openTracing } from '../observability/tracing.js';
import { setPrivateUmask } from '../config/process/privateFiles.js';
import { checkFolder, checkPort } from '../config/process/startChecks.js';
import { explainFailedStart } from '../config/process/startFailure.js';
import { onStopSignal } from '../config/process/stopSignals.js';
import { createApi } from './createApi.js';

const started = explainFailedStart();
setPrivateUmask();
const config = loadConfig();
await checkPort(config.host, config.port);
if (config.files.s3 === null) await checkFolder(config.files.dir, 'FILE_STORAGE_DIR');
const tracing = await openTracing(config.tracing, 'allotrope-api');
const log = createLog({ level: config.logLevel, name: 'api', fields: tracing.logFields });
const api = await createApi(config, { log, tracing });
started();
// The parent process, if there is one, waits for this message.
process.send?.({ ready: true, port: api.port, ...(api.metricsPort !== null && { metricsPort: api.metricsPort }) });

let stopping = false;
async function stop(): Promise<void> {
  if (stopping) return;
  stopping = true;
  await api.stop();
  await tracing.close();
  process.exit(0);
}
onStopSignal(() => void stop());
// A parent process that is killed cannot send a signal, but its IPC channel closes.
process.once('disconnect', () => void stop());
