import { inspect } from 'node:util';
import type { LogLevel } from '@temporalio/worker';

import { loadProduct } from './product.js';

/** Suppresses expected log lines of the SDK. For tests that run workers: the runtime ends with the last worker. */
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
    // Another service of this process has already installed it.
  }
}
