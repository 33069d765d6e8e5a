import { once } from 'node:events';
import { get } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { type Logger, Runtime } from '@temporalio/worker';

const LOOPBACK = '127.0.0.1';
const TIMEOUT_MS = 5_000;
/** Between being found free and being taken, a port may go to somebody else. */
const TRIES = 3;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, LOOPBACK);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** From the SDK's own server, which speaks to this machine only. */
const read = (port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const request = get({ host: LOOPBACK, port, path: '/metrics', timeout: TIMEOUT_MS }, (response) => {
      const parts: Buffer[] = [];
      response.on('error', reject);
      response.on('data', (part: Buffer) => void parts.push(part));
      response.on('end', () => resolve(Buffer.concat(parts).toString()));
    });
    request.on('timeout', () => request.destroy(new Error('The metrics of the SDK took too long')));
    request.on('error', reject);
  });

/**
 * Sets the SDK's native part up, once a process. It counts in its own code and tells of it on a port alone: one that is
 * found free, so that what serves our metrics can read it and tell both.
 * @returns what reads them, in Prometheus' text format
 */
export async function installRuntime(logger: Logger, isMeasured: boolean): Promise<() => Promise<string>> {
  const options = { logger, shutdownSignals: [] };
  if (!isMeasured) {
    Runtime.install(options);
    return () => Promise.resolve('');
  }
  for (let tried = 1; ; tried += 1) {
    const port = await freePort();
    const prometheus = {
      bindAddress: `${LOOPBACK}:${port}`,
      countersTotalSuffix: true,
      unitSuffix: true,
      useSecondsForDurations: true,
    };
    try {
      Runtime.install({ ...options, telemetryOptions: { metrics: { prometheus } } });
      return () => read(port);
    } catch (error) {
      if (tried >= TRIES) throw error;
    }
  }
}
