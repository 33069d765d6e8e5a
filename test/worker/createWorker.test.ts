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
