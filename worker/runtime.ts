import { once } from 'node:events';
import { get } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { type Logger, Runtime } from '@temporalio/worker';

const LOOPBACK = '127.0.0.1';
const TIMEOUT_MS = 5_000;
/** Attempts to find a free port: another process may take it between the check and its use. */
const MAX_ATTEMPTS = 3;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, LOOPBACK);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Reads the metrics from the SDK's own server, which listens on loopback only. */
const read = (port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const request = get({ host: LOOPBACK, port, path: '/metrics', timeout: TIMEOUT_MS }, (response) => {
      const parts: Buffer[] = [];
      response.on('error', reject);
      response.on('data', (part: Buffer) => void parts.push(part));
      response.on('end', () => resolve(Buffer.concat(parts).toString()));
    });
    request.on('timeout', () => request.destroy(new Error('The metrics server of the SDK did not respond in time')));
    request.on('error', reject);
  });

/**
 * Logs of the native runtime go to `logger`. By default the runtime prints lines in its own format to standard output.
 */
const LOGGING = { filter: { core: 'WARN', other: 'ERROR' }, forward: {} } as const;

/**
 * Installs the SDK's native runtime. Call it once per process. The runtime exports its metrics only on a port, so it
 * gets a free loopback port, from which the metrics page of this service reads them.
 * @returns a function that reads the metrics in Prometheus' text format
 */
export async function installRuntime(logger: Logger, isMeasured: boolean): Promise<() => Promise<string>> {
  const options = { logger, shutdownSignals: [] };
  if (!isMeasured) {
    Runtime.install({ ...options, telemetryOptions: { logging: LOGGING } });
    return () => Promise.resolve('');
  }
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    const prometheus = {
      bindAddress: `${LOOPBACK}:${port}`,
      countersTotalSuffix: true,
      unitSuffix: true,
      useSecondsForDurations: true,
    };
    try {
      Runtime.install({ ...options, telemetryOptions: { logging: LOGGING, metrics: { prometheus } } });
      return () => read(port);
    } catch (error) {
      if (attempt >= MAX_ATTEMPTS) throw error;
    }
  }
}
