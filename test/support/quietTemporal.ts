import { inspect } from 'node:util';
import type { LogLevel } from '@temporalio/worker';

import { loadProduct } from './product.js';

/**
 * Suppresses expected log lines of Temporal's SDK. Call it before each start of a worker: the SDK's runtime, which has
 * the logger, ends with the last running worker.
 */
export async function quietTemporal(minLevel: LogLevel = 'WARN'): Promise<void> {
  const {
    isExpected,
    sdk: { DefaultLogger, Runtime },
  } = await loadProduct();
  const logger = new DefaultLogger(minLevel, (entry) => {
    if (!isExpected(entry)) process.stderr.write(`${entry.level} ${entry.message} ${inspect(entry.meta)}\n`);
  });
  try {
    Runtime.install({ logger, telemetryOptions: { logging: { forward: {}, filter: 'ERROR' } } });
  } catch {
    // Another service of this process has already installed the runtime.
  }
}
