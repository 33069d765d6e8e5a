import { inspect } from 'node:util';
import { DefaultLogger, type LogLevel, Runtime } from '@temporalio/worker';

import { isMeant } from '../../worker/sdkLogger.js';

/** Keeps the SDK's own lines out of the test output, save what is wrong. For tests that run workers: the runtime ends with the last of them. */
export function quietTemporal(least: LogLevel = 'WARN'): void {
  const logger = new DefaultLogger(least, (entry) => {
    if (!isMeant(entry)) process.stderr.write(`${entry.level} ${entry.message} ${inspect(entry.meta)}\n`);
  });
  try {
    Runtime.install({ logger, telemetryOptions: { logging: { forward: {}, filter: 'ERROR' } } });
  } catch {
    // Installed already by another service of this test file.
  }
}
