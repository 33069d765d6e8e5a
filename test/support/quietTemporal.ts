import { DefaultLogger, type LogLevel, Runtime } from '@temporalio/worker';

/** Keeps the SDK's own lines out of the test output, save what is wrong. For tests that run workers: the runtime ends with the last of them. */
export function quietTemporal(least: LogLevel = 'WARN'): void {
  try {
    Runtime.install({
      logger: new DefaultLogger(least),
      telemetryOptions: { logging: { forward: {}, filter: 'ERROR' } },
    });
  } catch {
    // Installed already by another service of this test file.
  }
}
