import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { loadProduct } from '../support/product.js';
import { quietTemporal } from '../support/quietTemporal.js';
import { startService, type TestService } from '../support/service.js';
import { UNMEASURED } from '../support/serviceParts.js';
import { waitFor } from '../support/waitFor.js';

let service: TestService;
beforeAll(async () => {
  service = await startService({}, { worker: false });
});
afterAll(() => service.close());

/** Returns the number of open network connections of this process. */
const countConnections = (): number =>
  process.getActiveResourcesInfo().filter((resource) => resource === 'TCPSocketWrap').length;

test('a stopped worker closes its connections to the stores', async () => {
  const { createLog, createWorker, loadConfig } = await loadProduct();
  await quietTemporal();
  const before = countConnections();
  const worker = await createWorker(loadConfig(service.env), {
    log: createLog({ level: 'silent', name: 'test' }),
    measureLoad: () => UNMEASURED,
  });
  const ended = worker.run();
  expect(countConnections()).toBeGreaterThan(before);
  worker.stop();
  expect(await ended).toBe('stopped');
  await waitFor(countConnections, (count) => count <= before, 30_000);
});

test('a worker process reports to its supervisor that it is ready and responsive, and ends when the supervisor is gone', async () => {
  const child = fork(fileURLToPath(new URL('../../dist/worker/main.js', import.meta.url)), {
    env: { ...service.env, WORKER_METRICS_PORT: '0' },
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const messages: Readonly<Record<string, unknown>>[] = [];
  child.on('message', (message) => void messages.push(message as Record<string, unknown>));
  const ended = once(child, 'exit');
  try {
    await waitFor(
      () => messages.length,
      (count) => count > 1,
      60_000,
    );
    expect(messages.slice(0, 2)).toEqual([{ ready: true, metricsPort: expect.any(Number) }, { alive: true }]);
    const metrics = await (await fetch(`http://127.0.0.1:${String(messages[0]?.['metricsPort'])}/metrics`)).text();
    // Metrics of this service, and of the Temporal SDK.
    expect(metrics).toContain('allotrope_');
    expect(metrics).toContain('temporal_');
    // If the supervisor is killed, its channel closes.
    child.disconnect();
    expect(
      await Promise.race([ended, new Promise((resolve) => void setTimeout(resolve, 60_000, 'still running').unref())]),
    ).toEqual([0, null]);
  } finally {
    child.kill('SIGKILL');
  }
});
