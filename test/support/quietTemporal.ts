import { inspect } from 'node:util';
import type { LogLevel } from '@temporalio/worker';

import { loadProduct } from './product.js';

/** Keeps the SDK's own lines out of the test output, save what is wrong. For tests that run workers: the runtime ends with the last of them. */
export async function quietTemporal(least: LogLevel = 'WARN'): Promise<void> {
  const {
    isExpected,
    sdk: { DefaultLogger, Runtime },
  } = await loadProduct();
  const logger = new DefaultLogger(least, (entry) => {
    if (!isExpected(entry)) process.stderr.write(`${entry.level} ${entry.message} ${inspect(entry.meta)}\n`);
  });
  try {
    Runtime.install({ logger, telemetryOptions: { logging: { forward: {}, filter: 'ERROR' } } });
  } catch {
    // Installed already by another service of this process.
  }
}
