/**
 * API and worker in two processes, as in production, which export metrics and traces. Each counts its own work.
 */
import { type EmbeddingEmulator, startEmbeddingEmulator } from '../../../emulators/embeddingProviders/start.js';
import { type GoogleDriveEmulator, startGoogleDrive } from '../../../emulators/googleDrive.js';
import { CLIENT_ID, CLIENT_SECRET } from '../../../emulators/oauthProvider.js';
import { type OtlpReceiver, startOtlpReceiver } from '../../../emulators/otlpReceiver.js';
import { startProcess } from '../../../support/processes.js';
import { startService, type TestService } from '../../../support/service.js';

type Process = Awaited<ReturnType<typeof startProcess>>;

/** The token for metrics. */
export const METRICS_TOKEN = 'a-token-of-this-deployment';

export let emulator: EmbeddingEmulator;
export let drive: GoogleDriveEmulator;
/** Accepts traces. */
export let otlp: OtlpReceiver;
/** Provides the stores of both processes. It also runs an API in this process, which exports nothing. */
export let service: TestService;
/** Settings of both processes. */
export let env: NodeJS.ProcessEnv;
export let apiUrl: string;
/** Addresses of the ports for metrics. */
export let apiMetrics: string;
export let workerUrl: string;
let processes: Process[] = [];

const at = (port: unknown): string => `http://127.0.0.1:${String(port)}`;

export async function startProcesses(): Promise<void> {
  [emulator, otlp, drive] = await Promise.all([
    startEmbeddingEmulator(),
    startOtlpReceiver(),
    startGoogleDrive({ b: { name: 'b.txt', content: 'On boats.' } }),
  ]);
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' }, { worker: false });
  env = {
    ...service.env,
    METRICS_TOKEN,
    ...emulator.settings('openai'),
    EMBEDDING_PRICES: 'OPENAI=0.02',
    SOURCE_URLS: drive.settings,
    OAUTH_CLIENTS: `GOOGLE_DRIVE=${CLIENT_ID}:${CLIENT_SECRET}`,
    WEBHOOK_RETRY_DELAYS_S: '0.1,0.1',
    OTEL_EXPORTER_OTLP_ENDPOINT: otlp.endpoint,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=ours,authorization=Bearer%20of-the-receiver',
  };
  const [api, worker] = await Promise.all([
    startProcess('api/server', { ...env, METRICS_PORT: '0' }),
    startProcess('worker/main', { ...env, WORKER_METRICS_PORT: '0' }),
  ]);
  processes = [api, worker];
  [apiUrl, apiMetrics, workerUrl] = [
    at(api.ready['port']),
    at(api.ready['metricsPort']),
    at(worker.ready['metricsPort']),
  ];
}

export async function stopProcesses(): Promise<void> {
  await Promise.all(processes.map((one) => one.stop()));
  await service.close();
  await Promise.all([otlp.close(), emulator.close(), drive.close()]);
}
